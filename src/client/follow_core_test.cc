// Following a session across cuts, silence, repeats and resets, without a socket or a clock.
#include "client/follow_core.h"

#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/limits.h"

namespace perdure::client {
namespace {

using Wish = FollowCore::Wish;

struct Told final : FollowEvents {
  std::vector<std::uint64_t> records;
  std::vector<std::string> states;
  std::vector<Connection> connections;
  int resets = 0;
  std::optional<Refusal> refusal;

  void on_state(std::string_view json) override { states.emplace_back(json); }
  void on_record(std::uint64_t seq, std::string_view) override { records.push_back(seq); }
  void on_reset() override {
    ++resets;
    records.clear();
  }
  void on_connection(Connection connection) override { connections.push_back(connection); }
  void on_refused(const Refusal& why) override { refusal = why; }
};

SseEvent record(std::uint64_t seq) {
  return {.id = std::to_string(seq), .event = "record", .data = "{}"};
}
SseEvent plain(std::string event, std::string data) {
  return {.id = std::nullopt, .event = std::move(event), .data = std::move(data)};
}

std::string query_of(const ApiRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.query) {
    if (key == name) return value;
  }
  return "-";
}

class Follow : public testing::Test {
 protected:
  Told told;
  double dice = 0;
  FollowCore core{{.session = "sess_a", .after = 5, .log_id = {}}, told, [this] { return dice; }};
  std::int64_t now = 1000;

