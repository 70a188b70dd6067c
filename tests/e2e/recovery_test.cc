// The state after a restart, through the API of a real daemon: the log alone decides, a replay
// starts nothing, and a session that cannot continue says so and stays readable.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "daemon_test.h"
#include "event_reader.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

class Recovery : public DaemonTest {
 protected:
  void begin_again() {
    const Result<> started = daemon_->start();
    ASSERT_TRUE(started) << started.error().message();
  }
  std::string run_once(const ApiClient::NewSession& wanted = {}) {
    const std::string session = client_->create_session(wanted);
    EXPECT_FALSE(session.empty());
    EXPECT_TRUE(client_->prompt({.session = session, .text = "say 2"}).ok());
    EXPECT_TRUE(until_count(session, "run.completed", 1));
    return session;
  }
  // Leaves a session mid-turn, with some text written.
  std::string hang() {
    const std::string session = client_->create_session({});
    EXPECT_TRUE(client_->prompt({.session = session, .text = "say 2; tool 1; hang"}).ok());
    EXPECT_TRUE(until_count(session, "tool.update", 1));
    return session;
  }
  ApiReply post(const std::string& session, const std::string& verb,
                const std::string& body = "{}") {
    return client_->post("/api/sessions/" + session + "/" + verb, body);
  }
  // The number of chunks of its first turn in the transcript: 1, 2, 3 … and nothing else of it.
  std::size_t chunks_shown(const std::string& session) {
    const std::string transcript =
        client_->get("/api/sessions/" + session + "/transcript?limit=500").body;
    std::size_t at = 0;
    for (std::size_t n = 1;; ++n) {
      const std::size_t next = transcript.find("<p1:" + std::to_string(n) + ">", at);
      if (next == std::string::npos) return n - 1;
      at = next;
    }
  }
  std::size_t agents() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        daemon_->processes(),
        [](const MarkedProcess& process) { return process.kind == ProcessKind::agent; }));
  }
};

TEST_F(Recovery, L2_O1_C8_the_log_alone_decides_and_nobody_has_to_look) {
  begin();
  const std::string session = hang();
  const std::vector<std::string> before = client_->records(session);
  daemon_->kill_daemon();
  daemon_->kill_hosted();
  begin_again();
  // The last recorded status is `running`; the served one is derived again.
  EXPECT_EQ(field(session, "status"), "interrupted_startup");
  const std::vector<std::string> after = client_->records(session);
  ASSERT_GT(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], before[i]);
  EXPECT_EQ(client_->count(session, "run.interrupted"), 1u);
  for (int i = 0; i < 2; ++i) {
    daemon_->kill_daemon();
    begin_again();
    EXPECT_EQ(client_->records(session), after);
    EXPECT_EQ(field(session, "status"), "interrupted_startup");
  }
  EXPECT_EQ(agents(), 0u);
}

// The text of a turn is stored before its end: text from before a kill survives it.
TEST_F(Recovery, X2_an_agent_killed_after_the_nth_chunk_leaves_chunks_one_to_n) {
  begin();
  for (const std::size_t n : {1U, 2U, 5U}) {
    const std::string session = client_->create_session({});
    const std::string script = "say " + std::to_string(n) + "; crash kill";
    ASSERT_TRUE(client_->prompt({.session = session, .text = script}).ok());
    ASSERT_TRUE(until_count(session, "agent.exited", 1));
    EXPECT_EQ(chunks_shown(session), n);
  }
}

TEST_F(Recovery, X2_a_kill_of_everything_after_the_nth_chunk_leaves_chunks_one_to_n) {
  begin();
  std::map<std::string, std::size_t> said;
  for (const std::size_t n : {1U, 2U, 5U}) {
    const std::string session = client_->create_session({});
    const std::string script = "say " + std::to_string(n) + "; hang";
    ASSERT_TRUE(client_->prompt({.session = session, .text = script}).ok());
    ASSERT_TRUE(until_count(session, "message.agent", n));
    said[session] = n;
  }
  daemon_->kill_daemon();
  daemon_->kill_hosted();
  begin_again();
  for (const auto& [session, n] : said) EXPECT_EQ(chunks_shown(session), n) << session;
}

