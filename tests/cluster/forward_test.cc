// Two real daemons on one database: a request to the daemon that does not own the session is
// executed by its owner, with the same response.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cluster_run.h"
#include "env/posix/confine/confine.h"
#include "testing/postgres/postgres_server.h"

namespace perdure {
namespace {

// Output of a shell in the session, requested from this daemon.
std::string shell_output(ApiClient& api, const std::string& session, const std::string& command) {
  const std::string path = "/api/sessions/" + session + "/shells";
  JsonWriter open;
  open.begin_object().key("command").begin_array();
  open.string("/bin/sh").string("-c").string(command + " 2>&1").end_array().end_object();
  const ApiReply opened = api.post(path, std::move(open).take());
  EXPECT_TRUE(opened.ok()) << opened.body;
  std::string text;
  EXPECT_TRUE(until([&] {
    const ApiReply read = api.get(path + "/read?offset=0&shell=" + opened.at("shell"));
    text = read.at("text");
    return read.ok() && read.at("exit") != "null";
  }));
  return text;
}

class Forward : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = PostgresServer::missing(); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
    run_ = std::make_unique<ClusterRun>(ClusterRun::Setup{
        .store = PostgresServer::shared().new_database(), .nodes = 2, .clients = 0});
    const Result<> started = run_->start_all();
    ASSERT_TRUE(started) << started.error().message();
    here_ = std::make_unique<ApiClient>(run_->node(0).endpoint());
    there_ = std::make_unique<ApiClient>(run_->node(1).endpoint());
    session_ = here_->create_session({});
    ASSERT_FALSE(session_.empty());
  }
  std::string path(const std::string& rest = "") const {
    return "/api/sessions/" + session_ + rest;
  }
  void prompt_and_wait(ApiClient& api, const std::string& text, const std::string& key) {
    const std::size_t before = here_->count(session_, "run.completed");
    const ApiReply reply = api.prompt({.session = session_, .text = text, .key = key});
    ASSERT_TRUE(reply.ok()) << reply.body;
    ASSERT_TRUE(until([&] { return here_->count(session_, "run.completed") > before; }));
  }
  std::string in_shell(const std::string& command) {
    return shell_output(*there_, session_, command);
  }

  std::unique_ptr<ClusterRun> run_;
  std::unique_ptr<ApiClient> here_;
  std::unique_ptr<ApiClient> there_;
  std::string session_;
};

TEST_F(Forward, each_daemon_knows_the_other_and_whose_the_session_is) {
  EXPECT_EQ(here_->get(path()).at("session.node"), "null");
  EXPECT_EQ(there_->get(path()).at("session.node"), "n1");
  const auto node_of_row = [](ApiClient& api) {
    return json_at(json_list(api.get("/api/sessions").body, "sessions").at(0), "node");
  };
  EXPECT_EQ(node_of_row(*here_), "null");
  EXPECT_EQ(node_of_row(*there_), "n1");
  const std::vector<std::string> nodes = json_list(there_->get("/api/nodes").body, "nodes");
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(json_at(nodes[0], "name"), "n1");
  EXPECT_EQ(json_at(nodes[0], "address"), "unix:" + run_->node(0).home() + "/run/perdure.sock");
  EXPECT_EQ(json_at(nodes[0], "self"), "false");
  EXPECT_EQ(json_at(nodes[1], "self"), "true");
  EXPECT_EQ(json_at(nodes[0], "home"), json_at(nodes[1], "home"));
  const ProgramRun shown = run_program({PERDURE_PROGRAM, "nodes"}, run_->node(1).environment());
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_NE(shown.output.find("n1"), std::string::npos) << shown.output;
  EXPECT_NE(there_->get("/metrics").body.find("perdure_nodes{state=\"heard\"} 2"),
            std::string::npos);
}

TEST_F(Forward, G2_a_prompt_at_the_other_daemon_is_the_owners_and_counts_once) {
  prompt_and_wait(*there_, "say 2", "k1");
  const ApiReply again = here_->prompt({.session = session_, .text = "say 2", .key = "k1"});
  const ApiReply there = there_->prompt({.session = session_, .text = "say 2", .key = "k1"});
  EXPECT_TRUE(again.ok());
  EXPECT_EQ(again.at("message_id"), there.at("message_id"));
  EXPECT_EQ(here_->count(session_, "message.user"), 1U);
  EXPECT_EQ(there_->prompt({.session = session_, .text = "other", .key = "k1"}).status, 409);
  EXPECT_EQ(here_->records(session_), there_->records(session_));
}

TEST_F(Forward, L20_L24_files_git_and_shells_of_the_other_daemons_session) {
  EXPECT_TRUE(there_->post(path("/fs/write"), R"({"path":"a.txt","text":"words"})").ok());
  EXPECT_EQ(there_->get(path("/fs/read?path=a.txt")).at("text"), "words");
  EXPECT_EQ(here_->get(path("/fs/read?path=a.txt")).at("text"), "words");
  const ApiReply missing = there_->get(path("/fs/read?path=none.txt"));
  EXPECT_EQ(missing.status, here_->get(path("/fs/read?path=none.txt")).status);
  EXPECT_EQ(missing.at("error.code"), "not_found");
  EXPECT_NE(in_shell("cat a.txt").find("words"), std::string::npos);
}

