// /ws without a socket: requests and answers, records in order, named events, and slow clients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "daemon/api/bench_for_test.h"

namespace perdure {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

std::string about(const ApiBench& bench, const std::string& more = "") {
  return R"({"session_id":")" + bench.session.text() + "\"" + more + "}";
}

std::vector<std::string> seqs(const WsClient& client) {
  std::vector<std::string> out;
  for (const std::string& payload : client.events("session.record")) {
    out.push_back(at_path(payload, "seq"));
  }
  return out;
}

TEST(Ws, answers_carry_the_id_and_what_is_no_request_is_an_error) {
  ApiBench bench;
  WsClient client = bench.connect();
  EXPECT_EQ(at_path(client.ask("ping", "{}"), "type"), "response");
  const std::string unknown = client.ask("fly", "{}");
  EXPECT_EQ(at_path(unknown, "type"), "error");
  EXPECT_EQ(at_path(unknown, "payload.code"), "invalid_argument");
  for (const char* const text : {"", "7", "{", R"({"id":1})", R"({"id":[1],"type":"request"})",
                                 R"({"id":1,"type":"request","action":"ping","payload":[]})"}) {
    client.socket->sent.clear();
    client.socket->events->on_text(text);
    ASSERT_THAT(client.socket->sent, SizeIs(1)) << text;
    EXPECT_EQ(at_path(client.socket->sent[0], "payload.code"), "invalid_argument") << text;
  }
  client.socket->events->on_binary("x");
  EXPECT_EQ(client.socket->close_code, 1003);
}

TEST(Ws, K43_K10_L28_L29_status_answers_under_its_name_and_of_this_session) {
  ApiBench bench;
  bench.make_worked();
  bench.lose_agentctl();
  WsClient client = bench.connect();
  const std::string status = client.ask("task.session.status", about(bench));
  EXPECT_EQ(at_path(status, "action"), "task.session.status");
  EXPECT_EQ(at_path(status, "payload.session_id"), bench.session.text());
  EXPECT_EQ(at_path(status, "payload.needs_resume"), "true");
  EXPECT_EQ(at_path(status, "payload.is_resumable"), "true");
  EXPECT_EQ(at_path(status, "payload.resume_reason"), "agent_not_running");
  const std::string other = client.ask(
      "task.session.status", about(bench, R"(,"task_id":"task_00000000000000000000000001")"));
  EXPECT_EQ(at_path(other, "payload.code"), "not_found");
}

TEST(Ws, K43_L27_resume_answers_under_its_name_with_the_receipt) {
  ApiBench bench;
  bench.make_worked();
  bench.lose_agentctl();
  WsClient client = bench.connect();
  EXPECT_EQ(client.ask("task.session.resume", about(bench)), "");
  bench.agent_comes_up();
  const std::string& answer = client.socket->sent.back();
  EXPECT_EQ(at_path(answer, "action"), "task.session.resume");
  EXPECT_EQ(at_path(answer, "payload.receipt.rung_name"), "resume");
  EXPECT_EQ(at_path(answer, "payload.session.state"), "WAITING_FOR_INPUT");
}

TEST(Ws, U9_U17_attach_without_an_id_makes_a_session_and_shows_it_from_its_first_record) {
  ApiBench bench;
  WsClient client = bench.connect();
  const std::string first = client.ask("session.attach", R"({"prompt":"hi"})");
  const std::string second = client.ask("session.attach", "{}");
  EXPECT_NE(at_path(first, "payload.session_id"), at_path(second, "payload.session_id"));
  EXPECT_EQ(bench.made_folders, 2);
  EXPECT_EQ(at_path(client.events("session.record").at(0), "record.kind"), "session.created");
}

TEST(Ws, U4_U5_attach_finds_a_session_that_is_only_on_the_disk) {
  ApiBench bench;
  bench.make(R"({"cwd":"/w"})");
  bench.kill_daemon();
  EXPECT_EQ(bench.runtime->state_in_memory(bench.session), nullptr);
  WsClient client = bench.connect();
  const std::string found = client.ask("session.attach", about(bench));
  EXPECT_EQ(at_path(found, "type"), "response");
  EXPECT_NE(bench.runtime->state_in_memory(bench.session), nullptr);
  const std::string none =
      client.ask("session.attach", R"({"session_id":"sess_00000000000000000000000001"})");
  EXPECT_EQ(at_path(none, "payload.code"), "not_found");
}