// The requirements of a start do not apply to live agents: the config gives their agent another
// name, and permits fewer live agents than there are.
TEST_F(Recovery, PROC3_C19_H3_a_turn_goes_on_whatever_a_new_config_says_of_its_agent) {
  begin();
  const std::vector<std::string> sessions{hang(), hang()};
  daemon_->kill_daemon();
  daemon_->setup().agents = {TestAgentSetup{.name = "renamed"}};
  daemon_->setup().config += "[limits]\nlive_agents = 1\n";
  daemon_->write_config();
  begin_again();
  for (const std::string& session : sessions) {
    ASSERT_TRUE(until_count(session, "executor.reattached", 1)) << session;
    EXPECT_EQ(client_->count(session, "run.interrupted"), 0U);
    EXPECT_EQ(client_->count(session, "executor.stopped"), 0U);
    EXPECT_EQ(field(session, "status"), "running");
  }
  EXPECT_EQ(agents(), 2U);
  // It is not merely alive: requests reach it.
  EXPECT_TRUE(post(sessions[0], "cancel").ok());
  EXPECT_TRUE(until_count(sessions[0], "run.cancelled", 1));
}

TEST_F(Recovery, C13_an_imported_session_has_its_workspace_before_it_has_an_agent) {
  begin();
  const std::string original = run_once();
  const std::string file = client_->get("/api/sessions/" + original + "/export").body;
  const std::string session = client_->post("/api/import", file).at("session_id");
  ASSERT_FALSE(session.empty());
  const std::string folder = daemon_->folder() + "/bound";
  fs::create_directory(folder);
  std::ofstream(folder + "/here.txt") << "text";
  const std::string path = "/api/sessions/" + session;
  const ApiReply bound =
      client_->call({.method = "PATCH", .path = path, .body = R"({"cwd":")" + folder + R"("})"});
  ASSERT_TRUE(bound.ok()) << bound.body;
  const ApiReply listed = client_->get(path + "/fs/list");
  EXPECT_TRUE(listed.ok()) << listed.body;
  EXPECT_NE(listed.body.find("here.txt"), std::string::npos) << listed.body;
  EXPECT_EQ(field(session, "executor_status"), "ready");
  // The newly named agent is started instead.
  const ApiReply resumed = post(session, "resume", R"({"with":"test"})");
  EXPECT_TRUE(resumed.ok()) << resumed.body;
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1"}).ok());
  EXPECT_TRUE(until_count(session, "run.completed", 2));
}

TEST_F(Recovery, H3_a_workspace_takes_no_place_of_an_agent) {
  begin({.config = "[limits]\nlive_agents = 1\n"});
  const std::string held = hang();
  const std::string session = client_->create_session({});
  const std::string path = "/api/sessions/" + session;
  EXPECT_TRUE(client_->get(path + "/fs/list").ok());
  // A shell needs a slot, and so does an agent: each is rejected at once, with the reason.
  const ApiReply refused = client_->post(path + "/shells");
  EXPECT_EQ(refused.at("error.code"), "limit_reached") << refused.body;
  EXPECT_NE(refused.at("error.message").find("live_agents"), std::string::npos) << refused.body;
  EXPECT_TRUE(client_->get(path + "/fs/list").ok());
  client_->prompt({.session = session, .text = "say 1"});
  ASSERT_TRUE(until_count(session, "resume.failed", 1));
  EXPECT_EQ(field(session, "error_code"), "limit_reached");
  EXPECT_EQ(agents(), 1U);
  EXPECT_EQ(client_->count(held, "run.interrupted"), 0U);
  ASSERT_TRUE(post(held, "stop").ok());
  EXPECT_TRUE(until([&] { return post(session, "resume").ok(); }));
  EXPECT_TRUE(client_->post(path + "/queue/release").ok());
  EXPECT_TRUE(until_count(session, "run.completed", 1)) << client_->records(session).back();
}

// An observer looks into idle sessions; then the operator's prompt still gets a slot, also after a
// restart, which finds the agentctls of those looks again.
TEST_F(Recovery, H3_N12_an_observer_takes_nothing_that_an_operator_then_lacks) {
  begin({.config = "[limits]\nlive_agents = 2\n"});
  const std::string held = hang();
  std::vector<std::string> idle;
  for (int i = 0; i < 6; ++i) idle.push_back(client_->create_session({}));
  ApiClient observer(daemon_->endpoint());
  observer.use_token(
      client_->post("/api/tokens", R"({"name":"eye","scopes":["observe"]})").at("text"));
  const auto look = [&] {
    for (const std::string& session : idle) {
      const ApiReply listed = observer.get("/api/sessions/" + session + "/fs/list");
      EXPECT_TRUE(listed.ok()) << listed.body;
    }
  };
  look();
  daemon_->kill_daemon();
  begin_again();
  ASSERT_TRUE(until_count(held, "executor.reattached", 1));
  look();
  ASSERT_TRUE(client_->prompt({.session = idle[3], .text = "say 1"}).ok());
  EXPECT_TRUE(until_count(idle[3], "run.completed", 1));
  EXPECT_EQ(client_->count(idle[3], "resume.failed"), 0U);
  EXPECT_EQ(agents(), 2U);
}

