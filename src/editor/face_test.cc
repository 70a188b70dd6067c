// Requests of an editor become calls to the daemon, and journal records become lines: tested
// without either.
#include "editor/face.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "editor/face_on_stage_for_test.h"

namespace perdure::face {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

bool has(const std::string& line) { return !line.empty(); }

struct Requested {
  const char* name;
  const char* line;
  const char* wanted;  // in the response
};

TEST(Face, U9_requests_that_need_no_daemon_are_answered_at_once) {
  const Requested table[] = {
      {"initialize",
       R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}})",
       R"("loadSession":true)"},
      {"a version that is not there yet",
       R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":9}})",
       R"("protocolVersion":1)"},
      {"authenticate",
       R"({"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"methodId":"x"}})",
       R"("result":{})"},
      {"unknown method", R"({"jsonrpc":"2.0","id":1,"method":"session/fly","params":{}})",
       R"("code":-32601)"},
      {"delete is not offered",
       R"({"jsonrpc":"2.0","id":1,"method":"session/delete","params":{"sessionId":"s1"}})",
       R"("code":-32601)"},
      {"a prompt to a session that is not open",
       R"({"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"x","prompt":)"
       R"([]}})",
       R"("code":-32002)"},
      {"new without a folder", R"({"jsonrpc":"2.0","id":1,"method":"session/new","params":{}})",
       R"("code":-32602)"},
      {"no JSON", "hello", R"("code":-32700)"},
      {"a batch", R"([{"jsonrpc":"2.0","id":1,"method":"initialize"}])", R"("code":-32600)"},
      {"close of what is not open",
       R"({"jsonrpc":"2.0","id":1,"method":"session/close","params":{"sessionId":"x"}})",
       R"("result":{})"},
  };
  for (const Requested& one : table) {
    FaceOnStage stage;
    stage.editor(one.line);
    ASSERT_EQ(stage.lines.size(), 1U) << one.name;
    EXPECT_THAT(stage.lines[0], HasSubstr(one.wanted)) << one.name;
    EXPECT_THAT(stage.calls, IsEmpty()) << one.name;
  }
}

TEST(Face, U9_a_new_session_is_made_its_agent_started_and_told_once_its_journal_was_read) {
  FaceOnStage stage({.version = "1", .agent = "claude", .key_prefix = "k"});
  stage.editor(
      R"({"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{)"
      R"("name":"m"}]}})");
  EXPECT_EQ(stage.calls.at(0).request.body,
            R"({"cwd":"/w","agent":"claude","mcp_servers":[{"name":"m"}]})");
  EXPECT_EQ(stage.calls.at(0).request.key, "k-1");
  stage.answer("POST /api/sessions", stage.session(1), 201);
  stage.answer("POST /api/sessions/s1/resume", stage.session(2));
  EXPECT_THAT(stage.followed, ElementsAre("+s1"));
  stage.record("session.created");
  EXPECT_THAT(stage.lines, IsEmpty());
  stage.record("mode",
               R"("option":"mode","value":"ask","update":{"sessionUpdate":"config_option_update",)"
               R"("configOptions":[{"id":"m","name":"Mode","category":"mode","type":"select",)"
               R"("currentValue":"ask","options":[{"value":"ask","name":"Ask"}]}]})");
  ASSERT_EQ(stage.lines.size(), 1U);
  EXPECT_THAT(stage.lines[0], HasSubstr(R"("sessionId":"s1","modes":{"currentModeId":"ask")"));
  EXPECT_THAT(stage.lines[0], HasSubstr(R"("configOptions":[{"id":"m")"));
  EXPECT_THAT(stage.lines[0], HasSubstr(R"("_meta":{"perdure":{"session":"s1","agent":"demo")"));
}

