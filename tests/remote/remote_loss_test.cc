// A session whose host, network or outpost is lost: unknown is not dead, prompts wait, output is
// kept, and a run has one end.
#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

#include "remote_fixture.h"

namespace perdure {
namespace {

class RemoteLoss : public RemoteTest {
 protected:
  std::string hang() {
    const std::string session = session_with("say 2; tool 1; hang");
    EXPECT_TRUE(until_count(session, "tool.update", 1)) << daemon_->log();
    return session;
  }
};

TEST_F(RemoteLoss, L36_a_network_cut_in_mid_turn_is_unknown_prompts_wait_and_the_turn_is_whole) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  // PERDURE_CUT_MS=60000 is the long form, run by hand.
  const char* const asked = std::getenv("PERDURE_CUT_MS");
  const std::int64_t cut_ms = asked ? std::atoll(asked) : 0;
  const int pieces = 80 + static_cast<int>(cut_ms / 50);
  const std::string session = session_with("paced " + std::to_string(pieces) + " 50");
  ASSERT_TRUE(until_count(session, "message.agent", 3)) << daemon_->log();
  host_->cut();
  ASSERT_TRUE(until_liveness(session, "unknown")) << daemon_->log();
  EXPECT_TRUE(client_->prompt({.session = session, .text = "say 2"}).ok());
  EXPECT_EQ(client_->count(session, "run.interrupted"), 0u);
  const auto began = std::chrono::steady_clock::now();
  until(
      [&] { return std::chrono::steady_clock::now() - began > std::chrono::milliseconds(cut_ms); },
      cut_ms + 1'000);
  EXPECT_EQ(field(session, "liveness"), "unknown");
  EXPECT_EQ(client_->count(session, "run.started"), 1u);
  host_->join();
  ASSERT_TRUE(until_count(session, "run.completed", 2)) << daemon_->log();
  expect_whole(session, pieces);
}

TEST_F(RemoteLoss, K35_an_outpost_that_is_killed_takes_nobody_with_it) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  const std::string session = session_with("paced 60 50");
  ASSERT_TRUE(until_count(session, "message.agent", 3)) << daemon_->log();
  const ProgramRun killed = host_->run({"/bin/sh", "-c", "kill -9 " + std::to_string(sight_.pid)});
  ASSERT_EQ(killed.exit_code, 0) << killed.output;
  ASSERT_TRUE(until_liveness(session, "unknown")) << daemon_->log();
  EXPECT_EQ(agentctls(), 1u);
  const OutpostSight before = sight_;
  ASSERT_NO_FATAL_FAILURE(start_outpost());
  EXPECT_EQ(sight_.port, before.port);
  EXPECT_EQ(sight_.fingerprint, before.fingerprint);
  EXPECT_EQ(sight_.secret, before.secret);
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  expect_whole(session, 60);
}

TEST_F(RemoteLoss, K35_a_daemon_that_starts_while_the_host_is_out_of_reach_finds_it_later) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  const std::string session = session_with("paced 60 50");
  ASSERT_TRUE(until_count(session, "message.agent", 3)) << daemon_->log();
  host_->cut();
  daemon_->kill_daemon();
  ASSERT_NO_FATAL_FAILURE(start_daemon());
  EXPECT_EQ(field(session, "liveness"), "unknown");
  EXPECT_TRUE(client_->prompt({.session = session, .text = "say 2"}).ok());
  // It states why the liveness is unknown.
  EXPECT_TRUE(until([&] {
    return field(session, "liveness_reason").find("remote box") != std::string::npos;
  })) << field(session, "liveness_reason");
  EXPECT_EQ(client_->count(session, "run.interrupted"), 0u);
  host_->join();
  ASSERT_TRUE(until_count(session, "run.completed", 2)) << daemon_->log();
  expect_whole(session, 60);
}

TEST_F(RemoteLoss, C19_an_outpost_that_hangs_is_silence_too) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  const std::string session = session_with("paced 100 50");
  ASSERT_TRUE(until_count(session, "message.agent", 3)) << daemon_->log();
  const std::string pid = std::to_string(sight_.pid);
  ASSERT_EQ(host_->run({"/bin/sh", "-c", "kill -STOP " + pid}).exit_code, 0);
  // The kernel there still accepts for it: only a request without a response reveals it.
  ASSERT_TRUE(until_liveness(session, "unknown")) << daemon_->log();
  EXPECT_EQ(client_->count(session, "run.interrupted"), 0u);
  ASSERT_EQ(host_->run({"/bin/sh", "-c", "kill -CONT " + pid}).exit_code, 0);
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  expect_whole(session, 100);
}

