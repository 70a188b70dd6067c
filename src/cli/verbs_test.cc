// The verbs against a daemon of prepared answers: what they ask, print and exit with.
#include <gtest/gtest.h>

#include "cli/fake_daemon_for_test.h"

namespace perdure::cli {
namespace {

constexpr const char* session_json =
    R"({"session":{"id":"sess_01hzzzzzparser01","title":"parser","agent":"demo","status":"idle",)"
    R"("state":"WAITING_FOR_INPUT","cwd":"/h/project","seq":3,"log_id":"L","pending":[],)"
    R"("created":"2001-09-09T00:46:40.000Z","updated":"2001-09-09T01:46:40.000Z",)"
    R"("liveness":"alive","executor_status":"ready"}})";
const std::string path = "/api/sessions/sess_01hzzzzzparser01";

class Verbs : public testing::Test {
 protected:
  FakeCli cli;

  void SetUp() override {
    answer("GET /api/sessions/parser", session_json);
    answer("GET " + path, session_json);
    cli.local.version = "1.2.3";
  }
  void answer(const std::string& call, const std::string& body, int status = 200) {
    cli.daemon.answers[call] = {status, body};
  }
  const std::string& printed() const { return cli.console.printed; }
  const std::string& errors() const { return cli.console.errors; }
  bool prints(std::string_view text) const { return printed().find(text) != std::string::npos; }
  bool says(std::string_view text) const { return errors().find(text) != std::string::npos; }
};

TEST_F(Verbs, exit_codes_are_those_that_scripts_rely_on) {
  EXPECT_EQ(cli.run({"version"}), 0);
  EXPECT_EQ(printed(), "perdure 1.2.3\n");
  EXPECT_EQ(cli.run({"--version"}), 0);
  EXPECT_EQ(cli.run({}), 2);
  EXPECT_EQ(cli.run({"nonsense"}), 2);
  EXPECT_EQ(cli.run({"show", "nobody"}), 3);
  const auto refused = [](const char* code) {
    return R"({"error":{"code":")" + std::string(code) +
           R"(","message":"no","actions":["fresh"]}})";
  };
  const std::vector<std::tuple<const char*, int, int>> table = {
      {"conflict", 409, 4},         {"not_resumable", 409, 4},     {"denied", 403, 4},
      {"session_archived", 409, 4}, {"workspace_missing", 409, 4}, {"invalid_argument", 400, 2},
      {"internal", 500, 1},         {"disk_full", 507, 1},         {"unavailable", 503, 1},
      {"a_newer_code", 409, 4},     {"a_newer_code", 404, 3}};
  for (const auto& [code, status, exit] : table) {
    answer("POST " + path + "/resume", refused(code), status);
    EXPECT_EQ(cli.run({"resume", "parser"}), exit) << code;
    EXPECT_TRUE(says("What helps: `perdure resume SESSION --how fresh`")) << code;
  }
  cli.daemon.is_there = false;
  EXPECT_EQ(cli.run({"ls", "--no-start"}), 5);
}

TEST_F(Verbs, an_error_is_json_when_json_was_asked_for) {
  EXPECT_EQ(cli.run({"show", "nobody", "--json"}), 3);
  EXPECT_EQ(errors().substr(0, 29), R"({"error":{"code":"not_found",)");
  EXPECT_EQ(printed(), "");
}

TEST_F(Verbs, D6_inside_a_hosted_session_no_verb_starts_a_daemon) {
  cli.daemon.is_there = false;
  cli.environment["PERDURE_SESSION"] = "sess_x";
  EXPECT_EQ(cli.run({"ls"}), 5);
  EXPECT_EQ(cli.daemon.connects.at(0).start, client::StartPolicy::inside_session);
  cli.environment.erase("PERDURE_SESSION");
  answer("GET /api/sessions", R"({"sessions":[]})");
  EXPECT_EQ(cli.run({"ls"}), 0);
  EXPECT_EQ(cli.daemon.connects.at(1).start, client::StartPolicy::may_start);
}

TEST_F(Verbs, a_daemon_elsewhere_needs_a_token_that_is_not_on_the_command_line) {
  EXPECT_EQ(cli.run({"ls", "--host", "https://x"}), 2);
  cli.environment["PERDURE_TOKEN"] = "perdure_secret";
  answer("GET /api/sessions", R"({"sessions":[]})");
  EXPECT_EQ(cli.run({"ls", "--host", "https://x"}), 0);
  EXPECT_EQ(cli.daemon.connects.at(0).token, "perdure_secret");
  EXPECT_EQ(cli.run({"ls", "--token", "perdure_secret"}), 2);
}