TEST(Face, U9_an_agent_that_does_not_start_is_an_error_of_session_new) {
  FaceOnStage stage;
  stage.editor(R"({"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w"}})");
  stage.answer("POST /api/sessions", stage.session(1), 201);
  stage.answer("POST /api/sessions/s1/resume",
               R"({"error":{"code":"not_resumable","message":"no key","actions":["fresh"]}})", 409);
  EXPECT_THAT(stage.lines.at(0), HasSubstr("no key (the session s1 was made)"));
  EXPECT_THAT(stage.lines.at(0), HasSubstr(R"("data":{"code":"not_resumable")"));
}

TEST(Face, A20_load_tells_the_whole_history_before_its_answer_and_resume_tells_none) {
  for (const bool is_load : {true, false}) {
    FaceOnStage stage;
    stage.editor(std::string(R"({"jsonrpc":"2.0","id":1,"method":"session/)") +
                 (is_load ? "load" : "resume") +
                 R"(","params":{"sessionId":"s1","cwd":"/w","mcpServers":[]}})");
    stage.answer("GET /api/sessions/s1", stage.session(4));
    stage.record("session.created");
    stage.record("message.user", R"("message_id":"msg_1","content":"hello","key":"uid:0/x")");
    stage.record("message.agent", R"("text":"hi","update":{"sessionUpdate":"agent_message_chunk",)"
                                  R"("content":{"type":"text","text":"hi"}})");
    EXPECT_EQ(stage.lines.size(), is_load ? 2U : 0U);
    stage.record("run.completed", R"("run_id":"r")");
    ASSERT_EQ(stage.lines.size(), is_load ? 3U : 1U);
    EXPECT_THAT(stage.lines.back(), HasSubstr(R"("id":1,"result":{"_meta")"));
    if (is_load) EXPECT_THAT(stage.lines[0], HasSubstr(R"("user_message_chunk")"));
    // From here on both receive events.
    stage.record("message.user", R"("message_id":"msg_2","content":"from elsewhere")");
    EXPECT_THAT(stage.lines.back(), HasSubstr("from elsewhere"));
  }
}

TEST(Face, load_of_a_title_or_a_part_of_an_id_is_no_session) {
  FaceOnStage stage;
  stage.editor(
      R"({"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"t","cwd":"/w"}})");
  stage.answer("GET /api/sessions/t", stage.session(1));
  EXPECT_THAT(stage.lines.at(0), HasSubstr(R"("code":-32002)"));
  EXPECT_THAT(stage.followed, IsEmpty());
}

TEST(Face, G4_a_prompt_is_answered_when_its_own_run_ends_and_not_another_one) {
  FaceOnStage stage;
  stage.open();
  stage.prompt(5, "mine");
  const CallWish call = stage.calls.at(0);
  EXPECT_EQ(call.request.body, R"({"content":[{"type":"text","text":"mine"}],"when":"queue"})");
  stage.answer("POST /api/sessions/s1/prompt",
               R"({"message_id":"m1","run_id":"r1","queue_position":1,"placed":"queued"})");
  stage.record("queue.added", R"("message_id":"m1","for_run":"r1","key":"uid:0/k-1")");
  stage.record("run.completed", R"("run_id":"r0","stop_reason":"end_turn")");
  EXPECT_THAT(stage.lines, IsEmpty());
  stage.record("message.user",
               R"("run_id":"r1","message_id":"m1","key":"uid:0/k-1","content":"mine")");
  EXPECT_THAT(stage.lines, IsEmpty()) << "the editor shows it already";
  stage.record("run.completed", R"("run_id":"r1","stop_reason":"max_tokens")");
  EXPECT_THAT(stage.lines,
              ElementsAre(HasSubstr(R"("id":5,"result":{"stopReason":"max_tokens"})")));
}

TEST(Face, ACK3_a_prompt_whose_answer_is_lost_is_known_by_its_key) {
  FaceOnStage stage;
  stage.open();
  stage.prompt(5, "mine");
  stage.record("message.user",
               R"("run_id":"r1","message_id":"m1","key":"uid:0/k-1","content":"mine")");
  stage.record("run.completed", R"("run_id":"r1","stop_reason":"end_turn")");
  EXPECT_TRUE(has(stage.says(R"("id":5,"result":{"stopReason":"end_turn"})")));
  stage.answer("POST /api/sessions/s1/prompt", R"({"message_id":"m1","run_id":"r1"})");
  EXPECT_THAT(stage.lines, IsEmpty()) << "answered once";
}

