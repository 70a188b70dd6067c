// Sessions whose agentctl and agent live in a container: turns, a daemon that dies during one,
// limits, errors, and cleanup. The engine is real.
#include <fstream>

#include <gtest/gtest.h>

#include "container_fixture.h"

namespace perdure {
namespace {

using Containers = ContainerTest;

INSTANTIATE_TEST_SUITE_P(Engines, Containers,
                         ::testing::Values(EngineKind::podman, EngineKind::docker), engine_name);

TEST_P(Containers, L5_L13_K39_a_session_in_a_container_runs_a_turn) {
  ASSERT_NO_FATAL_FAILURE(begin_with_containers());
  const std::string session = session_with("say 3");
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  EXPECT_NE(text_of(session).find("<p1:end=3>"), std::string::npos);
  EXPECT_EQ(field(session, "runtime"), "local_docker");
  EXPECT_EQ(field(session, "image"), test_image);
  const std::vector<std::string> containers = engine_->containers();
  ASSERT_EQ(containers.size(), 1u);
  EXPECT_EQ(container_of(session), containers[0]);
  const std::string seen = engine_->inspect(containers[0]);
  EXPECT_NE(seen.find(R"("perdure.managed":"true")"), std::string::npos) << seen;
  EXPECT_NE(seen.find(R"("perdure.session":")" + session + "\""), std::string::npos) << seen;
  // The agent is a process of that container, and the socket is on the host's side of the mount.
  const std::string executors = client_->get("/api/executors").body;
  const std::string row = json_list(executors, "executors").at(0);
  EXPECT_EQ(json_at(row, "container_id"), containers[0]);
  EXPECT_EQ(json_at(row, "runtime"), "local_docker");
  EXPECT_TRUE(json_at(row, "agentctl_url").starts_with("unix:" + daemon_->home())) << row;
  // Another session has another container, and does not see the first one's socket.
  const std::string other = session_with("say 1");
  ASSERT_TRUE(until_count(other, "run.completed", 1));
  EXPECT_EQ(engine_->containers().size(), 2u);
  EXPECT_NE(container_of(other), containers[0]);
}

TEST_P(Containers, K33_L16_a_daemon_killed_in_mid_turn_finds_the_container_and_the_turn_is_whole) {
  ASSERT_NO_FATAL_FAILURE(begin_with_containers());
  const std::string session = session_with("paced 60 50");
  ASSERT_TRUE(until_count(session, "message.agent", 3)) << daemon_->log();
  const std::string container = container_of(session);
  daemon_->kill_daemon();
  ASSERT_NO_FATAL_FAILURE(begin_again());
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  const std::string text = text_of(session);
  for (int chunk = 1; chunk <= 60; ++chunk) {
    EXPECT_NE(text.find("<p1:" + std::to_string(chunk) + ">"), std::string::npos) << chunk;
  }
  EXPECT_NE(text.find("<p1:end=60>"), std::string::npos);
  EXPECT_EQ(client_->count(session, "run.interrupted"), 0u);
  EXPECT_EQ(client_->count(session, "executor.reattached"), 1u);
  EXPECT_EQ(client_->count(session, "executor.starting"), 1u);
  EXPECT_EQ(container_of(session), container);
  EXPECT_NE(daemon_->log().find("is found again"), std::string::npos) << daemon_->log();
}

TEST_P(Containers, H3_limits_are_the_containers_and_an_agent_without_memory_says_so) {
  ASSERT_NO_FATAL_FAILURE(begin_with_containers());
  const std::string session = client_->create_session(
      {.more = R"("limits":{"memory_bytes":100000000,"processes":40,"cpu_percent":150})"});
  ASSERT_FALSE(session.empty());
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  const std::string seen = engine_->inspect(container_of(session));
  EXPECT_EQ(json_at(seen, "HostConfig.Memory"), "100000000");
  EXPECT_EQ(json_at(seen, "HostConfig.PidsLimit"), "41");
  EXPECT_EQ(json_at(seen, "HostConfig.NanoCpus"), "1500000000");
  ASSERT_TRUE(client_->prompt({.session = session, .text = "chunks 1 400000000"}).ok());
  ASSERT_TRUE(until_count(session, "agent.exited", 1));
  std::string exited;
  for (const std::string& record : client_->records(session)) {
    if (json_at(record, "kind") == "agent.exited") exited = record;
  }
  EXPECT_EQ(json_at(exited, "why"), "out_of_memory") << exited;
  EXPECT_TRUE(until_count(session, "run.interrupted", 1));
  // The container still exists: the next prompt starts another agent in it.
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 2"}).ok());
  EXPECT_TRUE(until_count(session, "run.completed", 2)) << daemon_->log();
}

TEST_P(Containers, SEC2_an_agent_sees_its_own_two_folders_and_has_no_rights_of_root) {
  ASSERT_NO_FATAL_FAILURE(begin_with_containers());
  const std::string other = session_with("say 1");
  const std::string session = session_with("say 1");
  for (const std::string& each : {other, session}) {
    ASSERT_TRUE(until_count(each, "run.completed", 1)) << daemon_->log();
    EXPECT_EQ(field(each, "confinement"), "full");
    EXPECT_EQ(field(each, "confinement_reason"), "null");
  }
  const std::string home = daemon_->home();
  const std::string command =
      "cat /proc/self/status; cat /proc/self/mounts; ls -R "
      "/perdure; ls " +
      home + "; ls " + home + "/workspaces";
  const std::string saw = client_->run_in_shell({session, command}).at("text");
  const auto shows = [&](const std::string& part) { return saw.find(part) != std::string::npos; };
  EXPECT_TRUE(shows("CapEff:\t0000000000000000")) << saw;
  EXPECT_TRUE(shows("CapBnd:\t0000000000000000")) << saw;
  EXPECT_TRUE(shows("NoNewPrivs:\t1")) << saw;
  const std::string executor = field(session, "agent_execution_id");
  const std::string others = field(other, "agent_execution_id");
  ASSERT_TRUE(executor.starts_with("exec_") && others.starts_with("exec_")) << executor << others;
  EXPECT_TRUE(shows(executor + ".sock")) << saw;
  EXPECT_FALSE(shows(executor + ".json\r")) << "the bootstrap is still there\n" << saw;
  EXPECT_FALSE(shows(others)) << saw;
  EXPECT_FALSE(shows(other)) << saw;
  for (const char* hidden :
       {"perdure.db", "token\r", "perdure.sock", "docker.sock", "podman.sock"}) {
    EXPECT_FALSE(shows(hidden)) << hidden << "\n" << saw;
  }
}

TEST_P(Containers, L16_an_image_that_is_missing_is_refused_and_nothing_is_made) {
  ASSERT_NO_FATAL_FAILURE(begin_with_containers());
  const ApiReply refused = client_->post(
      "/api/sessions", R"({"agent":"test","image":"localhost/no-such-image:1","prompt":"say 1"})");
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_EQ(refused.at("error.code"), "image_missing");
  EXPECT_NE(refused.at("error.message").find("pull"), std::string::npos) << refused.body;
  EXPECT_EQ(json_list(client_->get("/api/sessions").body, "sessions").size(), 0u);
  EXPECT_EQ(engine_->containers().size(), 0u);
  EXPECT_EQ(entries("/workspaces"), 0u);
  for (const char* body :
       {R"({"agent":"test","runtime":"remote"})",
        R"({"agent":"test","runtime":"standalone","image":"x"})",
        R"({"agent":"test","image":"../../info?x"})", R"({"agent":"test","cwd":"/"})"}) {
    EXPECT_EQ(client_->post("/api/sessions", body).status, 400) << body;
  }
}

TEST_P(Containers, L13_stop_and_delete_leave_nothing_behind) {
  ASSERT_NO_FATAL_FAILURE(begin_with_containers());
  const std::string session = session_with("say 1");
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  EXPECT_EQ(entries("/run/containers"), 1u);
  EXPECT_EQ(entries("/spool"), 1u);
  EXPECT_TRUE(client_->post("/api/sessions/" + session + "/stop").ok());
  ASSERT_TRUE(until_count(session, "executor.stopped", 1)) << daemon_->log();
  const auto is_clean = [&] {
    return engine_->containers().empty() && entries("/run/containers") == 0 &&
           entries("/spool") == 0;
  };
  EXPECT_TRUE(until(is_clean, 20'000));
  // It is restored in a new container.
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 2"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 2)) << daemon_->log();
  EXPECT_EQ(engine_->containers().size(), 1u);
  const ApiReply deleted = client_->call(
      {.method = "DELETE", .path = "/api/sessions/" + session + "?confirm=true&force=true"});
  EXPECT_TRUE(deleted.ok()) << deleted.body;
  EXPECT_TRUE(until(is_clean, 20'000)) << daemon_->log();
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    EXPECT_EQ(line.find(daemon_->home()), std::string::npos) << line;
  }
}

// Processes inside may write the worktree, but that must not affect the next container's mounts.
TEST_P(Containers, SEC2_a_git_file_that_is_rewritten_mounts_nothing_of_the_host) {
  ASSERT_NO_FATAL_FAILURE(begin_with_containers());
  const std::string repository = daemon_->folder() + "/repository";
  const ProgramRun made =
      run_program({"/bin/sh", "-c",
                   "git init -q " + repository + " && cd " + repository +
                       " && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one"},
                  daemon_->environment());
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const std::string session = client_->create_session(
      {.more = R"("worktree":{"branch":"try"},"cwd":")" + repository + "\""});
  ASSERT_FALSE(session.empty()) << daemon_->log();
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  const std::string tree = field(session, "worktree_path");
  const std::string first = container_of(session);
  const auto expect_own_mounts = [&](const std::string& container) {
    bool has_tree = false;
    for (const std::string& mount : json_list(engine_->inspect(container), "Mounts")) {
      const std::string source = json_at(mount, "Source") + "/";
      has_tree = has_tree || source == tree + "/";
      const bool is_own =
          source.starts_with(tree + "/") || source.starts_with(repository + "/.git/") ||
          source.starts_with(daemon_->home() + "/run/containers/") ||
          source.starts_with(daemon_->home() + "/spool/") ||
          source == daemon_->agent_home() + "/" || source == std::string(PERDURE_AGENTCTL) + "/";
      EXPECT_TRUE(is_own) << mount;
    }
    EXPECT_TRUE(has_tree);
  };
  expect_own_mounts(first);
  // It is not writable inside. Another process that works in the folder may write it.
  const std::string line = "gitdir: " + daemon_->home() + "/x/y\n";
  const std::string shells = "/api/sessions/" + session + "/shells";
  JsonWriter command;
  command.begin_object().key("command").begin_array().string("/bin/sh").string("-c");
  command.string("printf '" + line + "' > .git || rm -f .git || mv .git x || echo refused");
  command.end_array().end_object();
  const ApiReply shell = client_->post(shells, command.text());
  ASSERT_TRUE(shell.ok()) << shell.body;
  std::string said;
  EXPECT_TRUE(until([&] {
    said = client_->get(shells + "/read?offset=0&shell=" + shell.at("shell")).at("text");
    return said.find("refused") != std::string::npos;
  })) << said;
  ASSERT_TRUE(client_->post("/api/sessions/" + session + "/stop").ok());
  ASSERT_TRUE(until_count(session, "executor.stopped", 1)) << daemon_->log();
  EXPECT_TRUE(read_text(tree + "/.git").starts_with("gitdir: " + repository + "/.git/"));
  std::ofstream(tree + "/.git") << line;
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 2"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 2)) << daemon_->log();
  EXPECT_NE(container_of(session), first);
  expect_own_mounts(container_of(session));
}

TEST_P(Containers, K33_containers_of_nobody_go_at_the_next_start) {
  ASSERT_NO_FATAL_FAILURE(begin_with_containers());
  const std::string session = session_with("say 1");
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  const std::string kept = container_of(session);
  const std::string seen = engine_->inspect(kept);
  const std::string name = R"("perdure.owner":")";
  const std::size_t at = seen.find(name);
  ASSERT_NE(at, std::string::npos) << seen;
  const std::string owner =
      seen.substr(at + name.size(), seen.find('"', at + name.size()) - at - name.size());
  const EngineProcess::Answer made = engine_->call(
      "POST", "/containers/create?name=perdure-lost",
      std::string(R"({"Image":")") + test_image + R"(","Cmd":["/bin/sleep","600"],"Labels":)" +
          R"({"perdure.managed":"true","perdure.owner":")" + owner + R"("}})");
  ASSERT_EQ(made.status, 201) << made.body;
  // Belongs to another data folder: not ours to remove.
  ASSERT_EQ(engine_
                ->call("POST", "/containers/create?name=perdure-other",
                       std::string(R"({"Image":")") + test_image +
                           R"(","Cmd":["/bin/sleep","600"],"Labels":)" +
                           R"({"perdure.managed":"true","perdure.owner":"another"}})")
                .status,
            201);
  daemon_->kill_daemon();
  ASSERT_NO_FATAL_FAILURE(begin_again());
  EXPECT_TRUE(until([&] { return engine_->containers().size() == 2; }, 20'000)) << daemon_->log();
  EXPECT_EQ(json_at(engine_->inspect(kept), "State.Running"), "true");
  EXPECT_EQ(engine_->call("GET", "/containers/perdure-other/json").status, 200);
}

TEST_P(Containers, L5_the_verbs_make_a_session_in_a_container_and_say_where_it_is) {
  ASSERT_NO_FATAL_FAILURE(begin_with_containers());
  const auto perdure = [&](std::vector<std::string> words) {
    words.insert(words.begin(), PERDURE_PROGRAM);
    return run_program(words, daemon_->environment());
  };
  const ProgramRun made = perdure({"run", "test", "-d", "--no-cwd", "--runtime", "local_docker",
                                   "--image", test_image, "say 1"});
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const std::string session = made.output.substr(0, made.output.find('\n'));
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  const std::string container = container_of(session);
  EXPECT_NE(perdure({"show", session}).output.find(container), std::string::npos);
  EXPECT_NE(perdure({"why", session}).output.find(container.substr(0, 12)), std::string::npos);
  EXPECT_NE(perdure({"ls"}).output.find("test @local_docker"), std::string::npos);
  const std::string doctor = perdure({"doctor"}).output;
  EXPECT_NE(doctor.find(engine_->socket()), std::string::npos) << doctor;
}

}  // namespace
}  // namespace perdure