TEST_F(Verbs, ls_shows_who_waits_first_over_all_pages) {
  answer("GET /api/sessions",
         R"({"sessions":[)"
         R"({"id":"sess_aaaaaaaa11111111","title":"quiet","agent":"demo","status":"idle",)"
         R"("state":"COMPLETED","cwd":"/h/a","created":"2001-09-09T01:46:00.000Z",)"
         R"("updated":"2001-09-09T01:46:39.000Z","pending":0},)"
         R"({"id":"sess_bbbbbbbb22222222","title":"a\u001b[2Jsker","agent":"claude",)"
         R"("status":"waiting","state":"WAITING_FOR_INPUT","cwd":"/srv/b",)"
         R"("created":"2001-09-08T01:46:40.000Z","updated":"2001-09-09T01:00:00.000Z",)"
         R"("pending":1,"pending_since":"2001-09-09T01:41:40.000Z"},)"
         R"({"id":"sess_cccccccc33333333","title":"","agent":"demo","status":"idle",)"
         R"("state":"FAILED","cwd":"/h","created":"2001-09-01T01:46:40.000Z",)"
         R"("updated":"2001-09-08T01:00:00.000Z","pending":0,"queue_length":2}],"next":null})");
  EXPECT_EQ(cli.run({"ls"}), 0);
  EXPECT_EQ(printed(),
            "NAME/ID         AGENT   STATUS   WAITS             AGE  CWD\n"
            "asker 22222222  claude  waiting  5m for an answer  24h  /srv/b\n"
            "quiet 11111111  demo    idle     -                 40s  ~/a\n"
            "33333333        demo    failed   2 queued          8d   ~\n");
  EXPECT_EQ(cli.run({"ls", "--json"}), 0);
  EXPECT_EQ(std::ranges::count(printed(), '\n'), 3);
}

TEST_F(Verbs, ls_names_the_nodes_once_a_session_is_another_daemon_s) {
  const std::string ours =
      R"({"id":"sess_aaaaaaaa11111111","title":"ours","agent":"demo","status":"idle",)"
      R"("cwd":"/h/a","created":"2001-09-09T01:46:00.000Z","pending":0,"node":null})";
  const std::string theirs =
      R"({"id":"sess_bbbbbbbb22222222","title":"theirs","agent":"demo","status":"idle",)"
      R"("cwd":"/srv/b","created":"2001-09-09T01:46:00.000Z","pending":0,"node":"b\u001b[2J"})";
  answer("GET /api/sessions", R"({"sessions":[)" + ours + R"(],"next":null})");
  EXPECT_EQ(cli.run({"ls"}), 0);
  EXPECT_EQ(printed(),
            "NAME/ID        AGENT  STATUS  WAITS  AGE  CWD\n"
            "ours 11111111  demo   idle    -      40s  ~/a\n");
  answer("GET /api/sessions", R"({"sessions":[)" + theirs + "," + ours + R"(],"next":null})");
  EXPECT_EQ(cli.run({"ls"}), 0);
  EXPECT_EQ(printed(),
            "NAME/ID          AGENT  STATUS  WAITS  AGE  NODE      CWD\n"
            "ours 11111111    demo   idle    -      40s  this one  ~/a\n"
            "theirs 22222222  demo   idle    -      40s  b         /srv/b\n");
}

TEST_F(Verbs, without_a_session_the_newest_of_this_folder_is_meant) {
  answer(
      "GET /api/sessions",
      R"({"sessions":[{"id":"sess_other","cwd":"/elsewhere","updated":"2002-01-01T00:00:00.000Z"},)"
      R"({"id":"sess_01hzzzzzparser01","cwd":"/h/project",)"
      R"("updated":"2001-01-01T00:00:00.000Z"}]})");
  answer("GET " + path + "/status", R"({"status":"idle"})");
  EXPECT_EQ(cli.run({"status"}), 0);
  EXPECT_EQ(printed(), "idle\n");
}

TEST_F(Verbs, run_makes_a_session_here_and_prints_until_the_run_ends) {
  answer("POST /api/sessions", session_json, 201);
  cli.daemon.records = {R"({"kind":"run.started","run_id":"run_1","seq":1})",
                        R"({"kind":"message.agent","text":"Hello\n","seq":2})",
                        R"({"kind":"run.completed","run_id":"run_1","seq":3})",
                        R"({"kind":"message.agent","text":"too late\n","seq":4})"};
  EXPECT_EQ(cli.run({"run", "demo", "say", "hello"}), 0);
  EXPECT_EQ(cli.daemon.sent("POST /api/sessions"),
            R"({"agent":"demo","cwd":"/h/project","prompt":"say hello"})");
  EXPECT_EQ(printed(), "\nHello\n");
  cli.daemon.records[2] = R"({"kind":"run.failed","run_id":"run_1","message":"no key"})";
  EXPECT_EQ(cli.run({"run", "demo", "x", "--json"}), 1);
  EXPECT_EQ(std::ranges::count(printed(), '\n'), 3);
}

TEST_F(Verbs, run_fails_when_the_agent_does_not_start) {
  answer("POST /api/sessions", session_json, 201);
  cli.daemon.records = {R"({"kind":"session.created"})",
                        R"({"kind":"resume.failed","message":"no such program"})"};
  EXPECT_EQ(cli.run({"run", "demo", "hi"}), 1);
  EXPECT_TRUE(prints("the agent did not come back: no such program"));
  cli.daemon.records[1] = R"({"kind":"resume.failed","gen":1,"message":"no such program"})";
  EXPECT_EQ(cli.run({"run", "demo", "hi"}), 1);
  EXPECT_TRUE(prints("no agent: no such program"));
}

TEST_F(Verbs, C13_resume_can_bind_a_session_to_a_folder_first) {
  answer("PATCH " + path, session_json);
  answer("POST " + path + "/resume", R"({"receipt":{"rung_name":"new"}})");
  EXPECT_EQ(cli.run({"resume", "parser", "--cwd", "there"}), 0);
  EXPECT_EQ(cli.daemon.sent("PATCH " + path), R"({"cwd":"/h/project/there"})");
  EXPECT_EQ(cli.daemon.sent("POST " + path + "/resume"), "{}");
  EXPECT_EQ(cli.run({"resume", "parser", "--cwd", "."}), 0);
  EXPECT_EQ(cli.daemon.sent("PATCH " + path), R"({"cwd":"/h/project"})");
  EXPECT_EQ(cli.daemon.sent("POST " + path + "/queue/release"), "(never called)");
}

TEST_F(Verbs, resume_lets_held_prompts_go_on_when_asked_to) {
  answer("POST " + path + "/resume", R"({"receipt":{"rung_name":"resume"}})");
  answer("POST " + path + "/queue/release", session_json);
  EXPECT_EQ(cli.run({"resume", "parser", "--release"}), 0);
  EXPECT_EQ(cli.daemon.sent("POST " + path + "/queue/release"), "{}");
}

TEST_F(Verbs, run_attaches_on_a_terminal_and_leaves_with_d) {
  answer("POST /api/sessions", session_json, 201);
  cli.console.interactive = true;
  EXPECT_EQ(cli.run({"run", "demo", "x"}), 0);
  EXPECT_EQ(cli.attached.size(), 1U);
  EXPECT_EQ(cli.run({"run", "-d", "demo", "-"}), 0);
  EXPECT_EQ(cli.attached.size(), 1U);
  EXPECT_EQ(printed(), "sess_01hzzzzzparser01\n");
}

TEST_F(Verbs, send_says_where_the_prompt_went_and_can_wait_for_its_own_run) {
  answer("POST " + path + "/prompt",
         R"({"seq":4,"message_id":"msg_2","placed":"queued","queue_position":2})");
  cli.console.input = "from stdin";
  EXPECT_EQ(cli.run({"send", "parser", "-", "--interrupt"}), 0);
  EXPECT_EQ(cli.daemon.sent("POST " + path + "/prompt"),
            R"({"text":"from stdin","when":"interrupt"})");
  EXPECT_EQ(printed(), "queued as number 2\n");
  answer("POST " + path + "/prompt",
         R"({"session":{"status":"idle"},"seq":4,"message_id":"msg_2","placed":"queued",)"
         R"("queue_position":1})");
  EXPECT_EQ(cli.run({"send", "parser", "x"}), 0);
  EXPECT_EQ(printed(), "accepted; it starts when the agent is ready\n");
  cli.daemon.records = {"{}",
                        "{}",
                        "{}",
                        R"({"kind":"run.completed","run_id":"run_1"})",
                        R"({"kind":"run.started","run_id":"run_2","message_id":"msg_2"})",
                        R"({"kind":"run.cancelled","run_id":"run_2"})"};
  EXPECT_EQ(cli.run({"send", "parser", "x", "--wait"}), 1);
  EXPECT_EQ(cli.run({"send", "parser", ""}), 2);
}

TEST_F(Verbs, wait_ends_with_124_when_it_is_still_running) {
  std::string running = session_json;
  running.replace(running.find("idle"), 4, "running");
  answer("GET /api/sessions/parser", running);
  answer("GET " + path, running);
  EXPECT_EQ(cli.run({"wait", "parser", "--timeout", "10s"}), 124);
  EXPECT_EQ(printed(), "running\n");
  EXPECT_GE(cli.daemon.now_ms, 10'000);
  answer("GET " + path, session_json);
  cli.daemon.records = {"{}", "{}", "{}", R"({"kind":"run.completed","run_id":"run_1"})"};
  EXPECT_EQ(cli.run({"wait", "parser"}), 0);
  EXPECT_EQ(printed(), "completed\n");
  cli.daemon.records[3] = R"({"kind":"permission.requested","perm_id":"p"})";
  EXPECT_EQ(cli.run({"wait", "parser", "--or-question"}), 4);
}

TEST_F(Verbs, wait_says_when_the_session_waits_for_a_person) {
  std::string waiting = session_json;
  waiting.replace(waiting.find("idle"), 4, "waiting");
  answer("GET /api/sessions/parser", waiting);
  answer("GET " + path, waiting);
  EXPECT_EQ(cli.run({"wait", "parser", "--timeout", "10s"}), 124);
  EXPECT_TRUE(says("it waits for an answer: `perdure approve parser01`"));
}

TEST_F(Verbs, what_helps_is_something_to_type_and_fits_the_verb) {
  cli.daemon.answers["POST /api/sessions"] = {
      .status = 404,
      .body =
          R"({"error":{"code":"agent_unknown","message":"m","actions":["agents","handover"]}})"};
  EXPECT_EQ(cli.run({"new", "x"}), 3);
  EXPECT_TRUE(says("What helps: `perdure agents ls`\n"));
}

TEST_F(Verbs, A4_resume_prints_its_receipt_in_words) {
  answer("POST " + path + "/resume",
         R"({"session":{},"receipt":{"rung_name":"inject","verified":"none","inject_armed":true,)"
         R"("lost":["tool output beyond 500 characters"],)"
         R"("reason":"the agent does not know the session",)"
         R"("attempts":[{"method":"load","failure":"session_unknown",)"
         R"("message":"no such session"}]}})");
  EXPECT_EQ(cli.run({"session", "resume", "parser", "--strict", "--how", "auto"}), 0);
  EXPECT_EQ(cli.daemon.sent("POST " + path + "/resume"), R"({"how":"auto","strict":true})");
  EXPECT_EQ(printed(),
            "The agent started anew; the history goes along with a prompt.\n"
            "The history goes along with the next prompt.\n"
            "Lost: tool output beyond 500 characters\n"
            "Why not better: the agent does not know the session.\n"
            "Tried session/load: session_unknown (no such session).\n");
}

TEST_F(Verbs, A14_repair_dry_run_shows_what_would_be_done) {
  answer("POST " + path + "/repair",
         R"({"dry_run":true,"records":[{"kind":"repair.closed_message"},)"
         R"({"kind":"repair.closed_tool","tool_call_id":"t1","outcome":"unknown"},)"
         R"({"kind":"run.interrupted","reason":"process_exit"}]})");
  EXPECT_EQ(cli.run({"session", "repair", "parser", "--dry-run"}), 0);
  EXPECT_EQ(printed(),
            "would: close the message that was being written\n"
            "would: close the tool call t1 as unknown\n"
            "would: end the run as interrupted: the agent's process ended\n");
  EXPECT_EQ(cli.daemon.calls.back().query,
            (std::vector<std::pair<std::string, std::string>>{{"dry_run", "1"}}));
}

TEST_F(Verbs, A18_events_last_n_are_raw_records) {
  answer(
      "GET " + path + "/events",
      R"({"events":[{"seq":2,"ts":"2001-09-09T01:46:40.000Z","kind":"message.agent","text":"hi"},)"
      R"({"seq":3,"ts":"2001-09-09T01:46:41.000Z","kind":"run.completed"}],"more":false})");
  EXPECT_EQ(cli.run({"session", "events", "parser", "--last", "2"}), 0);
  EXPECT_EQ(cli.daemon.calls.back().query.at(0).second, "1");
  EXPECT_TRUE(prints("2      01:46:40 message.agent          hi\n"));
  EXPECT_EQ(cli.run({"events", "parser", "--last", "2", "--json"}), 0);
  EXPECT_TRUE(prints(R"("kind":"run.completed"})"));
  EXPECT_EQ(std::ranges::count(printed(), '\n'), 2);
  EXPECT_EQ(cli.run({"events", "parser", "--last", "2", "--after", "1"}), 2);
}

TEST_F(Verbs, A18_events_that_are_followed_are_records_too) {
  answer("GET " + path + "/events",
         R"({"events":[{"seq":3,"ts":"2001-09-09T01:46:40.000Z","kind":"plan"}],"more":false})");
  cli.daemon.records = {"{}", "{}", "{}",
                        R"({"seq":4,"ts":"2001-09-09T01:46:41.000Z","kind":"message.agent",)"
                        R"("text":"hi"})",
                        R"({"seq":5,"ts":"2001-09-09T01:46:42.000Z","kind":"plan","text":"p"})"};
  cli.daemon.refusal = {.status = 403, .code = "denied", .message = "revoked"};
  EXPECT_EQ(cli.run({"events", "parser", "--last", "1", "-f"}), 4);
  EXPECT_EQ(printed(),
            "3      01:46:40 plan                   \n"
            "4      01:46:41 message.agent          hi\n"
            "5      01:46:42 plan                   p\n");
  EXPECT_EQ(cli.run({"events", "parser", "--after", "3", "--kind", "plan", "-f", "--json"}), 4);
  EXPECT_EQ(std::ranges::count(printed(), '\n'), 1);
}

TEST_F(Verbs, the_last_of_a_kind_may_lie_anywhere) {
  answer("GET " + path + "/events",
         R"({"events":[{"seq":1,"kind":"plan"},{"seq":2,"kind":"plan"}],"more":false})");
  EXPECT_EQ(cli.run({"events", "parser", "--last", "1", "--kind", "plan", "--json"}), 0);
  EXPECT_EQ(cli.daemon.calls.back().query.at(0),
            (std::pair<std::string, std::string>{"after", "0"}));
  EXPECT_EQ(printed(), R"({"seq":2,"kind":"plan"})"
                       "\n");
}

TEST_F(Verbs, A19_history_is_grouped_by_turn) {
  answer("GET " + path + "/history",
         R"({"has_older":false,"turns":[{"run_id":"run_1","first_seq":1,)"
         R"("started":"2001-09-09T01:46:40.000Z",)"
         R"("end":"completed","entries":[{"type":"user_message","text":"hi"},)"
         R"({"type":"agent_message","text":"hello\nthere"},)"
         R"({"type":"tool_call","tool_name":"Read","text":"a.txt"}]}]})");
  EXPECT_EQ(cli.run({"session", "history", "parser"}), 0);
  EXPECT_EQ(printed(),
            "Turn 1  2001-09-09T01:46:40.000Z  completed\n❯ hi\n  hello\n  there\n◌ Read a.txt\n");
}

TEST_F(Verbs, A29_transcript_prints_the_conversation) {
  answer("GET " + path + "/transcript",
         R"({"has_older":false,"messages":[{"role":"user","content":"hi","first_seq":1},)"
         R"({"role":"assistant","content":"**hello**","first_seq":2}]})");
  EXPECT_EQ(cli.run({"session", "transcript", "parser"}), 0);
  EXPECT_EQ(printed(), "\n❯ hi\n\nhello\n");
  EXPECT_EQ(cli.run({"transcript", "parser", "--markdown"}), 0);
  EXPECT_EQ(cli.daemon.calls.back().accept, "text/markdown");
}

TEST_F(Verbs, U11_rm_asks_and_deletes_with_confirmation) {
  answer("DELETE " + path, "{}");
  EXPECT_EQ(cli.run({"rm", "parser"}), 2);
  cli.console.typed = "n";
  EXPECT_EQ(cli.run({"rm", "parser"}), 4);
  EXPECT_EQ(cli.daemon.sent("DELETE " + path), "(never called)");
  cli.console.typed = "y";
  EXPECT_EQ(cli.run({"rm", "parser"}), 0);
  EXPECT_EQ(cli.daemon.calls.back().query.at(0),
            (std::pair<std::string, std::string>{"confirm", "true"}));
}

constexpr const char* one_question =
    R"({"items":[{"kind":"permission","session_id":"sess_01hzzzzzparser01",)"
    R"("session_title":"parser",)"
    R"("text":"Run make?","age_ms":65000,"perm_id":"perm_01abcdefgh","options":[)"
    R"({"option_id":"ok","name":"Allow","kind":"allow_once"},)"
    R"({"option_id":"ever","name":"Always","kind":"allow_always"},)"
    R"({"option_id":"no","name":"Reject","kind":"reject_once"}]}]})";

TEST_F(Verbs, approve_and_deny_find_the_question_and_never_choose_always) {
  answer("GET /api/inbox", one_question);
  answer("POST /api/permissions/perm_01abcdefgh", R"({"outcome":"selected"})");
  const auto sent = [&] { return cli.daemon.sent("POST /api/permissions/perm_01abcdefgh"); };
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"approve"},
                                             {"approve", "parser"},
                                             {"approve", "perm_01abcdefgh"},
                                             {"approve", "efgh"}}) {
    cli.daemon.calls.clear();
    EXPECT_EQ(cli.run(words), 0);
    EXPECT_EQ(sent(), R"({"option_id":"ok"})");
  }
  EXPECT_EQ(cli.run({"deny", "parser"}), 0);
  EXPECT_EQ(sent(), R"({"option_id":"no"})");
  EXPECT_EQ(cli.run({"approve", "--option", "ever"}), 0);
  EXPECT_EQ(sent(), R"({"option_id":"ever"})");
  EXPECT_EQ(cli.run({"approve", "--option", "other"}), 2);
  EXPECT_EQ(cli.run({"approve", "perm_nothing"}), 3);
  answer("GET /api/inbox", R"({"items":[]})");
  EXPECT_EQ(cli.run({"approve"}), 3);
}