struct Ending {
  const char* kind;
  const char* members;
  const char* wanted;
};

TEST(Face, G4_every_end_of_a_run_is_an_answer) {
  const Ending table[] = {
      {"run.completed", R"("stop_reason":"refusal")", R"("stopReason":"refusal")"},
      {"run.completed", R"("stop_reason":"made_up")", R"("stopReason":"end_turn")"},
      {"run.cancelled", R"("by":"uid:0")", R"("stopReason":"cancelled")"},
      {"run.failed", R"("code":"agent_error","message":"boom")",
       R"("message":"The turn failed: boom")"},
      {"run.failed", R"("code":"auth_needed","message":"log in")", R"("code":-32000)"},
      {"run.failed",
       R"("code":"rate_limited","message":"later","reset_at":"2026-01-01T00:00:00.000Z")",
       R"("reset_at":"2026-01-01T00:00:00.000Z")"},
      {"run.interrupted", R"("reason":"process_exit")", R"("code":"interrupted")"},
  };
  for (const Ending& one : table) {
    FaceOnStage stage;
    stage.open();
    stage.prompt(5, "mine");
    stage.record("message.user", R"("run_id":"r1","message_id":"m1","key":"uid:0/k-1")");
    stage.record(one.kind, R"("run_id":"r1",)" + std::string(one.members));
    ASSERT_EQ(stage.lines.size(), 1U) << one.kind;
    EXPECT_THAT(stage.lines[0], HasSubstr(R"("id":5)"));
    EXPECT_THAT(stage.lines[0], HasSubstr(one.wanted)) << one.kind;
  }
}

TEST(Face, a_refused_prompt_is_an_error_and_nothing_waits) {
  FaceOnStage stage;
  stage.open();
  stage.prompt(5, "mine");
  stage.answer("POST /api/sessions/s1/prompt",
               R"({"error":{"code":"session_archived","message":"archived"}})", 409);
  EXPECT_THAT(stage.lines.at(0), HasSubstr(R"("id":5,"error")"));
  EXPECT_FALSE(stage.face.is_waiting());
}

TEST(Face, N5_a_prompt_that_was_edited_elsewhere_is_shown_as_it_ran) {
  FaceOnStage stage;
  stage.open();
  stage.prompt(5, "mine");
  stage.record("queue.added", R"("message_id":"m1","for_run":"r1","key":"uid:0/k-1")");
  stage.record("queue.edited", R"("message_id":"m1","content":"theirs")");
  stage.record("message.user",
               R"("run_id":"r1","message_id":"m1","key":"uid:0/k-1","content":"theirs")");
  EXPECT_TRUE(has(stage.says("theirs")));
}

TEST(Face, cancel_takes_a_waiting_prompt_back_and_leaves_the_turn_of_another_client) {
  FaceOnStage stage;
  stage.open();
  stage.prompt(5, "mine");
  stage.editor(R"({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}})");
  EXPECT_EQ(stage.calls.size(), 1U) << "where it stands is not known yet";
  stage.answer("POST /api/sessions/s1/prompt",
               R"({"message_id":"m1","run_id":"r1","placed":"queued"})");
  stage.answer("DELETE /api/sessions/s1/queue/m1", "{}");
  stage.record("queue.removed", R"("message_id":"m1")");
  EXPECT_TRUE(has(stage.says(R"("id":5,"result":{"stopReason":"cancelled"})")));
  EXPECT_THAT(stage.calls, IsEmpty());
}