TEST(Ws, C16_STREAM1_state_then_replay_then_live_without_gap_or_repetition) {
  ApiBench bench;
  bench.make_worked();
  const Seq head = bench.state().head;
  WsClient client = bench.connect();
  const std::string state = client.ask("session.subscribe", about(bench, R"(,"after":2)"));
  EXPECT_EQ(client.socket->sent.at(0), state);
  bench.on_session("prompt", R"({"text":"x"})");
  const std::vector<std::string> seen = seqs(client);
  ASSERT_EQ(seen.size(), bench.state().head - 2);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], std::to_string(i + 3));
  EXPECT_GT(bench.state().head, head);
}

TEST(Ws, C16_N2_a_cursor_that_cannot_be_is_refused_aloud) {
  ApiBench bench;
  bench.make_worked();
  WsClient client = bench.connect();
  const std::string beyond = client.ask("session.subscribe", about(bench, R"(,"after":9999)"));
  EXPECT_EQ(at_path(beyond, "payload.code"), "cursor_invalid");
  const std::string other =
      client.ask("session.subscribe", about(bench, R"(,"after":1,"log_id":"another")"));
  EXPECT_EQ(at_path(other, "payload.code"), "cursor_invalid");
  EXPECT_THAT(client.events("session.record"), SizeIs(0));
}