TEST_F(RemoteLoss, C19_a_reboot_of_the_other_host_ends_the_run_once_and_resume_starts_another) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  const std::string session = hang();
  const Result<> rebooted = host_->reboot();
  ASSERT_TRUE(rebooted) << rebooted.error().message();
  // Without its outpost its state is unknown.
  ASSERT_TRUE(until_liveness(session, "unknown")) << daemon_->log();
  EXPECT_EQ(client_->count(session, "run.interrupted"), 0u);
  ASSERT_NO_FATAL_FAILURE(start_outpost());
  ASSERT_TRUE(until_count(session, "run.interrupted", 1)) << daemon_->log();
  ASSERT_TRUE(until_count(session, "executor.stopped", 1));
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 2"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  EXPECT_EQ(client_->count(session, "run.interrupted"), 1u);
}

TEST_F(RemoteLoss, K33_frames_of_a_dead_agentctl_are_read_from_its_spool_over_there) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  const std::string session = session_with("paced 40 50; hang");
  ASSERT_TRUE(until_count(session, "message.agent", 2)) << daemon_->log();
  const std::string exec = field(session, "agent_execution_id");
  daemon_->kill_daemon();
  const auto has_last_piece = [&] {
    std::error_code error;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(host_->outpost_folder() + "/spool", error)) {
      if (entry.is_directory(error)) continue;
      if (read_text(entry.path()).find("<p1:40>") != std::string::npos) return true;
    }
    return false;
  };
  ASSERT_TRUE(until(has_last_piece));
  for (const MarkedProcess& each : daemon_->processes()) {
    if (each.kind == ProcessKind::agentctl) kill(each.pid, SIGKILL);
  }
  ASSERT_NO_FATAL_FAILURE(start_daemon());
  ASSERT_TRUE(until_count(session, "run.interrupted", 1)) << daemon_->log();
  const std::string text = text_of(session);
  for (int piece = 1; piece <= 40; ++piece) {
    EXPECT_NE(text.find("<p1:" + std::to_string(piece) + ">"), std::string::npos) << piece;
  }
  EXPECT_EQ(client_->count(session, "run.interrupted"), 1u);
  EXPECT_TRUE(until([&] { return !has_last_piece(); }, 20'000));
  EXPECT_FALSE(std::filesystem::exists(daemon_->home() + "/spool/" + exec));
}

TEST_F(RemoteLoss, C19_one_that_is_declared_dead_is_ended_when_its_host_is_back) {
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  const std::string session = hang();
  const std::string old = field(session, "agent_execution_id");
  host_->cut();
  ASSERT_TRUE(until_liveness(session, "unknown")) << daemon_->log();
  // Its resume cannot start anything yet, and does not claim to.
  ApiCall declared{.method = "POST",
                   .path = "/api/sessions/" + session + "/resume",
                   .body = R"({"declare_dead":true})"};
  (void)client_->call(declared);
  ASSERT_TRUE(until_count(session, "executor.stopped", 1)) << daemon_->log();
  std::string stopped;
  for (const std::string& record : client_->records(session)) {
    if (json_at(record, "kind") == "executor.stopped" && stopped.empty()) stopped = record;
  }
  EXPECT_NE(stopped.find("declared by"), std::string::npos) << stopped;
  EXPECT_EQ(client_->count(session, "run.interrupted"), 1u);
  EXPECT_EQ(agentctls(), 1u);  // the old one, which is unreachable
  host_->join();
  ASSERT_TRUE(until([&] {
    return client_->prompt({.session = session, .text = "say 2"}).ok() &&
           until([&] { return client_->count(session, "run.completed") >= 1; }, 20'000);
  })) << daemon_->log();
  EXPECT_NE(field(session, "agent_execution_id"), old);
  EXPECT_EQ(agentctls(), 1u);
  EXPECT_EQ(client_->count(session, "run.interrupted"), 1u);
}

TEST_F(RemoteLoss, L36_a_slow_network_is_only_slow) {
  ASSERT_NO_FATAL_FAILURE(start_outpost());
  const std::string port_file = host_->folder() + "/slow_port";
  host_->run({"/bin/sh", "-c",
              "python3 '" PERDURE_SLOW_RELAY "' " + host_->address() + " " +
                  std::to_string(sight_.port) + " 150 > '" + port_file + "' 2>/dev/null &"});
  ASSERT_TRUE(until([&] { return read_text(port_file).ends_with("\n"); }, 20'000));
  sight_.port = std::stoul(read_text(port_file));
  write_remote();
  ASSERT_NO_FATAL_FAILURE(start_daemon());
  const std::string session = session_with("paced 40 50");
  ASSERT_TRUE(until_count(session, "message.agent", 3)) << daemon_->log();
  daemon_->kill_daemon();
  ASSERT_NO_FATAL_FAILURE(start_daemon());
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  expect_whole(session, 40);
}

}  // namespace
}  // namespace perdure
