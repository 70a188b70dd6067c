// A real agentctl with the test agent, well-behaved and misbehaving.
#include <csignal>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "env/posix/confine/identity.h"
#include "fixture.h"
#include "testing/sequence.h"

namespace perdure {
namespace {

TEST_F(Agentctl, drives_an_agent_from_start_to_stop) {
  Driver& driver = begin(setup());
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("think 2; say 5; tool 1; plan; usage 10"));
  EXPECT_EQ(driver.count("run.finished"), 1U);
  EXPECT_EQ(driver.last<FrameRunFinished>()->stop_reason, "end_turn");
  EXPECT_GE(driver.count("message.thought"), 2U);
  EXPECT_EQ(driver.count("tool.call"), 1U);
  EXPECT_GE(driver.count("plan"), 1U);
  EXPECT_GE(driver.count("usage"), 1U);
  const auto turns = testagent::read_sequence(driver.text());
  ASSERT_TRUE(turns) << turns.error().message();
  EXPECT_TRUE(turns->at(1).ended);
  driver.stop();
  ASSERT_TRUE(driver.until_gone());
  EXPECT_EQ(driver.last<FrameAgentExited>()->exit.why, "stopped");
  for (std::size_t i = 0; i < driver.frames.size(); ++i) EXPECT_EQ(driver.frames[i].number, i + 1);
}

TEST_F(Agentctl, P8_noise_and_half_lines_do_no_harm) {
  Driver& driver = begin(setup({"stdout_noise"}));
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("say 20"));
  const auto turns = testagent::read_sequence(driver.text());
  ASSERT_TRUE(turns) << turns.error().message();
  EXPECT_EQ(turns->at(1).chunks, 20U);
}

TEST_F(Agentctl, N5_a_question_asked_while_nobody_is_attached_waits) {
  Driver& driver = begin(setup());
  ASSERT_TRUE(driver.open_session());
  driver.prompt("sleep 200; chunks 1000 64; permission 1; say 3");
  ASSERT_TRUE(driver.until([&] { return driver.acted == 3; }));
  const FrameNo last = driver.frames.back().number;
  driver_.reset();  // the daemon disconnects in the middle of the turn

  DriverSetup again = setup();
  driver_ = std::make_unique<Driver>(again);
  driver_->execution().attach(2, last);
  ASSERT_TRUE(driver_->until_frame("permission.asked"));
  EXPECT_GE(driver_->frames.size(), 1000U);
  EXPECT_EQ(driver_->frames.front().number, last + 1);
  const auto* asked = driver_->last<FramePermission>();
  driver_->command_numbered(4, AnswerRequest{asked->request, asked->options.front().id});
  driver_->command_numbered(4, AnswerRequest{asked->request, "another"});  // takes effect once
  ASSERT_TRUE(driver_->until_frame("run.finished"));
  EXPECT_EQ(driver_->count("permission.asked"), 1U);
  EXPECT_NE(driver_->text().find(asked->options.front().id), std::string::npos);
}

TEST_F(Agentctl, P1_a_killed_agent_is_told_with_its_signal) {
  Driver& driver = begin(setup());
  ASSERT_TRUE(driver.open_session());
  driver.prompt("say 3; crash kill");
  ASSERT_TRUE(driver.until_frame("agent.exited"));
  EXPECT_EQ(driver.last<FrameAgentExited>()->exit.signal, SIGKILL);
  EXPECT_EQ(driver.last<FrameAgentExited>()->exit.why, "crashed");
  // A new agent process in the same execution.
  driver.command(StartAgent{});
  ASSERT_TRUE(driver.until_frame("agent.started", 2));
}

TEST_F(Agentctl, P4_runaway_children_end_with_the_agent) {
  Driver& driver = begin(setup());
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("spawn_child setsid; spawn_child child"));
  driver.stop();
  ASSERT_TRUE(driver.until_gone());
}

TEST_F(Agentctl, X4_an_agent_that_ignores_cancel_is_ended) {
  DriverSetup with = setup({"ignore_cancel", "ignores_sigterm"});
  with.adjust = [](Bootstrap& bootstrap) {
    bootstrap.agent.times.cancel_grace_ms = 100;
    bootstrap.agent.times.term_grace_ms = 100;
  };
  Driver& driver = begin(std::move(with));
  ASSERT_TRUE(driver.open_session());
  const RunId run = driver.prompt("say 1; hang");
  ASSERT_TRUE(driver.until_frame("message.agent"));
  driver.command(CancelPrompt{run});
  ASSERT_TRUE(driver.until_frame("agent.exited"));
  EXPECT_EQ(driver.last<FrameAgentExited>()->exit.signal, SIGKILL);
  EXPECT_EQ(driver.last<FrameAgentExited>()->exit.why, "killed");
}