TEST_F(Recovery, H3_of_too_many_workspaces_the_one_used_longest_ago_ends) {
  begin();
  std::vector<std::string> sessions;
  for (std::size_t i = 0; i < workspaces_live_max + 2; ++i) {
    sessions.push_back(client_->create_session({}));
    EXPECT_TRUE(client_->get("/api/sessions/" + sessions.back() + "/fs/list").ok());
    // The first one is viewed repeatedly.
    EXPECT_TRUE(client_->get("/api/sessions/" + sessions.front() + "/fs/list").ok());
  }
  EXPECT_TRUE(until_count(sessions[1], "executor.stopped", 1));
  EXPECT_TRUE(until_count(sessions[2], "executor.stopped", 1));
  EXPECT_EQ(client_->count(sessions[0], "executor.stopped"), 0U);
  EXPECT_EQ(client_->count(sessions[3], "executor.stopped"), 0U);
  EXPECT_TRUE(client_->get("/api/sessions/" + sessions[1] + "/fs/list").ok());
}

TEST_F(Recovery, A1_replay_starts_nothing_and_resume_starts_one_agent) {
  begin();
  const std::string session = run_once();
  daemon_->kill_daemon();
  daemon_->kill_hosted();
  begin_again();
  const std::string path = "/api/sessions/" + session;
  const std::string transcript = client_->get(path + "/transcript").body;
  EXPECT_NE(transcript.find("<p1:end=2>"), std::string::npos) << transcript;
  for (const char* part : {"", "/history", "/events", "/rows?tail=50", "/status"}) {
    EXPECT_TRUE(client_->get(path + part).ok()) << part;
  }
  EXPECT_EQ(agents(), 0u);
  const ApiReply resumed = post(session, "resume");
  EXPECT_TRUE(resumed.ok()) << resumed.body;
  EXPECT_TRUE(until([&] { return agents() == 1; }));
  // The messages are unchanged: a resume adds to the log and repeats nothing.
  EXPECT_EQ(json_list(client_->get(path + "/transcript").body, "messages"),
            json_list(transcript, "messages"));
}

TEST_F(Recovery, A30_a_stream_goes_on_over_stop_and_resume) {
  begin();
  const std::string session = run_once();
  EventReader reader(*client_, session);
  reader.open();
  EXPECT_TRUE(post(session, "stop").ok());
  ASSERT_TRUE(until_count(session, "session.stopped", 1));
  const ApiReply resumed = post(session, "resume");
  ASSERT_TRUE(resumed.ok()) << resumed.body;
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 2));
  const std::vector<std::string> records = client_->records(session);
  EXPECT_TRUE(until([&] {
    client_->io().run_for_ms(20);
    return reader.last() >= records.size();
  }));
  EXPECT_EQ(reader.connections(), 1u);
  EXPECT_EQ(reader.wrong(), "");
}

TEST_F(Recovery, A30_O4_a_question_of_an_agent_that_was_lost_cannot_be_answered) {
  begin();
  const std::string session = client_->create_session({});
  ASSERT_TRUE(client_->prompt({.session = session, .text = "permission 1"}).ok());
  ASSERT_TRUE(until_count(session, "run.waiting", 1));
  std::string permission;
  std::string token;
  for (const std::string& record : client_->records(session)) {
    if (json_at(record, "kind") == "permission.requested") permission = json_at(record, "perm_id");
    if (json_at(record, "kind") == "token.minted") token = json_at(record, "token_id");
  }
  const std::string secret = client_->get("/api/waits/" + token + "/secret").at("secret");
  ASSERT_FALSE(secret.empty());
  const std::string answer =
      R"({"secret":")" + secret + R"(","answer":{"option_id":"allow_once"}})";
  EXPECT_EQ(
      client_->post("/api/waits/" + token, R"({"secret":"no","answer":{"option_id":"allow_once"}})")
          .status,
      401);
  daemon_->kill_daemon();
  daemon_->kill_hosted();
  begin_again();
  EXPECT_EQ(field(session, "status"), "interrupted_waiting");
  const ApiReply late = client_->post("/api/waits/" + token, answer);
  EXPECT_EQ(late.status, 410) << late.body;
  EXPECT_EQ(
      client_->post("/api/permissions/" + permission, R"({"option_id":"allow_once"})").status / 100,
      4);
  EXPECT_EQ(client_->count(session, "run.resumed"), 0u);
  // A new run asks again: with another token, which the old secret does not match.
  ASSERT_TRUE(client_->prompt({.session = session, .text = "permission 1"}).ok());
  post(session, "resume");
  ASSERT_TRUE(until_count(session, "token.minted", 2));
  std::string second;
  for (const std::string& record : client_->records(session)) {
    if (json_at(record, "kind") == "token.minted") second = json_at(record, "token_id");
  }
  EXPECT_NE(second, token);
  EXPECT_EQ(client_->post("/api/waits/" + second, answer).status, 401);
}