TEST(Face, cancel_of_a_running_prompt_and_of_one_that_began_meanwhile_cancels_the_run) {
  FaceOnStage stage;
  stage.open();
  stage.prompt(5, "mine");
  stage.answer("POST /api/sessions/s1/prompt",
               R"({"message_id":"m1","run_id":"r1","placed":"queued"})");
  stage.editor(R"({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}})");
  stage.record("message.user", R"("run_id":"r1","message_id":"m1","key":"uid:0/k-1")");
  stage.answer("DELETE /api/sessions/s1/queue/m1", R"({"error":{"code":"not_found"}})", 404);
  stage.answer("POST /api/sessions/s1/cancel", "{}");
  stage.record("run.cancelled", R"("run_id":"r1")");
  EXPECT_TRUE(has(stage.says(R"("stopReason":"cancelled")")));
}

constexpr std::string_view question =
    R"("perm_id":"p1","tool_call_id":"t1","title":"Run it","options":[{"option_id":"yes",)"
    R"("name":"Yes","kind":"allow_once"},{"option_id":"odd","name":"Odd","kind":"strange"}],)"
    R"("update":{"toolCall":{"toolCallId":"t1","kind":"execute"},"options":[]})";

TEST(Face, N5_TOK3_a_question_goes_to_the_editor_and_its_answer_to_the_daemon) {
  FaceOnStage stage;
  stage.open();
  stage.record("permission.requested", question);
  const std::string asked = stage.says("session/request_permission");
  EXPECT_THAT(asked,
              HasSubstr(R"("toolCall":{"toolCallId":"t1","title":"Run it","kind":"execute"})"));
  EXPECT_THAT(asked, HasSubstr(R"("optionId":"odd","name":"Odd","kind":"reject_once")"));
  const std::string id(client::JsonView(asked)["id"].raw());
  stage.editor(R"({"jsonrpc":"2.0","id":)" + id +
               R"(,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}})");
  EXPECT_EQ(stage.calls.at(0).request.body, R"({"option_id":"yes"})");
  stage.answer("POST /api/permissions/p1", "{}");
  stage.record("permission.resolved", R"("perm_id":"p1","outcome":"selected")");
  EXPECT_THAT(stage.lines, IsEmpty());
}

TEST(Face, TOK3_N6_an_answer_elsewhere_takes_the_question_back_and_a_late_one_does_nothing) {
  FaceOnStage stage;
  stage.open();
  stage.record("permission.requested", question);
  const std::string id(client::JsonView(stage.says("session/request_permission"))["id"].raw());
  stage.record("permission.resolved", R"("perm_id":"p1","outcome":"selected")");
  EXPECT_TRUE(has(stage.says(R"("method":"$/cancel_request","params":{"requestId":)" + id + "}")));
  stage.editor(R"({"jsonrpc":"2.0","id":)" + id +
               R"(,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}})");
  EXPECT_THAT(stage.calls, IsEmpty());
  EXPECT_THAT(stage.lines, IsEmpty());
}

TEST(Face, G7_N8_a_window_that_closes_or_an_editor_that_cannot_ask_decides_nothing) {
  for (const char* const answer : {R"("result":{"outcome":{"outcome":"cancelled"}}})",
                                   R"("error":{"code":-32601,"message":"no"}})"}) {
    FaceOnStage stage;
    stage.open();
    stage.record("permission.requested", question);
    const std::string id(client::JsonView(stage.says("session/request_permission"))["id"].raw());
    stage.editor(R"({"jsonrpc":"2.0","id":)" + id + "," + answer);
    EXPECT_THAT(stage.calls, IsEmpty()) << answer;
  }
}

TEST(Face, N5_questions_that_were_open_before_are_asked_behind_the_answer_of_load) {
  FaceOnStage stage;
  stage.editor(
      R"({"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/w"}})");
  stage.answer("GET /api/sessions/s1", stage.session(4));
  stage.record("session.created");
  stage.record("permission.requested", R"("perm_id":"p0","title":"old","options":[])");
  stage.record("permission.requested", question);
  stage.record("permission.resolved", R"("perm_id":"p0","outcome":"cancelled")");
  ASSERT_EQ(stage.lines.size(), 2U);
  EXPECT_THAT(stage.lines[0], HasSubstr(R"("id":1,"result")"));
  EXPECT_THAT(stage.lines[1], HasSubstr("Run it"));
}