TEST_F(Agentctl, N9_a_cancel_ends_the_turn_and_not_the_next_one) {
  Driver& driver = begin(setup());
  ASSERT_TRUE(driver.open_session());
  const RunId run = driver.prompt("say 1; hang");
  ASSERT_TRUE(driver.until_frame("message.agent"));
  driver.command(CancelPrompt{run});
  ASSERT_TRUE(driver.until_frame("run.finished"));
  EXPECT_EQ(driver.last<FrameRunFinished>()->stop_reason, "cancelled");
  driver.command(CancelPrompt{run});  // late
  ASSERT_TRUE(driver.run("say 2"));
  EXPECT_EQ(driver.last<FrameRunFinished>()->stop_reason, "end_turn");
}

TEST_F(Agentctl, P2_exit_zero_without_an_answer) {
  Driver& driver = begin(setup());
  ASSERT_TRUE(driver.open_session());
  driver.prompt("say 2; exit 0");
  ASSERT_TRUE(driver.until_frame("agent.exited"));
  EXPECT_EQ(driver.last<FrameAgentExited>()->exit.exit_code, 0);
  EXPECT_EQ(driver.count("run.finished"), 0U);
}

TEST_F(Agentctl, PROC4_killing_agentctl_ends_its_agent_and_loses_no_frame) {
  Driver& driver = begin(setup());
  ASSERT_TRUE(driver.open_session());
  driver.prompt("spawn_child setsid; chunks 100000 64");
  ASSERT_TRUE(driver.until_frame("message.agent", 500));
  kill_agentctl();
  ASSERT_TRUE(driver.until_gone()) << driver.frames.size();
  const auto turns = testagent::read_sequence(driver.text());
  ASSERT_TRUE(turns) << turns.error().message();
  EXPECT_FALSE(turns->at(1).ended);
}

TEST_F(Agentctl, X16_a_second_execution_of_the_session_is_refused_while_the_first_lives) {
  Driver& driver = begin(setup());
  ASSERT_TRUE(driver.open_session());
  DriverSetup other = setup();
  other.number = 2;
  Driver second(other);
  second.start();
  ASSERT_TRUE(second.until_gone());
  EXPECT_NE(second.proof.find("not_started"), std::string::npos) << second.proof;
  EXPECT_TRUE(driver.run("say 1"));
}

TEST_F(Agentctl, C19_what_holds_the_lock_is_ended_only_by_a_daemon_whose_session_it_still_is) {
  Driver& driver = begin(setup());
  ASSERT_TRUE(driver.open_session());
  DriverSetup other = setup();
  other.number = 2;
  int asked = 0;
  bool is_ours = false;
  other.adjust_setting = [&](LocalSetting& setting) {
    setting.when_locked = WhenLocked::take_over;
    setting.is_still_ours = [&](SessionId, std::uint64_t epoch) {
      ++asked;
      return is_ours && epoch == 1;
    };
  };
  Driver second(other);
  second.start();
  ASSERT_TRUE(second.until([&] { return asked >= 2; }));
  EXPECT_TRUE(driver.run("say 1"));
  is_ours = true;
  ASSERT_TRUE(second.until([&] { return !second.attaches.empty(); }));
  ASSERT_TRUE(driver.until_gone());
  driver_ = nullptr;
  second.stop();
  EXPECT_TRUE(second.until_gone());
}

TEST_F(Agentctl, X16_starting_the_same_execution_twice_attaches) {
  Driver& driver = begin(setup());
  ASSERT_TRUE(driver.open_session());
  Driver second(setup());
  second.execution().start(2, driver.frames.back().number);
  ASSERT_TRUE(second.until([&] { return !second.attaches.empty(); }));
  EXPECT_EQ(second.attaches[0].instance, driver.attaches[0].instance);
  ASSERT_TRUE(driver.until([&] { return driver.detaches == 1; }));
  driver_ = nullptr;
  second.stop();
  EXPECT_TRUE(second.until_gone());
}