TEST_F(Recovery, L9_L14_L19_U13_an_executor_is_found_again_by_its_session) {
  begin();
  const std::string session = run_once();
  const std::string other = run_once();
  const auto row = [&](const std::string& wanted) {
    for (const std::string& each : json_list(client_->get("/api/executors").body, "executors")) {
      if (json_at(each, "session_id") == wanted) return each;
    }
    return std::string();
  };
  const std::string before = row(session);
  ASSERT_EQ(json_at(before, "status"), "ready") << before;
  EXPECT_NE(json_at(before, "id"), json_at(row(other), "id"));
  daemon_->kill_daemon();
  begin_again();
  ASSERT_TRUE(until_count(session, "executor.reattached", 1));
  const std::string after = row(session);
  EXPECT_EQ(json_at(after, "id"), json_at(before, "id"));
  EXPECT_EQ(json_at(after, "pid"), json_at(before, "pid"));
  EXPECT_EQ(json_at(after, "status"), "ready");
  EXPECT_GE(json_at(after, "last_seen_at"), json_at(before, "last_seen_at"));
  EXPECT_NE(client_->get("/metrics").body.find("perdure_attaches_total 2"), std::string::npos);
  EXPECT_EQ(agents(), 2u);
}

TEST_F(Recovery, U13_resumes_are_counted_by_how_they_went) {
  begin();
  const std::string session = run_once();
  const auto counted = [&] {
    const std::string text = client_->get("/metrics").body;
    return text.find("perdure_context_boundaries_total{how=\"native_resume\"} 1") !=
           std::string::npos;
  };
  EXPECT_FALSE(counted());
  ASSERT_TRUE(post(session, "stop").ok());
  ASSERT_TRUE(until_count(session, "session.stopped", 1));
  ASSERT_TRUE(daemon_->until_no_hosted());
  const ApiReply resumed = post(session, "resume");
  ASSERT_TRUE(resumed.ok()) << resumed.body;
  EXPECT_TRUE(until(counted));
}

TEST_F(Recovery, L17_R8_a_folder_that_is_gone_is_named_and_its_return_is_enough) {
  begin();
  const std::string cwd = daemon_->folder() + "/work";
  fs::create_directory(cwd);
  const std::string session = run_once({.more = R"("cwd":")" + cwd + "\""});
  ASSERT_TRUE(post(session, "stop").ok());
  ASSERT_TRUE(daemon_->until_no_hosted());
  fs::rename(cwd, cwd + ".moved");
  const ApiReply refused = post(session, "resume");
  EXPECT_EQ(refused.at("error.code"), "workspace_missing") << refused.body;
  EXPECT_NE(refused.body.find(cwd), std::string::npos) << refused.body;
  EXPECT_NE(refused.at("error.actions"), "[]");
  EXPECT_EQ(agents(), 0u);
  EXPECT_FALSE(fs::exists(cwd));
  EXPECT_TRUE(client_->get("/api/sessions/" + session + "/transcript").ok());
  fs::rename(cwd + ".moved", cwd);
  const ApiReply resumed = post(session, "resume");
  EXPECT_TRUE(resumed.ok()) << resumed.body;
  EXPECT_TRUE(until([&] { return agents() == 1; }));
}

TEST_F(Recovery, L3_agents_that_can_and_cannot_resume_are_told_apart) {
  daemon_ = std::make_unique<DaemonProcess>();
  daemon_->setup().config =
      "[sessions]\ninject = 'off'\n[agents.plain]\nsupports_session_resume = "
      "false\ncommand = ['" PERDURE_TESTAGENT "', '--home', '" +
      daemon_->agent_home() + "', '--switch', 'no_load', '--switch', 'no_resume']\n";
  daemon_->write_config();
  begin_again();
  client_ = std::make_unique<ApiClient>(daemon_->endpoint());
  const std::string able = run_once();
  const std::string plain = run_once({.agent = "plain"});
  EXPECT_EQ(field(able, "acp_caps.resume"), "true");
  EXPECT_EQ(field(plain, "acp_caps.resume"), "false");
  EXPECT_EQ(field(plain, "acp_caps.load"), "false");
  daemon_->kill_daemon();
  daemon_->kill_hosted();
  begin_again();
  EXPECT_EQ(field(able, "needs_resume"), "true");
  EXPECT_EQ(field(able, "is_resumable"), "true");
  EXPECT_EQ(field(able, "resume_reason"), "agent_not_running");
  EXPECT_EQ(field(plain, "is_resumable"), "false");
  EXPECT_EQ(field(plain, "resume_reason"), "not_resumable");
}