TEST_F(Forward, TOK3_agents_see_neither_the_data_folders_nor_the_shared_executions) {
  const Confinement here = try_namespaces();
  if (here.level == ConfinementLevel::none) GTEST_SKIP() << here.reason;
  const std::string executions = run_->executions();
  const std::string own = run_->node(0).home();
  EXPECT_EQ(in_shell("ls " + executions), "workspaces\r\n") << "its own folder is in there";
  EXPECT_NE(in_shell("ls " + executions + "/spool").find("No such"), std::string::npos);
  EXPECT_NE(in_shell("cat " + own + "/token").find("No such"), std::string::npos);
  EXPECT_NE(in_shell("ls " + own + "/run").find("perdure.sock"), std::string::npos);
}

// The layout that docs/operations/many-nodes.md recommends.
TEST(SharedFolder, TOK3_agents_see_no_data_folder_inside_of_the_shared_executions) {
  if (const std::string reason = PostgresServer::missing(); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const Confinement here = try_namespaces();
  if (here.level == ConfinementLevel::none) GTEST_SKIP() << here.reason;
  DaemonProcess folders;  // and ends all remaining processes
  const std::string shared = folders.folder() + "/shared";
  const std::string own = shared + "/a";
  std::filesystem::create_directories(shared + "/b");
  std::filesystem::permissions(shared, std::filesystem::perms::owner_all);
  std::vector<std::string> environment = folders.environment();
  std::erase_if(environment, [](const auto& entry) { return entry.starts_with("PERDURE_HOME="); });
  environment.push_back("PERDURE_HOME=" + own);
  const ProgramRun started =
      run_program({PERDURE_PROGRAM, "serve", "--background", "--store",
                   PostgresServer::shared().new_database(), "--executions", shared},
                  environment);
  ASSERT_EQ(started.exit_code, 0) << started.output;
  ApiClient api({.unix_folder = own + "/run", .unix_name = "perdure.sock"});
  const std::string session = api.create_session({});
  const auto sees = [&](const std::string& path) {
    return shell_output(api, session, "test -e " + path + " && echo yes") == "yes\r\n";
  };
  EXPECT_TRUE(sees("."));
  EXPECT_TRUE(sees(own + "/run/perdure.sock"));
  EXPECT_FALSE(sees(own + "/token"));
  EXPECT_FALSE(sees(shared + "/b"));
  EXPECT_FALSE(sees(shared + "/spool"));
  EXPECT_FALSE(sees(shared + "/run/agentctl"));
  EXPECT_EQ(run_program({PERDURE_PROGRAM, "serve", "--stop"}, environment).exit_code, 0);
}

TEST_F(Forward, a_resume_and_a_change_at_the_other_daemon) {
  prompt_and_wait(*here_, "say 1", "k1");
  ASSERT_TRUE(there_->post(path("/stop")).ok());
  ASSERT_TRUE(until([&] { return here_->get(path()).at("session.executor_status") == "stopped"; }));
  const ApiReply resumed = there_->post(path("/resume"));
  EXPECT_EQ(resumed.status, 200) << resumed.body;
  EXPECT_FALSE(resumed.at("receipt.rung").empty()) << resumed.body;
  EXPECT_TRUE(
      there_->call({.method = "PATCH", .path = path(), .body = R"({"title":"ours"})"}).ok());
  EXPECT_EQ(here_->get(path()).at("session.title"), "ours");
}

TEST_F(Forward, U11_a_deletion_at_the_other_daemon_takes_everything) {
  prompt_and_wait(*here_, "say 1", "k1");
  const std::string cwd = here_->get(path()).at("session.cwd");
  const ApiReply gone =
      there_->call({.method = "DELETE", .path = path("?confirm=true&force=true"), .key = "d"});
  EXPECT_TRUE(gone.ok()) << gone.body;
  EXPECT_EQ(here_->get(path()).status, 404);
  EXPECT_TRUE(until([&] { return there_->get(path()).status == 404; }, 10'000));
  EXPECT_TRUE(run_->node(0).until_no_hosted());
  EXPECT_NE(access(cwd.c_str(), F_OK), 0);
}

TEST_F(Forward, a_daemon_that_is_gone_is_named) {
  prompt_and_wait(*here_, "say 1", "k1");
  EXPECT_EQ(there_->get(path()).at("session.node"), "n1");
  run_->node(0).kill_daemon();
  // Either the daemon reports the session as unreachable, or it was taken over in time.
  const ApiReply reply = there_->get(path("/fs/list?path=."));
  if (!reply.ok()) {
    EXPECT_EQ(reply.at("error.code"), "unavailable") << reply.body;
    EXPECT_NE(reply.at("error.message").find("n1"), std::string::npos) << reply.body;
  }
  EXPECT_TRUE(until([&] { return there_->get(path("/fs/list?path=.")).ok(); }));
  EXPECT_EQ(there_->get(path()).at("session.node"), "null");
}

// A daemon that only reads learns of any new owner.
TEST(Three, files_are_found_again_at_every_daemon_after_the_owners_death) {
  if (const std::string reason = PostgresServer::missing(); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  ClusterRun run({.store = PostgresServer::shared().new_database(), .nodes = 3, .clients = 0});
  const Result<> started = run.start_all();
  ASSERT_TRUE(started) << started.error().message();
  const std::string session = ApiClient(run.node(0).endpoint()).create_session({});
  const std::string files = "/api/sessions/" + session + "/fs/list?path=.";
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(ApiClient(run.node(i).endpoint()).get(files).ok()) << i;
  }
  run.node(0).kill_daemon();
  for (const std::size_t i : {1U, 2U, 1U}) {
    ApiClient api(run.node(i).endpoint());
    EXPECT_TRUE(until([&] { return api.get(files).ok(); }, 20'000)) << i;
  }
}

TEST_F(Forward, the_audit_trail_of_both_daemons_is_one_and_both_show_it) {
  const std::string body = R"({"name":"ci","scopes":["observe"]})";
  for (ApiClient* const api : {here_.get(), there_.get(), here_.get()}) {
    ASSERT_EQ(api->post("/api/tokens", body).status, 201);
  }
  const auto shown = [&](ApiClient& api) {
    return json_list(api.get("/api/audit?limit=1000").body, "entries");
  };
  const std::vector<std::string> entries = shown(*here_);
  EXPECT_EQ(entries, shown(*there_));
  std::vector<std::string> nodes;
  std::uint64_t last = 0;
  for (const std::string& entry : entries) {
    EXPECT_EQ(std::stoull(json_at(entry, "seq")), ++last);
    if (json_at(entry, "what") == "token.create") nodes.push_back(json_at(entry, "node"));
  }
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0], nodes[2]);
  EXPECT_NE(nodes[0], nodes[1]);
}

// A daemon that has read the text forgets it as well, and its own ownership later restores nothing.
TEST_F(Forward, X21_a_redaction_at_one_daemon_takes_the_text_from_both) {
  const std::string password = "hunter2correcthorse";
  const std::string database = run_->store();
  ASSERT_TRUE(there_
                  ->call({.method = "PATCH",
                          .path = path(),
                          .body = R"({"title":"log in with )" + password + "\"}"})
                  .ok());
  prompt_and_wait(*here_, "it is " + password + "\nsay 1", "k1");
  prompt_and_wait(*there_, "recall", "k2");
  const auto shown = [&](ApiClient& api) {
    std::string all;
    for (const std::string& target : {path(), path("/transcript"), path("/export"), path("/page"),
                                      std::string("/api/sessions"), "/api/search?q=" + password}) {
      const ApiReply reply = api.get(target);
      EXPECT_TRUE(reply.ok()) << target << reply.body;
      // A search echoes its own query.
      const bool is_search = target.starts_with("/api/search");
      if (reply.body.contains(is_search ? session_ : password)) all += target + "\n";
    }
    for (const std::string& record : api.records(session_)) {
      if (record.contains(password)) all += record + "\n";
    }
    return all;
  };
  ASSERT_TRUE(until([&] { return shown(*there_).contains("/api/search"); }));
  ASSERT_TRUE(shown(*here_).contains("/transcript"));
  ASSERT_NE(PostgresServer::tables_with(database, password), "");
  std::string seqs;
  for (const std::string& record : there_->records(session_)) {
    if (!record.contains(password)) continue;
    seqs += (seqs.empty() ? "" : ",") + json_at(record, "seq");
  }
  const ApiReply redacted = there_->post(path("/redact"), R"({"seqs":[)" + seqs + "]}");
  ASSERT_EQ(redacted.status, 200) << redacted.body;
  EXPECT_EQ(json_list(redacted.body, "left").size(), 1U) << "PostgreSQL's own files";
  EXPECT_EQ(shown(*here_), "");
  EXPECT_TRUE(until([&] { return shown(*there_).empty(); }, 20'000)) << shown(*there_);
  EXPECT_EQ(PostgresServer::tables_with(database, password), "");
  for (const std::string& folder :
       {run_->node(0).home(), run_->node(1).home(), run_->executions()}) {
    EXPECT_THAT(files_with(folder, password), testing::IsEmpty());
  }
  run_->node(0).kill_daemon();
  ASSERT_TRUE(until([&] { return there_->post(path("/resume")).ok(); }));
  EXPECT_EQ(there_->get(path()).at("session.title"), "[redacted]");
  EXPECT_EQ(shown(*there_), "");
  EXPECT_EQ(PostgresServer::tables_with(database, password), "");
}

}  // namespace
}  // namespace perdure