TEST_F(Verbs, inbox_tells_what_waits) {
  answer("GET /api/inbox", one_question);
  EXPECT_EQ(cli.run({"inbox"}), 0);
  EXPECT_TRUE(prints("1m   permission  parser parser01"));
  EXPECT_TRUE(prints("perm_01abcdefgh: ok, ever, no"));
}

TEST_F(Verbs, why_speaks_in_sentences) {
  std::string json = session_json;
  json.replace(json.find("\"idle\""), 6, "\"interrupted_startup\"");
  json.insert(json.find("\"pending\""),
              R"("needs_resume":true,"resume_reason":"agent_not_running",)");
  answer("GET /api/sessions/parser", json);
  EXPECT_EQ(cli.run({"why", "parser"}), 0);
  EXPECT_TRUE(prints("was interrupted: its last run was under way"));
  EXPECT_TRUE(prints("`perdure resume parser01` or the next prompt brings it back."));
}

TEST_F(Verbs, doctor_works_without_a_daemon_and_fails_by_its_checks) {
  cli.daemon.is_there = false;
  cli.local.doctor = [] { return std::vector<DoctorCheck>{{"disk", "ok", "12 GiB free", ""}}; };
  EXPECT_EQ(cli.run({"doctor"}), 0);
  EXPECT_TRUE(prints("ok   disk           12 GiB free\n"));
  EXPECT_TRUE(prints("warn daemon"));
  cli.local.doctor = [] {
    return std::vector<DoctorCheck>{{"sqlite", "fail", "too old", "upgrade it"}};
  };
  EXPECT_EQ(cli.run({"doctor"}), 1);
  EXPECT_TRUE(prints("→ upgrade it"));
}