TEST(Face, options_are_checked_named_as_the_runtime_does_and_answered_with_all_of_them) {
  FaceOnStage stage;
  stage.open();
  stage.record(
      "mode",
      R"("option":"model","value":"calm","update":{"sessionUpdate":"config_option_update",)"
      R"("configOptions":[{"id":"llm","name":"Model","category":"model","type":"select",)"
      R"("currentValue":"calm","options":[{"value":"calm","name":"Calm"},{"value":"bold","name":)"
      R"("Bold"}]}]})");
  stage.lines.clear();
  const auto set = [&](const char* option, const char* value) {
    stage.editor(std::string(R"({"jsonrpc":"2.0","id":7,"method":"session/set_config_option",)") +
                 R"("params":{"sessionId":"s1","configId":")" + option + R"(","value":")" + value +
                 "\"}}");
  };
  set("llm", "wild");
  EXPECT_TRUE(has(stage.says(R"("code":-32602)")));
  set("other", "calm");
  EXPECT_TRUE(has(stage.says(R"("code":-32602)")));
  set("llm", "bold");
  EXPECT_EQ(stage.calls.at(0).request.body, R"({"model":"bold"})");
  stage.answer("POST /api/sessions/s1/options", "{}");
  EXPECT_TRUE(has(stage.says(R"("currentValue":"bold")")));
  stage.editor(R"({"jsonrpc":"2.0","id":8,"method":"session/set_model","params":{"sessionId":"s1",)"
               R"("modelId":"calm"}})");
  stage.answer("POST /api/sessions/s1/options", "{}");
  EXPECT_TRUE(has(stage.says(R"("id":8,"result":{})")));
}

TEST(Face, U2_close_detaches_answers_what_waits_and_calls_nothing) {
  FaceOnStage stage;
  stage.open();
  stage.prompt(5, "mine");
  stage.answer("POST /api/sessions/s1/prompt", R"({"message_id":"m1","run_id":"r1"})");
  stage.record("permission.requested", question);
  stage.lines.clear();
  stage.editor(R"({"jsonrpc":"2.0","id":6,"method":"session/close","params":{"sessionId":"s1"}})");
  EXPECT_TRUE(has(stage.says(R"("id":5,"error":{"code":-32800)")));
  EXPECT_TRUE(has(stage.says("$/cancel_request")));
  EXPECT_TRUE(has(stage.says(R"("id":6,"result":{})")));
  EXPECT_EQ(stage.followed.back(), "-s1");
  EXPECT_THAT(stage.calls, IsEmpty());
  stage.record("message.agent", R"("text":"late")");
  EXPECT_THAT(stage.lines, IsEmpty());
}

TEST(Face, list_goes_page_by_page_and_keeps_to_a_folder) {
  FaceOnStage stage;
  stage.editor(
      R"({"jsonrpc":"2.0","id":1,"method":"session/list","params":{"cwd":"/w","cursor":"c1"}})");
  EXPECT_EQ(stage.calls.at(0).request.query.at(1),
            (std::pair<std::string, std::string>("cursor", "c1")));
  stage.answer(
      "GET /api/sessions",
      R"({"sessions":[{"id":"a","cwd":"/w","title":"A","updated":"2026-01-01T00:00:00.000Z"},)"
      R"({"id":"b","cwd":"/v"}],"next":"c2"})");
  EXPECT_THAT(stage.lines.at(0),
              HasSubstr(R"("sessions":[{"sessionId":"a","cwd":"/w","title":"A")"));
  EXPECT_THAT(stage.lines.at(0), Not(HasSubstr(R"("sessionId":"b")")));
  EXPECT_THAT(stage.lines.at(0), HasSubstr(R"("nextCursor":"c2")"));
}

