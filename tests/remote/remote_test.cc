// Sessions whose agentctl and agent live on another host: a turn, a daemon that dies in the middle
// of one, folders there, and who is refused. The host is made of namespaces; the network is real.
#include <gtest/gtest.h>

#include "remote_fixture.h"

namespace perdure {
namespace {

class Remotes : public RemoteTest {};

TEST_F(Remotes, L5_L13_K35_a_session_on_another_host_runs_a_turn_and_is_found_by_a_new_daemon) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  const std::string session = session_with("paced 60 50");
  ASSERT_TRUE(until_count(session, "message.agent", 3)) << daemon_->log();
  EXPECT_EQ(field(session, "runtime"), "remote");
  EXPECT_EQ(field(session, "remote"), "box");
  const std::string row = json_list(client_->get("/api/executors").body, "executors").at(0);
  EXPECT_EQ(json_at(row, "runtime"), "remote");
  EXPECT_EQ(json_at(row, "agentctl_url"), "tls://10.77.0.2:" + std::to_string(sight_.port)) << row;
  daemon_->kill_daemon();
  ASSERT_NO_FATAL_FAILURE(start_daemon());
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  expect_whole(session, 60);
  EXPECT_GE(client_->count(session, "executor.reattached"), 1u);
  // A daemon that is told to stop does so in good order, and leaves the other host alone.
  ASSERT_TRUE(client_->prompt({.session = session, .text = "hang"}).ok());
  ASSERT_TRUE(until_count(session, "run.started", 2)) << daemon_->log();
  EXPECT_EQ(daemon_->stop(), 0) << daemon_->output();
  EXPECT_EQ(agentctls(), 1u);
}

TEST_F(Remotes, L13_stop_and_delete_leave_nothing_behind_on_either_host) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  const std::string session = session_with("say 1");
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  EXPECT_EQ(agentctls(), 1u);
  ASSERT_TRUE(client_->post("/api/sessions/" + session + "/stop").ok());
  ASSERT_TRUE(until_count(session, "executor.stopped", 1)) << daemon_->log();
  const auto files_in = [](const std::string& folder) {
    std::size_t count = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
      if (!entry.is_directory(error)) ++count;
    }
    return count;
  };
  EXPECT_TRUE(until(
      [&] {
        return agentctls() == 0 && files_in(host_->outpost_folder() + "/spool") == 0 &&
               files_in(host_->outpost_folder() + "/execs") == 0 &&
               files_in(daemon_->home() + "/spool") == 0;
      },
      20'000))
      << daemon_->log();
  // It comes back there.
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 2"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 2)) << daemon_->log();
  const ApiReply deleted = client_->call(
      {.method = "DELETE", .path = "/api/sessions/" + session + "?confirm=true&force=true"});
  EXPECT_TRUE(deleted.ok()) << deleted.body;
  const auto is_empty = [&] {
    return agentctls() == 0 && files_in(host_->outpost_folder() + "/run") == 0 &&
           files_in(host_->outpost_folder() + "/spool") == 0;
  };
  EXPECT_TRUE(until(is_empty, 20'000)) << daemon_->log();
}

TEST_F(Remotes, L5_folders_and_worktrees_are_those_of_the_other_host) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  const ApiReply missing =
      client_->post("/api/sessions", R"({"agent":"test","remote":"box","cwd":"/no/such/folder"})");
  EXPECT_EQ(missing.status, 409) << missing.body;
  EXPECT_EQ(missing.at("error.code"), "workspace_missing");
  const std::string repository = host_->folder() + "/repository";
  const ProgramRun made = host_->run(
      {"/bin/sh", "-c",
       "git init -q '" + repository + "' && cd '" + repository +
           "' && echo hello > file && git add . && git -c user.name=a -c user.email=a@b commit -qm "
           "first"});
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const std::string session = client_->create_session(
      {.more = R"("remote":"box","worktree":{"branch":"try"},"cwd":")" + repository + "\""});
  ASSERT_FALSE(session.empty()) << daemon_->log();
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  const std::string cwd = field(session, "cwd");
  EXPECT_TRUE(cwd.starts_with(host_->outpost_folder() + "/worktrees/")) << cwd;
  const ApiReply file = client_->get("/api/sessions/" + session + "/fs/read?path=file");
  EXPECT_NE(file.body.find("hello"), std::string::npos) << file.status << file.body;
}

TEST_F(Remotes, L18_a_host_that_cannot_be_reached_refuses_new_sessions_and_nothing_is_made) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  EXPECT_EQ(client_->post("/api/sessions", R"({"agent":"test","remote":"other"})").status, 404);
  EXPECT_EQ(client_->post("/api/sessions", R"({"agent":"test","runtime":"remote"})").status, 400);
  host_->cut();
  const ApiReply refused = client_->post("/api/sessions", R"({"agent":"test","remote":"box"})");
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_EQ(refused.at("error.code"), "remote_unavailable") << refused.body;
  EXPECT_EQ(json_list(client_->get("/api/sessions").body, "sessions").size(), 0u);
  host_->join();
  EXPECT_TRUE(until([&] {
    return client_->post("/api/sessions", R"({"agent":"test","remote":"box"})").ok();
  })) << daemon_->log();
}

TEST_F(Remotes, L18_another_certificate_and_another_secret_are_refused) {
  ASSERT_NO_FATAL_FAILURE(start_outpost());
  const OutpostSight right = sight_;
  sight_.fingerprint = std::string(64, 'a');
  write_remote();
  ASSERT_NO_FATAL_FAILURE(start_daemon());
  ApiReply refused = client_->post("/api/sessions", R"({"agent":"test","remote":"box"})");
  EXPECT_EQ(refused.at("error.code"), "remote_unavailable") << refused.body;
  EXPECT_NE(refused.at("error.message").find("fingerprint"), std::string::npos) << refused.body;
  sight_ = right;
  sight_.secret = std::string(64, 'b');
  write_remote();
  refused = client_->post("/api/sessions", R"({"agent":"test","remote":"box"})");
  EXPECT_EQ(refused.at("error.code"), "remote_unavailable") << refused.body;
  EXPECT_NE(refused.at("error.message").find("secret"), std::string::npos) << refused.body;
  EXPECT_FALSE(std::filesystem::exists(host_->outpost_folder() + "/workspaces"));
  // With what is right it works at once, without a restart of the daemon.
  sight_ = right;
  write_remote();
  const std::string session = session_with("say 1");
  EXPECT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
}

}  // namespace
}  // namespace perdure