TEST_F(Verbs, nodes_shows_the_daemons_of_a_database_and_doctor_who_is_silent) {
  cli.daemon.answers["GET /api/nodes"] = {.body = R"({"nodes":[]})"};
  cli.daemon.answers["GET /api/agents"] = {.body = R"({"agents":[]})"};
  EXPECT_EQ(cli.run({"nodes"}), 0);
  EXPECT_TRUE(prints("One daemon has this journal for itself."));
  cli.daemon.answers["GET /api/nodes"] = {
      .body = R"({"nodes":[{"name":"a","address":"unix:/x","home":"0123456789","heard_ms":0,)"
              R"("self":true,"silent":false},{"name":"b","address":"https://b:7433","home":"ff",)"
              R"("heard_ms":42000,"self":false,"silent":true}]})"};
  EXPECT_EQ(cli.run({"nodes"}), 0);
  EXPECT_TRUE(prints("a                   this one            01234567  unix:/x\n"));
  EXPECT_TRUE(prints("b                   silent for 42 s     ff        https://b:7433\n"));
  EXPECT_EQ(cli.run({"doctor"}), 0);
  EXPECT_TRUE(prints("2 daemons share the database; nothing is heard of b"));
}

TEST_F(Verbs, verbs_of_the_data_folder_use_what_main_gives) {
  cli.daemon.is_there = false;
  EXPECT_EQ(cli.run({"verify"}), 1);
  cli.local.verify = [](const std::string&) -> Result<VerifyReport> {
    return VerifyReport{.sessions = 2, .records = 9, .damaged = {{"sess_x", 4, "bit rot"}}};
  };
  EXPECT_EQ(cli.run({"verify"}), 1);
  EXPECT_TRUE(prints("damaged: sess_x is good up to record 4: bit rot"));
  EXPECT_EQ(cli.run({"store", "salvage", "--yes"}), 1);
  cli.local.store_salvage = [](const std::string& place) -> Result<SalvageReport> {
    return SalvageReport{.kept = {"/d" + place + "-wal.damaged"},
                         .indexes_rebuilt = 3,
                         .sessions = 2,
                         .records = 9,
                         .damaged = {}};
  };
  EXPECT_EQ(cli.run({"store", "salvage"}), 2) << "nobody is there to ask";
  EXPECT_EQ(cli.run({"store", "salvage", "/x", "--yes"}), 0);
  EXPECT_TRUE(prints("the damaged log is kept: /d/x-wal.damaged"));
  EXPECT_TRUE(prints("damaged for 3 sessions"));
  EXPECT_EQ(cli.run({"store", "salvage", "--yes", "--json"}), 0);
  EXPECT_TRUE(prints(R"("indexes_rebuilt":3)"));
  cli.local.backup = [](const std::string&) -> Result<FileReport> {
    return fail(Code::conflict, "a daemon holds the folder");
  };
  EXPECT_EQ(cli.run({"backup", "f"}), 4);
  cli.daemon.is_there = true;
  answer("POST /api/backup", R"({"path":"/h/project/f"})");
  EXPECT_EQ(cli.run({"backup", "f"}), 0);
  EXPECT_EQ(cli.daemon.sent("POST /api/backup"), R"({"path":"/h/project/f"})");
  cli.local.gc = [](const GcLocally& wanted) -> Result<GcReport> {
    return GcReport{.dry_run = wanted.dry_run, .bytes = 10, .removed = {"a blob"}};
  };
  cli.daemon.is_there = false;
  EXPECT_EQ(cli.run({"gc"}), 2);
  EXPECT_EQ(cli.run({"gc", "--dry-run"}), 0);
  EXPECT_TRUE(prints("would free 10 bytes"));
  ServeOptions served;
  cli.local.serve = [&](const ServeOptions& options) {
    served = options;
    return 7;
  };
  EXPECT_EQ(cli.run({"serve", "--lease", "soon"}), 2);
  EXPECT_EQ(cli.run({"serve", "--lease", "2", "--executions", "/e", "--advertise", "unix:/s"}), 7);
  EXPECT_EQ(served.lease_secs, 2);
  EXPECT_EQ(served.executions + " " + served.advertise, "/e unix:/s");
  EXPECT_EQ(cli.run({"serve", "--listen", "127.0.0.1:1", "--background", "--clean-start"}), 7);
  EXPECT_EQ(served.listen, std::vector<std::string>{"127.0.0.1:1"});
  EXPECT_TRUE(served.background && served.clean_start && !served.stop);
  EXPECT_EQ(cli.run({"serve", "--stop"}), 7);
  EXPECT_TRUE(served.stop);
  cli.environment["PERDURE_SESSION"] = "sess_x";
  EXPECT_EQ(cli.run({"serve", "--stop"}), 4);
  cli.environment.erase("PERDURE_SESSION");
  for (const auto& settings : cli.daemon.connects) {
    EXPECT_EQ(settings.start, client::StartPolicy::never);
  }
}