TEST(Face, P7_an_update_that_is_stored_apart_is_fetched_and_keeps_its_place) {
  FaceOnStage stage;
  stage.open();
  stage.record("message.agent", R"("text":"short","update":{"blob":"abc","bytes":300000})");
  stage.record("message.agent", R"("text":"behind")");
  EXPECT_THAT(stage.lines, IsEmpty());
  stage.answer(
      "GET /api/sessions/s1/blobs/abc",
      R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"whole"}})");
  EXPECT_THAT(stage.lines, ElementsAre(HasSubstr("whole"), HasSubstr("behind")));
  stage.record("message.agent", R"("text":"gone","update":{"blob":"def","bytes":300000})");
  stage.answer("GET /api/sessions/s1/blobs/def", "{}", 404);
  EXPECT_THAT(stage.lines.back(), HasSubstr("gone"));
}

TEST(Face, G8_records_behind_a_fetch_are_bounded) {
  FaceOnStage stage;
  stage.open();
  stage.record("message.agent", R"("text":"short","update":{"blob":"abc","bytes":300000})");
  const std::string large = R"("text":")" + std::string(face_held_bytes_max / 4, 'x') + '"';
  for (int i = 0; i < 5; ++i) stage.record("message.agent", large);
  ASSERT_EQ(stage.lines.size(), 6U);
  EXPECT_THAT(stage.lines[0], HasSubstr("short"));
  EXPECT_THAT(stage.remarks, ElementsAre(HasSubstr("shown shortened")));
}

TEST(Face, G8_sessions_and_calls_of_a_connection_are_bounded) {
  FaceOnStage stage;
  for (std::size_t i = 0; i < face_sessions_max; ++i) {
    const std::string id = "x" + std::to_string(i);
    stage.editor(R"({"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":")" + id +
                 R"(","cwd":"/w"}})");
    stage.answer("GET /api/sessions/" + id, R"({"session":{"id":")" + id + R"(","seq":1}})");
  }
  stage.lines.clear();
  stage.editor(R"({"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w"}})");
  EXPECT_TRUE(has(stage.says("too many sessions")));
  for (std::size_t i = 0; i < face_calls_open_max; ++i) {
    stage.editor(R"({"jsonrpc":"2.0","id":3,"method":"session/list","params":{}})");
  }
  EXPECT_THAT(stage.lines, IsEmpty());
  stage.editor(R"({"jsonrpc":"2.0","id":4,"method":"session/list","params":{}})");
  EXPECT_TRUE(has(stage.says("too many requests")));
}

TEST(Face, STREAM3_a_replaced_log_is_said_once_and_not_told_again) {
  FaceOnStage stage;
  stage.open();
  stage.record("message.agent", R"("text":"old")");
  stage.prompt(5, "mine");
  stage.lines.clear();
  stage.face.on_reset("s1");
  stage.collect();
  EXPECT_TRUE(has(stage.says("journal of this session was replaced")));
  EXPECT_TRUE(has(stage.says(R"("id":5,"error")")));
  stage.face.on_state("s1", R"({"head":2})");
  stage.head = 0;
  stage.record("session.created");
  stage.record("message.agent", R"("text":"old")");
  EXPECT_THAT(stage.lines, IsEmpty());
  stage.record("message.agent", R"("text":"new")");
  EXPECT_TRUE(has(stage.says("new")));
}

TEST(Face, a_session_that_is_deleted_answers_what_waits) {
  FaceOnStage stage;
  stage.open();
  stage.prompt(5, "mine");
  stage.face.on_refused("s1",
                        {.status = 404, .code = "not_found", .message = "gone", .actions = {}});
  stage.collect();
  EXPECT_TRUE(has(stage.says(R"("id":5,"error":{"code":-32002)")));
  EXPECT_EQ(stage.followed.back(), "-s1");
}