TEST(Ws, L30_L34_L22_named_events_carry_the_session_and_the_task) {
  ApiBench bench;
  const TaskId task(Ulid{1, 2});
  bench.node.held.tasks[task] = {.id = task};
  bench.make(R"({"cwd":"/w","task_id":")" + task.text() + R"("})");
  WsClient client = bench.connect();
  client.ask("session.subscribe", about(bench));
  bench.on_session("prompt", R"({"text":"hello"})");
  bench.agent_comes_up();
  const RunId run = bench.state().run->id;
  bench.frame(MessageAgent{.text = "a"}, run);
  bench.frame(MessageAgent{.text = "b"}, run);
  bench.finish_run();
  for (const char* const action :
       {"session.agentctl_starting", "session.agentctl_ready", "session.state_changed",
        "session.message.added", "session.message.updated", "session.record"}) {
    const std::vector<std::string> payloads = client.events(action);
    EXPECT_FALSE(payloads.empty()) << action;
    EXPECT_THAT(payloads, Each(HasSubstr(bench.session.text()))) << action;
    EXPECT_THAT(payloads, Each(HasSubstr(R"("task_id":")" + task.text()))) << action;
  }
  EXPECT_EQ(at_path(client.events("session.message.added").at(0), "message.role"), "user");
  EXPECT_EQ(at_path(client.events("session.message.updated").at(0), "message.id"),
            at_path(client.events("session.message.added").at(1), "message.id"));
  EXPECT_EQ(at_path(client.events("session.state_changed").back(), "state"), "WAITING_FOR_INPUT");
}

TEST(Ws, L30_an_executor_that_fails_is_told) {
  ApiBench bench;
  bench.make(R"({"cwd":"/w"})");
  WsClient client = bench.connect();
  client.ask("session.subscribe", about(bench));
  bench.on_session("prompt", R"({"text":"hello"})");
  bench.frame(FrameExecutorFailed{"no_room", "there is no room"});
  EXPECT_EQ(at_path(client.events("session.agentctl_error").at(0), "error_message"),
            "there is no room");
}

TEST(Ws, L34_subscriptions_are_per_session_and_end_when_asked) {
  ApiBench bench;
  bench.make(R"({"cwd":"/w"})");
  const SessionId quiet = bench.session;
  bench.make_worked();
  WsClient client = bench.connect();
  client.ask("session.subscribe", about(bench));
  bench.runtime->submit(quiet, {.by = "uid:1", .body = RenameSession{"x"}}, [](Result<Reply>) {});
  bench.run_now();
  EXPECT_THAT(client.events("session.record"), Each(HasSubstr(bench.session.text())));
  client.ask("session.unsubscribe", about(bench));
  const std::size_t before = client.events("session.record").size();
  bench.on_session("prompt", R"({"text":"x"})");
  EXPECT_EQ(client.events("session.record").size(), before);
}

TEST(Ws, K26_C23_N10_prompts_and_answers_go_the_way_of_the_routes) {
  ApiBench bench;
  bench.make_worked();
  WsClient client = bench.connect();
  const std::string first = client.ask("session.prompt", about(bench, R"(,"text":"go")"), "k");
  EXPECT_EQ(at_path(first, "payload.placed"), "started");
  const std::string again = client.ask("session.prompt", about(bench, R"(,"text":"go")"), "k");
  EXPECT_EQ(at_path(again, "payload.run_id"), at_path(first, "payload.run_id"));
  const PermissionId asked = bench.asks();
  const std::string answer = client.ask(
      "permission.answer", R"({"permission_id":")" + asked.text() + R"(","option_id":"allow"})");
  EXPECT_EQ(at_path(answer, "payload.outcome"), "selected");
  client.ask("session.cancel", about(bench));
  EXPECT_TRUE(bench.state().run->cancelling);
}

TEST(Ws, N12_N17_an_observer_only_looks_and_sees_only_its_sessions) {
  ApiBench bench;
  bench.make_worked();
  bench.principal = {.id = "token:o", .scope = Scope::observe};
  WsClient client = bench.connect();
  for (const char* const action :
       {"session.prompt", "session.stop", "task.session.resume", "permission.answer"}) {
    EXPECT_EQ(at_path(client.ask(action, about(bench)), "payload.code"), "denied") << action;
  }
  EXPECT_EQ(at_path(client.ask("session.attach", "{}"), "payload.code"), "denied");
  EXPECT_EQ(at_path(client.ask("session.subscribe", about(bench)), "type"), "response");
  bench.principal.sessions = {SessionId(Ulid{9, 9})};
  WsClient stranger = bench.connect();
  for (const char* const action : {"session.subscribe", "session.attach", "task.session.status"}) {
    EXPECT_EQ(at_path(stranger.ask(action, about(bench)), "payload.code"), "not_found") << action;
  }
}

TEST(Ws, SEC9_from_inside_a_session_the_others_do_not_exist) {
  ApiBench bench;
  bench.make_worked();
  const SessionId other = bench.session;
  const SessionId own(Ulid{7, 7});
  bench.principal = {.id = "session:" + own.text(), .scope = Scope::operate, .hosted = own};
  WsClient inside = bench.connect();
  for (const char* const action :
       {"session.subscribe", "session.unsubscribe", "session.attach", "task.session.status",
        "session.prompt", "session.stop", "session.options", "task.session.resume"}) {
    EXPECT_EQ(at_path(inside.ask(action, about(bench)), "payload.code"), "not_found") << action;
  }
  EXPECT_EQ(at_path(inside.ask("list.subscribe", "{}"), "type"), "response");
  bench.runtime->sessions().changed(other);
  EXPECT_TRUE(inside.events("session.changed").empty());
  // It may not change its own agent's mode, which could be one that never asks.
  bench.principal.hosted = other;
  WsClient self = bench.connect();
  EXPECT_EQ(at_path(self.ask("session.options", about(bench, R"(,"mode":"free")")), "payload.code"),
            "denied");
}

TEST(Ws, U1_U2_U18_a_socket_that_closes_stops_nothing) {
  ApiBench bench;
  bench.make_worked();
  bench.on_session("prompt", R"({"text":"long"})");
  {
    WsClient client = bench.connect();
    client.ask("session.subscribe", about(bench));
    EXPECT_EQ(bench.sockets->connections(), 1U);
    client.socket->events->on_closed(1001, "");
  }
  bench.run_now();
  EXPECT_EQ(bench.sockets->connections(), 0U);
  EXPECT_TRUE(bench.agentctls.stopped.empty());
  bench.finish_run();
  EXPECT_EQ(bench.count("run.completed"), 2U);
}

TEST(Ws, X24_STREAM4_a_client_that_does_not_read_is_cut_with_its_cursor) {
  ApiBench bench;
  bench.make_worked();
  bench.on_session("prompt", R"({"text":"talk"})");
  WsClient client = bench.connect();
  client.ask("session.subscribe", about(bench));
  const std::size_t read = client.events("session.record").size();
  client.socket->unsent = ws_unsent_bytes_max;
  const RunId run = bench.state().run->id;
  for (std::size_t i = 0; i < subscriber_records_max + 10; ++i) {
    bench.frame(MessageAgent{.text = "x"}, run);
  }
  EXPECT_EQ(client.events("session.record").size(), read);
  ASSERT_THAT(client.events("session.reset"), SizeIs(1));
  const std::string after = at_path(client.events("session.reset")[0], "after");
  client.socket->unsent = 0;
  client.ask("session.subscribe", about(bench, ",\"after\":" + after));
  EXPECT_EQ(seqs(client).back(), std::to_string(bench.state().head));
  EXPECT_EQ(seqs(client).size(), bench.state().head);
}

TEST(Ws, G8_a_client_that_reads_again_in_time_goes_on_where_it_was) {
  ApiBench bench;
  bench.make_worked();
  WsClient client = bench.connect();
  client.ask("session.subscribe", about(bench));
  client.socket->unsent = ws_unsent_bytes_max;
  bench.on_session("prompt", R"({"text":"talk"})");
  EXPECT_LT(seqs(client).size(), bench.state().head);
  client.socket->unsent = 0;
  client.socket->events->on_drained();
  bench.run_now();
  EXPECT_EQ(seqs(client).size(), bench.state().head);
}

TEST(Ws, G8_subscriptions_and_open_requests_have_limits) {
  ApiBench bench;
  WsClient client = bench.connect();
  for (std::size_t i = 0; i < ws_subscriptions_max; ++i) client.ask("session.attach", "{}");
  bench.make_worked();
  EXPECT_EQ(at_path(client.ask("session.subscribe", about(bench)), "payload.code"),
            "limit_reached");
  bench.lose_agentctl();
  for (std::size_t i = 0; i < ws_calls_open_max; ++i) {
    EXPECT_EQ(client.ask("task.session.resume", about(bench)), "");
  }
  EXPECT_EQ(at_path(client.ask("ping", "{}"), "payload.code"), "limit_reached");
}

TEST(Ws, U8_list_changes_come_to_those_who_asked_once_however_many_there_were) {
  ApiBench bench;
  WsClient client = bench.connect();
  client.ask("list.subscribe", "{}");
  client.socket->unsent = ws_unsent_bytes_max;
  bench.make_worked();
  EXPECT_THAT(client.events("list.changed"), SizeIs(0));
  client.socket->unsent = 0;
  client.socket->events->on_drained();
  bench.run_now();
  ASSERT_THAT(client.events("list.changed"), SizeIs(1));
  EXPECT_EQ(at_path(client.events("list.changed")[0], "session.state"), "WAITING_FOR_INPUT");
}

// Numbers of all gathered records, in the order in which they came.
std::vector<std::uint64_t> gathered(const WsClient& client) {
  std::vector<std::uint64_t> out;
  for (const std::string& payload : client.events("session.records")) {
    const Result<JsonObject> object = JsonObject::parse(payload);
    for (const std::string_view record : *json_elements(object->find("records"))) {
      out.push_back(*json_uint(JsonObject::parse(record)->find("seq")));
    }
  }
  return out;
}

TEST(Ws, STREAM1_gathered_records_come_together_and_all_of_them) {
  ApiBench bench;
  bench.make_worked();
  bench.on_session("prompt", R"({"text":"talk"})");
  WsClient client = bench.connect();
  client.ask("session.subscribe", about(bench, R"(,"gather_ms":50)"));
  const std::size_t at_once = client.events("session.records").size();
  EXPECT_EQ(at_once, 1U);  // the missed records, without waiting
  const RunId run = bench.state().run->id;
  for (int i = 0; i < 20; ++i) bench.frame(MessageAgent{.text = "x"}, run);
  EXPECT_EQ(client.events("session.records").size(), at_once);
  bench.settle(50);
  EXPECT_EQ(client.events("session.records").size(), at_once + 1);
  bench.settle(50);
  bench.frame(MessageAgent{.text = "y"}, run);
  EXPECT_EQ(client.events("session.records").size(), at_once + 2);  // not gathered
  const std::vector<std::uint64_t> seen = gathered(client);
  ASSERT_EQ(seen.size(), bench.state().head);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i + 1);
  EXPECT_THAT(client.events("session.record"), SizeIs(0));
  EXPECT_THAT(client.events("session.message.updated"), SizeIs(0));
}

TEST(Ws, X24_gathered_records_do_not_wait_when_they_are_many_and_come_before_a_cut) {
  ApiBench bench;
  bench.make_worked();
  bench.on_session("prompt", R"({"text":"talk"})");
  WsClient client = bench.connect();
  client.ask("session.subscribe", about(bench, R"(,"gather_ms":1000)"));
  const RunId run = bench.state().run->id;
  bench.frame(MessageAgent{.text = std::string(ws_gather_bytes_max, 'x')}, run);
  EXPECT_EQ(gathered(client).size(), bench.state().head);
  bench.frame(MessageAgent{.text = "waits"}, run);
  client.socket->unsent = ws_unsent_bytes_max;
  for (std::size_t i = 0; i < subscriber_records_max + 10; ++i) {
    bench.frame(MessageAgent{.text = "x"}, run);
  }
  ASSERT_THAT(client.events("session.reset"), SizeIs(1));
  EXPECT_EQ(std::to_string(gathered(client).back()),
            at_path(client.events("session.reset")[0], "after"));
}

TEST(Ws, gather_ms_is_a_number_within_its_limit) {
  ApiBench bench;
  bench.make_worked();
  WsClient client = bench.connect();
  for (const char* const wish : {"1001", "-1", R"("50")", "true"}) {
    const std::string answer =
        client.ask("session.subscribe", about(bench, std::string(",\"gather_ms\":") + wish));
    EXPECT_EQ(at_path(answer, "type"), "error") << wish;
  }
  EXPECT_THAT(client.events("session.records"), SizeIs(0));
}

TEST(Ws, U8_a_session_that_only_gets_longer_is_listed_now_and_then_and_a_new_state_at_once) {
  ApiBench bench;
  bench.make_worked();
  bench.on_session("prompt", R"({"text":"talk"})");
  WsClient client = bench.connect();
  client.ask("list.subscribe", "{}");
  const RunId run = bench.state().run->id;
  for (int i = 0; i < 30; ++i) bench.frame(MessageAgent{.text = "x"}, run);
  EXPECT_THAT(client.events("list.changed"), SizeIs(1));
  bench.settle(ws_list_rest_ms);
  ASSERT_THAT(client.events("list.changed"), SizeIs(2));
  EXPECT_EQ(at_path(client.events("list.changed")[1], "session.seq"),
            std::to_string(bench.state().head));
  bench.frame(MessageAgent{.text = "x"}, run);
  const std::size_t before = client.events("list.changed").size();
  bench.asks();
  ASSERT_GT(client.events("list.changed").size(), before);
  EXPECT_EQ(at_path(client.events("list.changed").back(), "session.status"), "waiting");
}

TEST(Ws, TOK2_N3_a_socket_hears_a_heartbeat_and_ends_with_its_principals_right) {
  ApiBench bench;
  bench.make_worked();
  WsClient client = bench.connect();
  client.ask("session.subscribe", about(bench));
  bench.settle(11'000);
  const std::string heads = at_path(client.events("heartbeat").at(0), "heads");
  EXPECT_EQ(at_path(heads, bench.session.text()), std::to_string(bench.state().head));
  bench.revoked = true;
  bench.node.told();
  EXPECT_EQ(client.socket->close_code, 1008);
}

}  // namespace
}  // namespace perdure