TEST_F(Verbs, C20_a_restore_names_what_is_damaged_and_brings_back_the_rest) {
  cli.daemon.is_there = false;
  cli.local.restore = [](const RestoreLocally& wanted) -> Result<FileReport> {
    return FileReport{.file = wanted.file,
                      .sessions = 2,
                      .bytes = 10,
                      .damaged = {{"sess_x", 4, "bit rot"}, {"", 0, "a torn end was cut"}}};
  };
  EXPECT_EQ(cli.run({"restore", "f"}), 0) << "what can be read is back";
  EXPECT_TRUE(prints("restored 2 sessions, 10 bytes: f"));
  EXPECT_TRUE(prints("Warning: not all of it is as it was written."));
  EXPECT_TRUE(prints("damaged: sess_x is good up to record 4: bit rot"));
  EXPECT_TRUE(prints("damaged: a torn end was cut"));
  EXPECT_EQ(cli.run({"restore", "f", "--json"}), 0);
  EXPECT_TRUE(prints(R"("session_id":"sess_x","good_records":4)"));
}

TEST_F(Verbs, U9_acp_hands_its_agent_and_session_to_the_bridge) {
  EXPECT_EQ(cli.run({"acp"}), 1) << "no bridge is wired";
  BridgeOptions given;
  cli.local.acp = [&](const BridgeWorld& world, const BridgeOptions& options) {
    given = options;
    EXPECT_TRUE(world.revive().has_value());
    return 7;
  };
  cli.daemon.answers["GET /api/sessions/fix"] = {200, R"({"session":{"id":"sess_1"}})"};
  EXPECT_EQ(cli.run({"acp", "--agent", "claude", "--session", "fix"}), 7);
  EXPECT_EQ(given.agent, "claude");
  EXPECT_EQ(given.session, "sess_1");
  EXPECT_EQ(cli.daemon.connects.back().start, client::StartPolicy::may_start);
  EXPECT_EQ(cli.run({"acp", "--session", "none"}), 3);
}