TEST(Face, a_given_session_is_what_the_editor_takes_for_a_new_one) {
  FaceOnStage stage({.version = "1", .session = "s1", .key_prefix = "k"});
  stage.editor(R"({"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w"}})");
  stage.answer("GET /api/sessions/s1", stage.session(2));
  stage.record("session.created");
  stage.record("message.user", R"("message_id":"m","content":"earlier")");
  ASSERT_EQ(stage.lines.size(), 1U) << "the answer first: the id is not known before";
  EXPECT_THAT(stage.followed, ElementsAre("+s1", "-s1", "+s1"));
  // A late record of the first stream is not delivered out of order.
  stage.face.on_record("s1", 3, R"({"seq":3,"kind":"message.agent","text":"x"})");
  stage.collect();
  EXPECT_EQ(stage.lines.size(), 1U);
  stage.record("session.created");
  stage.record("message.user", R"("message_id":"m","content":"earlier")");
  EXPECT_THAT(stage.lines.back(), HasSubstr("earlier"));
}

TEST(Face, L24_an_editor_lends_its_files_while_a_turn_runs) {
  FaceOnStage stage;
  stage.editor(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,)"
               R"("clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":false}}}})");
  stage.open();
  EXPECT_THAT(stage.calls, ::testing::IsEmpty());
  stage.record("run.started", R"("run_id":"r1")");
  const CallWish lend = stage.call("POST /api/sessions/s1/lend");
  EXPECT_THAT(lend.request.body, HasSubstr(R"("fs_read":true,"fs_write":false)"));
  EXPECT_TRUE(lend.is_quiet);
  EXPECT_FALSE(stage.face.has_calls()) << "an editor that leaves need not wait for that";
  stage.face.on_answer(lend.number,
                       client::ApiAnswer{.body = R"({"request":{"id":3,"method":)"
                                                 R"("fs/read_text_file","params":{"sessionId":"x",)"
                                                 R"("path":"/w/f"}}})"});
  stage.collect();
  const std::string passed = stage.says("fs/read_text_file");
  EXPECT_THAT(passed, HasSubstr(R"("sessionId":"s1","path":"/w/f")"));
  const client::JsonView request(passed);
  stage.editor(R"({"jsonrpc":"2.0","id":)" + std::string(request["id"].raw()) +
               R"(,"result":{"content":"typed"}})");
  EXPECT_EQ(stage.call("POST /api/sessions/s1/lent").request.body,
            R"({"id":3,"result":{"content":"typed"}})");
  EXPECT_THAT(stage.call("POST /api/sessions/s1/lend").request.body, HasSubstr(R"("got":3)"));
  stage.record("run.completed", R"("run_id":"r1","stop_reason":"end_turn")");
  EXPECT_THAT(stage.calls, ::testing::IsEmpty());
}

TEST(Face, L24_an_editor_lends_before_its_prompt_goes_out) {
  FaceOnStage stage;
  stage.editor(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,)"
               R"("clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}}}})");
  stage.open();
  stage.prompt(5, "go");
  ASSERT_GE(stage.calls.size(), 2U);
  EXPECT_EQ(stage.calls[0].request.path, "/api/sessions/s1/lend");
  EXPECT_EQ(stage.calls[1].request.path, "/api/sessions/s1/prompt");
}

TEST(Face, the_first_prompt_names_a_session_that_has_no_title) {
  FaceOnStage stage;
  stage.editor(
      R"({"jsonrpc":"2.0","id":1,"method":"session/resume","params":{"sessionId":"s1","cwd":)"
      R"("/w"}})");
  stage.answer("GET /api/sessions/s1", R"({"session":{"id":"s1","title":"","seq":1}})");
  stage.record("session.created");
  stage.prompt(5, "first");
  stage.prompt(6, "second");
  EXPECT_EQ(stage.call("PATCH /api/sessions/s1").request.body, R"({"title":"first"})");
  for (const CallWish& call : stage.calls) EXPECT_NE(call.request.method, "PATCH");
}

}  // namespace
}  // namespace perdure::face