  ApiRequest open() {
    EXPECT_EQ(core.next(now).wish, Wish::connect);
    ApiRequest request = core.connect(now);
    core.on_open(now);
    return request;
  }
};

TEST_F(Follow, connects_at_once_from_its_cursor) {
  const ApiRequest request = open();
  EXPECT_EQ(request.path, "/api/sessions/sess_a/events");
  EXPECT_EQ(request.accept, "text/event-stream");
  EXPECT_EQ(query_of(request, "after"), "5");
  EXPECT_EQ(query_of(request, "log_id"), "-");
}

TEST_F(Follow, N1_after_a_cut_goes_on_behind_the_last_record_and_tells_none_twice) {
  open();
  core.on_event(plain("state", R"({"log_id":"L1"})"), now);
  core.on_event(record(6), now);
  core.on_event(record(7), now);
  core.on_closed(now);
  now = core.next(now).at_ms;
  const ApiRequest request = open();
  EXPECT_EQ(query_of(request, "after"), "7");
  EXPECT_EQ(query_of(request, "log_id"), "L1");
  core.on_event(record(7), now);
  core.on_event(record(8), now);
  EXPECT_EQ(told.records, (std::vector<std::uint64_t>{6, 7, 8}));
  EXPECT_EQ(told.connections, (std::vector{Connection::open, Connection::lost, Connection::open}));
}

TEST_F(Follow, N4_waits_longer_after_each_failure_up_to_a_limit_with_jitter) {
  std::vector<std::int64_t> waits;
  dice = 0.999999;
  for (int i = 0; i < 12; ++i) {
    ASSERT_EQ(core.next(now).wish, Wish::connect);
    core.connect(now);
    core.on_closed(now);
    waits.push_back(core.next(now).at_ms - now);
    now = core.next(now).at_ms;
  }
  EXPECT_LE(waits.front(), reconnect_first_ms);
  for (std::size_t i = 1; i < waits.size(); ++i) EXPECT_GE(waits[i], waits[i - 1]);
  EXPECT_LE(waits.back(), reconnect_longest_ms);
  EXPECT_GT(waits.back(), reconnect_longest_ms - 100);
  dice = 0;
  core.connect(now);
  core.on_closed(now);
  EXPECT_EQ(core.next(now).at_ms - now, reconnect_longest_ms / 2);
}

TEST_F(Follow, a_word_from_the_stream_makes_the_next_wait_short_again) {
  for (int i = 0; i < 6; ++i) {
    core.connect(now);
    core.on_closed(now);
    now = core.next(now).at_ms;
  }
  open();
  core.on_event(record(6), now);
  core.on_closed(now);
  EXPECT_LE(core.next(now).at_ms - now, reconnect_first_ms);
}

TEST_F(Follow, N3_a_silent_stream_is_given_up) {
  open();
  EXPECT_EQ(core.next(now + stream_silence_ms - 1).wish, Wish::wait);
  EXPECT_EQ(core.next(now + stream_silence_ms).wish, Wish::hang_up);
  now += 20'000;
  core.on_event(plain("heartbeat", R"({"head":5})"), now);
  EXPECT_EQ(core.next(now + stream_silence_ms - 1).wish, Wish::wait);
}

TEST_F(Follow, N3_records_that_only_the_heartbeat_knows_are_asked_for_again) {
  open();
  core.on_event(plain("heartbeat", R"({"head":9,"as_of":9})"), now);
  EXPECT_EQ(core.next(now).wish, Wish::wait);
  core.on_event(plain("heartbeat", R"({"head":9,"as_of":9})"), now);
  EXPECT_EQ(core.next(now).wish, Wish::hang_up);
}

TEST_F(Follow, N2_a_reset_starts_over_from_the_first_record) {
  open();
  core.on_event(plain("state", R"({"log_id":"L1"})"), now);
  core.on_event(record(6), now);
  core.on_event(plain("reset", R"({"code":"cursor_invalid"})"), now);
  EXPECT_EQ(core.next(now).wish, Wish::hang_up);
  core.on_closed(now);
  now = core.next(now).at_ms;
  const ApiRequest request = open();
  EXPECT_EQ(query_of(request, "after"), "0");
  EXPECT_EQ(query_of(request, "log_id"), "-");
  EXPECT_EQ(told.resets, 1);
  core.on_event(record(1), now);
  EXPECT_EQ(told.records, (std::vector<std::uint64_t>{1}));
}

TEST_F(Follow, N2_a_refused_cursor_starts_over_too) {
  core.connect(now);
  core.on_refused({.status = 409, .code = "cursor_invalid", .message = "", .actions = {}}, now);
  EXPECT_EQ(told.resets, 1);
  EXPECT_FALSE(told.refusal.has_value());
  EXPECT_EQ(core.cursor(), 0U);
}

TEST_F(Follow, what_stays_refused_is_told_once_and_ends_it) {
  core.connect(now);
  core.on_refused({.status = 404, .code = "not_found", .message = "gone", .actions = {}}, now);
  ASSERT_TRUE(told.refusal.has_value());
  EXPECT_EQ(told.refusal->message, "gone");
  EXPECT_EQ(core.next(now + 1'000'000).wish, Wish::nothing);
}

TEST_F(Follow, a_daemon_that_is_starting_is_asked_again) {
  core.connect(now);
  core.on_refused({.status = 503, .code = "unavailable", .message = "", .actions = {}}, now);
  EXPECT_FALSE(told.refusal.has_value());
  EXPECT_EQ(core.next(now).wish, Wish::wait);
}

// A daemon that cuts anywhere, and starts each stream a few records too early.
RC_GTEST_PROP(FollowProperty, N1_any_cuts_give_every_record_once_in_order, ()) {
  Told told;
  FollowCore core({.session = "s", .after = 0, .log_id = {}}, told, [] { return 0.5; });
  constexpr std::uint64_t head = 60;
  std::int64_t now = 0;
  while (core.cursor() < head) {
    now = std::max(now, core.next(now).at_ms);
    RC_ASSERT(core.next(now).wish == Wish::connect);
    core.connect(now);
    core.on_open(now);
    const std::uint64_t early = std::min<std::uint64_t>(core.cursor(), *rc::gen::inRange(0, 4));
    const auto count = early + *rc::gen::inRange<std::uint64_t>(1, 12);
    for (std::uint64_t i = 0, seq = core.cursor() - early + 1; i < count && seq <= head;
         ++i, ++seq) {
      core.on_event(record(seq), now);
    }
    core.on_closed(now);
  }
  std::vector<std::uint64_t> all(head);
  std::iota(all.begin(), all.end(), 1);
  RC_ASSERT(told.records == all);
}

}  // namespace
}  // namespace perdure::client
