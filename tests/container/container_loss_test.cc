// A session whose container or engine is lost: its output is kept, a run has one end, and an
// unknown state is not taken for dead.
#include <csignal>

#include <gtest/gtest.h>

#include "container_fixture.h"

namespace perdure {
namespace {

class ContainerLoss : public ContainerTest {
 protected:
  std::string hang() {
    const std::string session = session_with("say 2; tool 1; hang");
    EXPECT_TRUE(until_count(session, "tool.update", 1)) << daemon_->log();
    return session;
  }
  void expect_new_container_after(const std::string& session, const std::string& old) {
    ASSERT_TRUE(client_->prompt({.session = session, .text = "say 2"}).ok());
    ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
    EXPECT_NE(container_of(session), old);
    EXPECT_EQ(engine_->containers().size(), 1u);
    EXPECT_EQ(client_->count(session, "run.interrupted"), 1u);
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, ContainerLoss,
                         ::testing::Values(EngineKind::podman, EngineKind::docker), engine_name);

// By default dockerd ends its containers with itself; podman's continue.
class EngineDown : public ContainerLoss {};
INSTANTIATE_TEST_SUITE_P(Engines, EngineDown, ::testing::Values(EngineKind::podman), engine_name);

TEST_P(ContainerLoss,
       L16_a_container_killed_in_mid_turn_ends_the_run_once_and_resume_makes_another) {
  ASSERT_NO_FATAL_FAILURE(begin_with_containers());
  const std::string session = hang();
  const std::string container = container_of(session);
  engine_->call("POST", "/containers/" + container + "/kill?signal=KILL");
  ASSERT_TRUE(until_count(session, "executor.stopped", 1)) << daemon_->log();
  EXPECT_EQ(client_->count(session, "run.interrupted"), 1u);
  EXPECT_EQ(field(session, "error_code"), "container_failed");
  EXPECT_EQ(field(session, "status"), "interrupted_startup");
  ASSERT_NO_FATAL_FAILURE(expect_new_container_after(session, container));
}

TEST_P(ContainerLoss, K33_frames_of_a_dead_container_are_read_from_its_spool) {
  ASSERT_NO_FATAL_FAILURE(begin_with_containers());
  const std::string session = session_with("paced 40 50; hang");
  ASSERT_TRUE(until_count(session, "message.agent", 2)) << daemon_->log();
  const std::string container = container_of(session);
  const std::string exec = field(session, "agent_execution_id");
  daemon_->kill_daemon();
  // Only the spool has it.
  const std::string spool = daemon_->home() + "/spool/" + exec;
  const auto has_last_chunk = [&] {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(spool, error)) {
      if (read_text(entry.path()).find("<p1:40>") != std::string::npos) return true;
    }
    return false;
  };
  ASSERT_TRUE(until(has_last_chunk));
  engine_->call("POST", "/containers/" + container + "/kill?signal=KILL");
  ASSERT_NO_FATAL_FAILURE(begin_again());
  ASSERT_TRUE(until_count(session, "run.interrupted", 1)) << daemon_->log();
  const std::string text = text_of(session);
  for (int chunk = 1; chunk <= 40; ++chunk) {
    EXPECT_NE(text.find("<p1:" + std::to_string(chunk) + ">"), std::string::npos) << chunk;
  }
  EXPECT_TRUE(until([&] { return engine_->containers().empty(); }, 20'000));
  EXPECT_FALSE(std::filesystem::exists(spool));
  ASSERT_NO_FATAL_FAILURE(expect_new_container_after(session, container));
}

TEST_P(ContainerLoss, L16_a_container_removed_by_hand_is_missed_by_name) {
  ASSERT_NO_FATAL_FAILURE(begin_with_containers());
  const std::string session = hang();
  const std::string container = container_of(session);
  // While no daemon runs: a running one may see its end before it is gone.
  daemon_->kill_daemon();
  engine_->remove_all();
  ASSERT_NO_FATAL_FAILURE(begin_again());
  ASSERT_TRUE(until_count(session, "executor.stopped", 1)) << daemon_->log();
  EXPECT_EQ(client_->count(session, "run.interrupted"), 1u);
  EXPECT_EQ(field(session, "error_code"), "container_missing");
  EXPECT_NE(field(session, "error_message").find("removed"), std::string::npos);
  ASSERT_NO_FATAL_FAILURE(expect_new_container_after(session, container));
}

TEST_P(EngineDown, L16_an_engine_that_is_down_is_unknown_not_dead_and_prompts_are_held) {
  ASSERT_NO_FATAL_FAILURE(begin_with_containers());
  const std::string session = hang();
  const std::string container = container_of(session);
  const pid_t inside = std::stoi(json_at(engine_->inspect(container), "State.Pid"));
  engine_->kill_engine();
  // No engine is needed as long as the agentctl responds.
  EXPECT_EQ(field(session, "liveness"), "alive");
  daemon_->kill_daemon();
  kill(inside, SIGKILL);
  ASSERT_NO_FATAL_FAILURE(begin_again());
  const auto reason = [&] { return field(session, "liveness_reason"); };
  EXPECT_TRUE(until([&] { return reason().find("does not answer") != std::string::npos; }))
      << reason();
  EXPECT_EQ(field(session, "liveness"), "unknown");
  EXPECT_TRUE(client_->prompt({.session = session, .text = "say 2"}).ok());
  EXPECT_EQ(client_->count(session, "run.interrupted"), 0u);
  EXPECT_EQ(client_->count(session, "executor.stopped"), 0u);
  // Until then no agent can start, and the daemon says so at once.
  const ApiReply refused = client_->post("/api/sessions", R"({"agent":"test"})");
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_EQ(refused.at("error.code"), "engine_unavailable");
  const Result<> back = engine_->start();
  ASSERT_TRUE(back) << back.error().message();
  ASSERT_TRUE(until_count(session, "run.interrupted", 1)) << daemon_->log();
  ASSERT_TRUE(until_count(session, "executor.stopped", 1));
  EXPECT_EQ(client_->count(session, "run.interrupted"), 1u);
}

TEST_P(ContainerLoss, L16_a_paused_container_is_waited_for) {
  ASSERT_NO_FATAL_FAILURE(begin_with_containers());
  const std::string session = session_with("paced 60 50");
  ASSERT_TRUE(until_count(session, "message.agent", 2)) << daemon_->log();
  const std::string container = container_of(session);
  ASSERT_EQ(engine_->call("POST", "/containers/" + container + "/pause").status / 100, 2);
  daemon_->kill_daemon();
  ASSERT_NO_FATAL_FAILURE(begin_again());
  EXPECT_EQ(field(session, "liveness"), "unknown");
  EXPECT_EQ(client_->count(session, "run.interrupted"), 0u);
  ASSERT_EQ(engine_->call("POST", "/containers/" + container + "/unpause").status / 100, 2);
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  EXPECT_EQ(client_->count(session, "run.interrupted"), 0u);
  EXPECT_EQ(container_of(session), container);
}

TEST_P(ContainerLoss, L16_an_image_that_went_missing_fails_the_resume_by_its_name) {
  ASSERT_NO_FATAL_FAILURE(begin_with_containers());
  const std::string cwd = daemon_->folder() + "/work";
  std::filesystem::create_directory(cwd);
  const std::string session = client_->create_session({.more = R"("cwd":")" + cwd + "\""});
  ASSERT_FALSE(session.empty());
  ASSERT_TRUE(engine_->call("DELETE", std::string("/images/") + test_image + "?force=true").status /
                  100 ==
              2);
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1"}).ok());
  EXPECT_TRUE(until_count(session, "resume.failed", 1)) << daemon_->log();
  EXPECT_EQ(field(session, "error_code"), "image_missing");
  EXPECT_TRUE(until([&] { return entries("/spool") == 0 && entries("/run/containers") == 0; }));
  ASSERT_TRUE(engine_->make_image());
  ASSERT_TRUE(client_->post("/api/sessions/" + session + "/resume").ok());
  EXPECT_TRUE(until([&] { return field(session, "liveness") == "alive"; })) << daemon_->log();
}

}  // namespace
}  // namespace perdure
