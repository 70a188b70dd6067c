// Streams: order, cursors, signs of life, slow readers, and that reconnects add up to the journal.
#include "daemon/api/streams/event_stream.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/limits.h"
#include "daemon/api/fixture_for_test.h"
#include "daemon/api/routes/read_routes.h"

namespace perdure {
namespace {

struct SseSeen {
  std::string event;
  std::string id;
  std::string data;
};

std::vector<SseSeen> frames_of(std::string_view text) {
  std::vector<SseSeen> out;
  while (!text.empty()) {
    const std::size_t end = text.find("\n\n");
    if (end == std::string_view::npos) break;
    std::string_view frame = text.substr(0, end);
    text.remove_prefix(end + 2);
    SseSeen& read = out.emplace_back();
    while (!frame.empty()) {
      const std::string_view line = frame.substr(0, frame.find('\n'));
      frame.remove_prefix(std::min(frame.size(), line.size() + 1));
      if (line.starts_with("event: ")) read.event = line.substr(7);
      if (line.starts_with("id: ")) read.id = line.substr(4);
      if (line.starts_with("data: ")) read.data += line.substr(6);
    }
  }
  return out;
}

class StreamDaemon : public ApiDaemon {
 public:
  StreamDaemon() { add_routes(); }
  ~StreamDaemon() { reads.reset(); }
  void add_routes() {
    reads = std::make_unique<ReadRoutes>(*world, slots, [this](const Principal&) { return valid; });
    reads->add_to(router);
  }
  void restart() {
    reads.reset();
    crash();
    open_node();
    add_routes();
    settle();
  }
  void begin(const std::string& prompt = "hello") {
    ASSERT_TRUE(create(prompt).has_value());
    agent_comes_up();
    run = state().run->id;
  }
  void say(const std::string& text) { frame(MessageAgent{.text = text}, run); }
  std::shared_ptr<NotedExchange> sse(const std::string& query = "",
                                     std::vector<HttpHeader> headers = {}) {
    headers.push_back({"Accept", "text/event-stream"});
    return request({.target = at("/events" + query), .headers = std::move(headers)});
  }
  std::vector<std::string> served() {
    std::vector<std::string> out;
    const RecordPage page = *store->read(session, {.after = 0, .limit = 100'000});
    for (const std::string& bytes : page.records) out.push_back(*encode_served(session, bytes));
    return out;
  }

  StreamSlots slots;
  std::unique_ptr<ReadRoutes> reads;
  RunId run;
  bool valid = true;
};

std::vector<std::string> records_in(std::string_view text) {
  std::vector<std::string> out;
  for (const SseSeen& frame : frames_of(text)) {
    if (frame.event == "record") out.push_back(frame.data);
  }
  return out;
}

TEST(EventStream, C16_U7_state_then_replay_then_live) {
  StreamDaemon daemon;
  daemon.begin();
  daemon.say("while nobody listens");
  const auto answer = daemon.sse();
  ASSERT_NE(answer->streamed, nullptr);
  EXPECT_EQ(answer->header("Content-Type"), "text/event-stream");
  daemon.say("live");
  const std::vector<SseSeen> frames = frames_of(answer->streamed->text);
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.front().event, "state");
  EXPECT_EQ(frames.front().id, "");
  const JsonObject state = *JsonObject::parse(frames.front().data);
  EXPECT_EQ(state.find("log_id"), "\"memory\"");
  EXPECT_FALSE(state.find("as_of").empty());
  EXPECT_EQ(records_in(answer->streamed->text), daemon.served());
  for (std::size_t i = 1; i < frames.size(); ++i) EXPECT_EQ(frames[i].id, std::to_string(i));
}

TEST(EventStream, C16_last_event_id_and_after_mean_the_same) {
  StreamDaemon daemon;
  daemon.begin();
  const std::vector<std::string> all = daemon.served();
  const std::vector<std::string> rest(all.begin() + 3, all.end());
  EXPECT_EQ(records_in(daemon.sse("?after=3")->streamed->text), rest);
  EXPECT_EQ(records_in(daemon.sse("", {{"Last-Event-ID", "3"}})->streamed->text), rest);
  EXPECT_EQ(records_in(daemon.sse("?after=1", {{"Last-Event-ID", "3"}})->streamed->text), rest);
}

TEST(EventStream, N2_an_impossible_cursor_is_refused_aloud) {
  StreamDaemon daemon;
  daemon.begin();
  EXPECT_EQ(daemon.sse("?after=100000")->status(), 409);
  EXPECT_EQ(daemon.sse("?after=1&log_id=another")->status(), 409);
  EXPECT_EQ(daemon.sse("?after=1&log_id=memory")->status(), 200);
  EXPECT_EQ(daemon.sse("?after=x")->status(), 400);
  EXPECT_EQ(daemon.sse("", {{"Last-Event-ID", "x"}})->status(), 400);
  const auto reset = daemon.sse("", {{"Last-Event-ID", "100000"}});
  EXPECT_EQ(reset->status(), 200);
  ASSERT_EQ(frames_of(reset->streamed->text).size(), 1U);
  EXPECT_EQ(frames_of(reset->streamed->text).front().event, "reset");
  EXPECT_TRUE(reset->streamed->finished);
}

TEST(EventStream, N3_a_heartbeat_with_the_head_comes_within_ten_seconds) {
  StreamDaemon daemon;
  daemon.begin();
  const auto answer = daemon.sse();
  const std::size_t before = frames_of(answer->streamed->text).size();
  daemon.settle(10'000);
  const std::vector<SseSeen> frames = frames_of(answer->streamed->text);
  ASSERT_GT(frames.size(), before);
  EXPECT_EQ(frames.back().event, "heartbeat");
  EXPECT_EQ(frames.back().id, "");
  const JsonObject beat = *JsonObject::parse(frames.back().data);
  EXPECT_EQ(beat.find("head"), std::to_string(daemon.state().head));
  EXPECT_EQ(beat.find("as_of"), beat.find("head"));
}

TEST(EventStream, STREAM4_a_slow_reader_is_cut_with_its_cursor_and_delays_nobody) {
  StreamDaemon daemon;
  daemon.begin();
  const auto slow = daemon.sse();
  const auto fast = daemon.sse();
  slow->streamed->stuck = true;
  slow->streamed->unsent = 10UL << 20;
  const std::size_t sent = records_in(slow->streamed->text).size();
  for (std::size_t i = 0; i < subscriber_records_max + 10; ++i) daemon.say("x");
  EXPECT_EQ(records_in(fast->streamed->text).size(), daemon.served().size());
  EXPECT_EQ(records_in(slow->streamed->text).size(), sent);
  ASSERT_TRUE(slow->streamed->finished);
  const SseSeen last = frames_of(slow->streamed->text).back();
  EXPECT_EQ(last.event, "cut");
  EXPECT_EQ(last.data, "{\"cursor\":" + std::to_string(sent) + "}");
  daemon.run_now();
  EXPECT_EQ(daemon.reads->open_streams(), 1U);
}

TEST(EventStream, STREAM4_a_reader_that_reads_again_goes_on_without_a_gap) {
  StreamDaemon daemon;
  daemon.begin();
  const auto reader = daemon.sse();
  reader->streamed->stuck = true;
  reader->streamed->unsent = 10UL << 20;
  for (int i = 0; i < 300; ++i) daemon.say("x");
  reader->streamed->drain();
  daemon.run_now();
  EXPECT_EQ(records_in(reader->streamed->text), daemon.served());
}

TEST(EventStream, one_encoded_frame_is_shared_by_all_readers) {
  StreamDaemon daemon;
  daemon.begin();
  const auto a = daemon.sse();
  const auto b = daemon.sse();
  daemon.say("shared");
  EXPECT_EQ(a->streamed->written.back(), b->streamed->written.back());
  EXPECT_TRUE(a->streamed->written.back()->contains("shared"));
}

TEST(EventStream, U10_connections_and_runs_are_counted_apart) {
  StreamDaemon daemon;
  daemon.begin();
  const auto a = daemon.sse();
  const auto b = daemon.sse();
  const auto counts = [&] {
    const auto answer = daemon.get(daemon.at("/status"));
    const JsonObject status = *JsonObject::parse(answer->body());
    return std::string(status.find("connections")) + "/" + std::string(status.find("active_runs"));
  };
  EXPECT_EQ(counts(), "2/1");
  a->streamed->close();
  daemon.run_now();
  EXPECT_EQ(counts(), "1/1");
  daemon.frame(FrameRunFinished{daemon.run, "end_turn"}, daemon.run);
  EXPECT_EQ(counts(), "1/0");
  b->streamed->close();
  daemon.run_now();
  EXPECT_EQ(counts(), "0/0");
  EXPECT_EQ(daemon.reads->open_streams(), 0U);
}

TEST(EventStream, TOK2_a_stream_ends_with_its_principals_rights) {
  StreamDaemon daemon;
  daemon.begin();
  const auto answer = daemon.sse();
  daemon.valid = false;
  daemon.settle(5000);
  EXPECT_TRUE(answer->streamed->finished);
  EXPECT_EQ(daemon.runtime->connections(daemon.session), 0U);
}

TEST(EventStream, streams_of_a_principal_are_limited) {
  StreamDaemon daemon;
  daemon.begin();
  std::vector<std::shared_ptr<NotedExchange>> open;
  for (std::size_t i = 0; i < streams_per_principal_max; ++i) open.push_back(daemon.sse());
  EXPECT_EQ(daemon.sse()->status(), 429);
  daemon.principal.id = "uid:2";
  EXPECT_EQ(daemon.sse()->status(), 200);
  open.front()->streamed->close();
  daemon.run_now();
  daemon.principal.id = "uid:1000";
  EXPECT_EQ(daemon.sse()->status(), 200);
}

TEST(EventStream, lines_end_at_the_head_or_follow) {
  StreamDaemon daemon;
  daemon.begin();
  const auto lines = [&](const std::string& query) {
    return daemon.request(
        {.target = daemon.at("/events" + query), .headers = {{"Accept", "application/x-ndjson"}}});
  };
  std::string all;
  for (const std::string& record : daemon.served()) all += record + "\n";
  const auto once = lines("");
  EXPECT_EQ(once->streamed->text, all);
  EXPECT_TRUE(once->streamed->finished);
  const auto followed = lines("?follow=1&kind=message.agent");
  EXPECT_FALSE(followed->streamed->finished);
  daemon.say("only this");
  EXPECT_TRUE(followed->streamed->text.contains("only this"));
  EXPECT_FALSE(followed->streamed->text.contains("session.created"));
  EXPECT_EQ(lines("?limit=2")->body(), daemon.served().at(0) + "\n" + daemon.served().at(1) + "\n");
}

TEST(EventStream, U11_readers_of_a_deleted_session_are_cut) {
  StreamDaemon daemon;
  daemon.begin();
  daemon.frame(FrameRunFinished{daemon.run, "end_turn"}, daemon.run);
  const auto answer = daemon.sse();
  daemon.runtime->on_gone(daemon.exec(), "test");
  daemon.settle();
  const auto removed = daemon.request({.method = "DELETE", .target = daemon.at("?confirm=true")});
  daemon.settle();
  EXPECT_EQ(removed->status(), 200) << removed->body();
  EXPECT_TRUE(answer->streamed->finished);
}

TEST(EventStream, O14_U3_what_happened_while_nobody_looked_is_streamed_after_a_restart) {
  StreamDaemon daemon;
  daemon.begin();
  daemon.say("said to nobody");
  daemon.restart();
  daemon.runtime->on_gone(daemon.exec(), "reboot");
  daemon.settle();
  const auto answer = daemon.sse();
  EXPECT_TRUE(answer->streamed->text.contains("said to nobody"));
  EXPECT_TRUE(answer->streamed->text.contains("\"run.interrupted\""));
  EXPECT_TRUE(answer->streamed->text.contains("\"status.derived\""));
}

// N1: a client that loses its stream anywhere and reconnects with its last id gets every record
// once, in order, byte for byte, across restarts of the daemon.
RC_GTEST_PROP(EventStream, N1_STREAM1_reconnects_at_random_add_up_to_the_journal, ()) {
  StreamDaemon daemon;
  daemon.begin();
  std::vector<std::string> seen;
  std::string last_id;
  std::shared_ptr<NotedExchange> open;
  const auto harvest = [&](std::size_t keep_frames) {
    if (!open) return;
    for (const SseSeen& frame : frames_of(open->streamed->text)) {
      if (frame.event != "record") continue;
      if (keep_frames-- == 0) break;
      seen.push_back(frame.data);
      last_id = frame.id;
    }
    open->streamed->close();
    open.reset();
  };
  const int steps = *rc::gen::inRange(5, 40);
  for (int i = 0; i < steps; ++i) {
    switch (*rc::gen::inRange(0, 5)) {
      case 0: daemon.say("one"); break;
      case 1:
        for (int k = 0; k < 70; ++k) daemon.say("many");
        break;
      case 2: harvest(*rc::gen::inRange<std::size_t>(0, 100)); break;
      case 3:
        harvest(*rc::gen::inRange<std::size_t>(0, 3));
        daemon.restart();
        daemon.runtime->on_attached(daemon.exec());
        daemon.run_now();
        break;
      default: break;
    }
    if (open) continue;
    std::vector<HttpHeader> headers;
    if (!last_id.empty()) headers.push_back({"Last-Event-ID", last_id});
    open = daemon.sse("", std::move(headers));
    RC_ASSERT(open->streamed != nullptr);
  }
  daemon.run_now();
  harvest(1'000'000);
  RC_ASSERT(seen == daemon.served());
}

TEST(ListStream, a_snapshot_then_changes_gathered_and_inbox_counts) {
  StreamDaemon daemon;
  daemon.begin();
  const auto stream = daemon.get("/api/stream");
  std::vector<SseSeen> frames = frames_of(stream->streamed->text);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames.at(0).event, "snapshot");
  EXPECT_TRUE(frames.at(0).data.contains(daemon.session.text()));
  for (int i = 0; i < 20; ++i) daemon.say("x");
  daemon.frame(FramePermission{.request = "1", .title = "rm?"});
  daemon.settle(300);
  frames = frames_of(stream->streamed->text);
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames.at(1).event, "session");
  EXPECT_TRUE(frames.at(1).data.contains("\"status\":\"waiting\""));
  EXPECT_EQ(frames.at(2).event, "inbox");
  EXPECT_TRUE(frames.at(2).data.contains("\"permission\":1"));
}

TEST(ListStream, TOK6_tells_only_of_what_the_principal_may_see) {
  StreamDaemon daemon;
  daemon.begin();
  IdSource ids(daemon.loop.now().wall, 99);
  daemon.principal.sessions = {ids.next<SessionId>()};
  const auto stream = daemon.get("/api/stream");
  daemon.say("x");
  daemon.frame(FramePermission{.request = "1", .title = "rm?"});
  daemon.settle(300);
  EXPECT_FALSE(stream->streamed->text.contains(daemon.session.text()));
  EXPECT_FALSE(stream->streamed->text.contains("\"permission\":1"));
}

TEST(ListStream, STREAM4_a_slow_reader_gets_a_new_snapshot) {
  StreamDaemon daemon;
  daemon.begin();
  const auto stream = daemon.get("/api/stream");
  stream->streamed->stuck = true;
  stream->streamed->unsent = 10UL << 20;
  daemon.say("x");
  daemon.settle(300);
  EXPECT_EQ(frames_of(stream->streamed->text).size(), 1U);
  stream->streamed->drain();
  EXPECT_EQ(frames_of(stream->streamed->text).back().event, "snapshot");
}

}  // namespace
}  // namespace perdure