TEST_F(Recovery, L4_C6_every_view_of_a_session_agrees) {
  begin();
  const std::string session = client_->create_session({});
  const auto agree = [&](const std::string& state) {
    const ApiReply one = client_->get("/api/sessions/" + session);
    const ApiReply status = client_->get("/api/sessions/" + session + "/status");
    std::string listed;
    for (const std::string& each : json_list(client_->get("/api/sessions").body, "sessions")) {
      if (json_at(each, "id") == session) listed = each;
    }
    std::string executor;
    for (const std::string& each : json_list(client_->get("/api/executors").body, "executors")) {
      if (json_at(each, "session_id") == session) executor = each;
    }
    EXPECT_EQ(one.at("session.state"), state);
    EXPECT_EQ(status.at("state"), state) << status.body;
    EXPECT_EQ(json_at(listed, "state"), state) << listed;
    EXPECT_EQ(one.at("session.executor_status"), json_at(executor, "status")) << executor;
    EXPECT_EQ(status.at("executor_status"), json_at(executor, "status"));
    // The agent's own id, and under its older name.
    EXPECT_EQ(one.at("session.metadata.resume_token"), one.at("session.agent_session_id"));
    EXPECT_EQ(json_at(executor, "resume_token"), one.at("session.agent_session_id"));
  };
  ASSERT_TRUE(client_->prompt({.session = session, .text = "permission 1; hang"}).ok());
  ASSERT_TRUE(until_count(session, "run.waiting", 1));
  const std::string token = field(session, "pending");
  EXPECT_NE(token.find("wt_"), std::string::npos) << token;
  EXPECT_EQ(field(session, "agent_session_id").find("wt_"), std::string::npos);
  ASSERT_TRUE(post(session, "cancel").ok());
  ASSERT_TRUE(until_count(session, "run.cancelled", 1));
  agree(field(session, "state"));
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1; hang"}).ok());
  ASSERT_TRUE(until_count(session, "message.agent", 1));
  agree("RUNNING");
  ASSERT_TRUE(post(session, "stop").ok());
  ASSERT_TRUE(daemon_->until_no_hosted());
  ASSERT_TRUE(until_count(session, "executor.stopped", 1));
  agree(field(session, "state"));
}

TEST_F(Recovery, K28_users_are_recorded_when_sent_and_agents_when_handled) {
  begin();
  const std::string session = hang();
  daemon_->kill_daemon();
  daemon_->kill_hosted();
  begin_again();
  std::vector<std::string> kinds;
  for (const std::string& record : client_->records(session)) {
    const std::string kind = json_at(record, "kind");
    const bool is_talk = kind.starts_with("message.") || kind.starts_with("tool.");
    if (is_talk && (kinds.empty() || kinds.back() != kind)) kinds.push_back(kind);
  }
  // The turn never ended, and all of it is present, in order.
  ASSERT_GE(kinds.size(), 4u);
  EXPECT_EQ(kinds[0], "message.user");
  EXPECT_EQ(kinds[1], "message.agent");
  EXPECT_EQ(kinds[2], "tool.call");
  EXPECT_EQ(kinds[3], "tool.update");
}

TEST_F(Recovery, H3_at_the_limit_new_agents_are_refused_and_old_ones_go_on) {
  begin({.config = "[limits]\nlive_agents = 1\n"});
  const std::string first = run_once();
  const std::string second = client_->create_session({});
  client_->prompt({.session = second, .text = "say 1"});
  ASSERT_TRUE(until([&] {
    return client_->count(second, "executor.error") + client_->count(second, "resume.failed") > 0;
  }));
  EXPECT_NE(field(second, "error_message").find("live_agents"), std::string::npos)
      << field(second, "error_message");
  EXPECT_EQ(agents(), 1u);
  ASSERT_TRUE(client_->prompt({.session = first, .text = "say 1"}).ok());
  EXPECT_TRUE(until_count(first, "run.completed", 2));
  ASSERT_TRUE(post(first, "stop").ok());
  ASSERT_TRUE(daemon_->until_no_hosted());
  // A person releases the held prompt.
  EXPECT_TRUE(until([&] { return post(second, "resume").ok(); }));
  EXPECT_TRUE(until([&] { return agents() == 1; }));
}

}  // namespace
}  // namespace perdure
