// Sessions whose agentctl and agent live on another host: a turn, a daemon that dies in the middle
// of one, folders there, and who is refused. The host is made of namespaces; the network is real.
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "env_posix/confine.h"
#include "remote_fixture.h"

namespace perdure {
namespace {

class Remotes : public RemoteTest {};

// Connections over which nothing is said.
std::vector<int> connect_silently(const std::string& host, std::uint16_t port, std::size_t count) {
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(port)};
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  std::vector<int> made;
  for (std::size_t i = 0; i < count; ++i) {
    const int each = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(each, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) break;
    made.push_back(each);
  }
  return made;
}

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

TEST_F(Remotes, SEC_the_level_is_that_of_the_other_host_and_the_outposts_folder_is_hidden) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  const std::string session = session_with("say 1");
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  const Confinement there = try_namespaces();  // the other host has the same kernel and user
  EXPECT_EQ(field(session, "confinement"), confinement_name(there.level));
  const std::string own = host_->outpost_folder();
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(own)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(entry.status().permissions() & std::filesystem::perms::all,
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write)
        << entry.path();
    files.push_back(entry.path().filename());
  }
  EXPECT_GE(files.size(), 2u) << "a key and a secret";
  const ApiReply saw = client_->run_in_shell({session, "ls -A " + own});
  EXPECT_NE(saw.at("text").find("done\r\n"), std::string::npos) << saw.body;
  for (const std::string& file : files) {
    EXPECT_EQ(saw.at("text").find(file) == std::string::npos, there.level != ConfinementLevel::none)
        << file << "\n"
        << saw.at("text");
  }
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

TEST_F(Remotes, SEC1_a_worktree_of_the_other_host_runs_no_hook_of_its_repository) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  const std::string repository = host_->folder() + "/repository";
  const std::string ran = host_->folder() + "/ran";
  const ProgramRun made = host_->run(
      {"/bin/sh", "-c",
       "git init -q '" + repository + "' && cd '" + repository +
           "' && echo '* filter=evil' > .gitattributes && echo hello > file && git add . && "
           "git -c user.name=a -c user.email=a@b commit -qm first && "
           "printf '#!/bin/sh\\necho hook >> " +
           ran +
           "\\n' > .git/hooks/post-checkout && chmod +x .git/hooks/post-checkout && "
           "cp .git/hooks/post-checkout .git/hooks/reference-transaction && "
           "git config filter.evil.smudge 'tee -a " +
           ran + "'"});
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const std::string session = client_->create_session(
      {.more = R"("remote":"box","worktree":{"branch":"try"},"cwd":")" + repository + "\""});
  ASSERT_FALSE(session.empty()) << daemon_->log();
  EXPECT_FALSE(std::filesystem::exists(ran)) << read_text(ran);
  EXPECT_EQ(read_text(host_->outpost_folder() + "/worktrees/" + session + "/file"), "hello\n");
}

TEST_F(Remotes, SEC15_an_outpost_starts_agentctl_out_of_its_own_folder) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  const std::string session = client_->create_session({.more = R"("remote":"box")"});
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  const ProgramRun seen =
      host_->run({"/bin/sh", "-c", "for each in /proc/[0-9]*; do readlink $each/exe; done"});
  EXPECT_NE(seen.output.find(host_->outpost_folder() + "/programs/perdure-agentctl\n"),
            std::string::npos)
      << seen.output;
  EXPECT_EQ(seen.output.find(std::string(PERDURE_AGENTCTL) + "\n"), std::string::npos);
}

TEST_F(Remotes, SEC20_a_session_there_works_in_no_folder_of_another_but_a_copy_does) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  const std::string one = client_->create_session({.more = R"("remote":"box")"});
  ASSERT_TRUE(client_->prompt({.session = one, .text = "say 1"}).ok());
  ASSERT_TRUE(until_count(one, "run.completed", 1)) << daemon_->log();
  const std::string theirs = field(one, "cwd");
  const ApiReply made =
      client_->post("/api/sessions", R"({"agent":"test","remote":"box","cwd":")" + theirs + "\"}");
  EXPECT_EQ(made.status, 400) << made.body;
  const std::string other = client_->create_session({.more = R"("remote":"box")"});
  ASSERT_TRUE(client_
                  ->call({.method = "PATCH",
                          .path = "/api/sessions/" + other,
                          .body = R"({"cwd":")" + theirs + "\"}"})
                  .ok());
  client_->prompt({.session = other, .text = "say 1"});
  EXPECT_TRUE(until([&] {
    return field(other, "error_message").find("was made for the session " + one) !=
           std::string::npos;
  })) << client_->get("/api/sessions/" + other).body;
  EXPECT_EQ(client_->count(other, "agent.started"), 0u);
  const ApiReply copy = client_->post("/api/sessions/" + one + "/fork", R"({"share_cwd":true})");
  ASSERT_EQ(copy.status, 201) << copy.body;
  ASSERT_TRUE(client_->prompt({.session = copy.at("session.id"), .text = "say 1"}).ok());
  EXPECT_TRUE(until_count(copy.at("session.id"), "run.completed", 2)) << daemon_->log();
}

TEST_F(Remotes, SEC3_no_session_of_the_other_host_works_in_the_outposts_folder) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  const std::string own = host_->outpost_folder();
  const std::string link = host_->folder() + "/link";
  std::filesystem::create_directory_symlink(own, link);
  std::filesystem::create_directory(own + "/inner");
  for (const std::string& cwd : {own, own + "/inner", host_->folder(), link, link + "/inner"}) {
    const ApiReply refused =
        client_->post("/api/sessions", R"({"agent":"test","remote":"box","cwd":")" + cwd + "\"}");
    EXPECT_EQ(refused.status, 400) << cwd << " " << refused.body;
  }
  // Moved there later, it does not start.
  const std::string session = client_->create_session({.more = R"("remote":"box")"});
  ASSERT_FALSE(session.empty());
  ASSERT_TRUE(client_
                  ->call({.method = "PATCH",
                          .path = "/api/sessions/" + session,
                          .body = R"({"cwd":")" + link + "\"}"})
                  .ok());
  client_->prompt({.session = session, .text = "say 1"});
  EXPECT_TRUE(until([&] {
    return field(session, "error_message").find("Perdure's own files") != std::string::npos;
  })) << client_->get("/api/sessions/" + session).body;
  EXPECT_EQ(client_->count(session, "agent.started"), 0u);
}

// Connections that say nothing, more than the outpost keeps, stand there before the daemon comes.
TEST_F(Remotes, L18_silent_connections_do_not_cut_the_host_off) {
  ASSERT_NO_FATAL_FAILURE(start_outpost());
  const auto flood = connect_silently(host_->address(), static_cast<std::uint16_t>(sight_.port),
                                      2 * outpost_strangers_max);
  ASSERT_EQ(flood.size(), 2 * outpost_strangers_max);
  write_remote();
  ASSERT_NO_FATAL_FAILURE(start_daemon());
  const std::string session = session_with("say 1");
  EXPECT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  for (const int each : flood) close(each);
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