TEST_F(Agentctl, R3_a_replay_is_counted_and_kept_out) {
  Driver& first = begin(setup());
  ASSERT_TRUE(first.open_session());
  ASSERT_TRUE(first.run("say 3"));
  ASSERT_TRUE(first.run("say 4"));
  const std::string id = first.last<FrameSessionOpened>()->agent_session_id;
  first.stop();
  ASSERT_TRUE(first.until_gone());

  DriverSetup next = setup();
  next.number = 2;
  Driver& second = begin(std::move(next));
  ASSERT_TRUE(second.until_frame("executor.ready"));
  second.command(StartAgent{});
  ASSERT_TRUE(second.until_frame("agent.started"));
  EXPECT_TRUE(second.last<FrameAgentStarted>()->agent.abilities.load);
  second.command(OpenSession{OpenMethod::load, id, {{"mode", "plan"}}});
  ASSERT_TRUE(second.until_frame("session.opened"));
  EXPECT_EQ(second.last<FrameSessionOpened>()->replayed_prompts, 2U);
  EXPECT_EQ(second.count("message.agent"), 0U);
  ASSERT_TRUE(second.run("mode; recall"));
  EXPECT_NE(second.text().find("plan"), std::string::npos) << second.text();  // R9
  EXPECT_NE(second.text().find("say 4"), std::string::npos) << second.text();
}

TEST_F(Agentctl, R1_an_unknown_session_is_said_to_be_unknown) {
  Driver& driver = begin(setup());
  ASSERT_TRUE(driver.until_frame("executor.ready"));
  driver.command(StartAgent{});
  ASSERT_TRUE(driver.until_frame("agent.started"));
  driver.command(OpenSession{OpenMethod::load, "no-such-session", {}});
  ASSERT_TRUE(driver.until_frame("session.open_failed"));
  EXPECT_EQ(driver.last<FrameOpenFailed>()->failure, OpenFailure::session_unknown);
  driver.command(OpenSession{});
  ASSERT_TRUE(driver.until_frame("session.opened"));
}

TEST_F(Agentctl, P14_an_agent_that_cannot_be_started_is_told_with_the_reason) {
  DriverSetup with = setup();
  with.agent_command = {"/no/such/program"};
  Driver& driver = begin(std::move(with));
  ASSERT_TRUE(driver.until_frame("executor.ready"));
  driver.command(StartAgent{});
  ASSERT_TRUE(driver.until_frame("agent.exited"));
  EXPECT_EQ(driver.last<FrameAgentExited>()->exit.why, "not_started");
  EXPECT_FALSE(driver.last<FrameAgentExited>()->exit.stderr_tail.empty());
}

TEST_F(Agentctl, L24_the_workspace_works_without_an_agent) {
  std::ofstream(work("hello.txt")) << "hello";
  Driver& driver = begin(setup());
  ASSERT_TRUE(driver.until_frame("executor.ready"));
  const std::uint64_t call = driver.execution().call("fs.read", R"({"path":"hello.txt"})");
  ASSERT_TRUE(driver.until([&] { return !driver.replies.empty(); }));
  EXPECT_EQ(driver.replies[0].first, call);
  ASSERT_TRUE(driver.replies[0].second) << driver.replies[0].second.error().message();
  EXPECT_NE(driver.replies[0].second->find("hello"), std::string::npos);
  driver.execution().call("Health", "{}");
  ASSERT_TRUE(driver.until([&] { return driver.replies.size() == 2; }));
  EXPECT_NE(driver.replies[1].second->find("\"agent\":\"none\""), std::string::npos);
}

TEST_F(Agentctl, X32_a_wrong_secret_and_an_older_owner_are_refused) {
  Driver& driver = begin(setup());
  ASSERT_TRUE(driver.until([&] { return !driver.attaches.empty(); }));
  DriverSetup wrong = setup();
  wrong.adjust = [](Bootstrap& bootstrap) { bootstrap.secret = "guessed"; };
  Driver thief(wrong);
  thief.execution().attach(9, 0);
  thief.until([&] { return !thief.attaches.empty(); }, 300);
  EXPECT_TRUE(thief.attaches.empty());
  Driver stale(setup());
  stale.execution().attach(0, 0);
  stale.until([&] { return !stale.attaches.empty(); }, 300);
  EXPECT_TRUE(stale.attaches.empty());
  EXPECT_EQ(driver.detaches, 0U);
}

}  // namespace
}  // namespace perdure