TEST_F(Verbs, help_is_there_for_every_way_of_asking) {
  EXPECT_EQ(cli.run({"help"}), 0);
  EXPECT_TRUE(prints("Usage: perdure VERB"));
  EXPECT_EQ(cli.run({"--help"}), 0);
  EXPECT_EQ(cli.run({"help", "resume"}), 0);
  const std::string text = printed();
  EXPECT_EQ(cli.run({"resume", "--help"}), 0);
  EXPECT_EQ(printed(), text);
  EXPECT_EQ(cli.run({"help", "token"}), 0);
  EXPECT_TRUE(prints("token revoke"));
  EXPECT_EQ(cli.run({"help", "resmue"}), 2);
  EXPECT_TRUE(says("did you mean resume?"));
}

TEST_F(Verbs, token_create_shows_it_once_and_open_prints_a_url) {
  answer("POST /api/tokens", R"({"token":{"id":"tok_1"},"text":"perdure_x"})");
  EXPECT_EQ(cli.run({"token", "create", "ci", "--scope", "observe", "--expires", "1d"}), 0);
  EXPECT_EQ(printed(), "perdure_x\n");
  EXPECT_EQ(cli.daemon.sent("POST /api/tokens"),
            R"({"name":"ci","scopes":["observe"],"expires":"2001-09-10T01:46:40.000Z"})");
  answer("POST /api/launch", R"({"url":"http://127.0.0.1:7433/#launch=abc"})");
  EXPECT_EQ(cli.run({"open"}), 0);
  EXPECT_EQ(printed(), "http://127.0.0.1:7433/#launch=abc\n");
}

TEST_F(Verbs, U15_completing_never_starts_a_daemon) {
  cli.daemon.is_there = false;
  EXPECT_EQ(cli.run({"__complete", "--", "attach", ""}), 0);
  EXPECT_EQ(printed(), "");
  EXPECT_EQ(cli.daemon.connects.at(0).start, client::StartPolicy::never);
  cli.daemon.is_there = true;
  answer("GET /api/sessions", R"({"sessions":[{"id":"sess_1","title":"a\u001b[1mb"}]})");
  EXPECT_EQ(cli.run({"__complete", "--", "attach", "sess"}), 0);
  EXPECT_EQ(printed(), "sess_1\tab\n");
}

TEST_F(Verbs, a_title_is_completed_when_it_names_one_session_and_is_one_word) {
  answer("GET /api/sessions",
         R"({"sessions":[{"id":"sess_00000001","title":"parser"},{"id":"sess_2","title":"two"},)"
         R"({"id":"sess_3","title":"two"},{"id":"sess_4","title":"par ser"}]})");
  EXPECT_EQ(cli.run({"__complete", "--", "attach", "p"}), 0);
  EXPECT_EQ(printed(), "parser\t00000001\n");
  EXPECT_EQ(cli.run({"__complete", "--", "attach", "t"}), 0);
  EXPECT_EQ(printed(), "");
}

}  // namespace
}  // namespace perdure::cli
