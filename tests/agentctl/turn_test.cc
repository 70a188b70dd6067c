// Turns from outside: when they count as stalled, what belongs to them, how they end.
#include <csignal>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "fixture.h"
#include "testing/sequence.h"

namespace perdure {
namespace {

using testing::HasSubstr;

class AgentTurn : public Agentctl {
 protected:
  Driver& begin_impatient(std::int64_t stall_ms) {
    return begin_next({}, [=](Bootstrap& bootstrap) { bootstrap.agent.times.stall_ms = stall_ms; });
  }
  static bool until_ms_later(Driver& driver, std::int64_t ms) {
    const std::int64_t end_ms = driver.now_ms() + ms;
    return driver.until([&] { return driver.now_ms() >= end_ms; });
  }
};

TEST_F(AgentTurn, P6_silence_is_told_once_and_the_turn_goes_on) {
  Driver& driver = begin_impatient(100);
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("say 1; sleep 600; say 2"));
  EXPECT_EQ(driver.count("run.stalled"), 1U);
  EXPECT_GE(driver.last<FrameRunStalled>()->quiet_ms, 100);
  EXPECT_EQ(driver.last<FrameRunFinished>()->stop_reason, "end_turn");
  // A second silence is reported again.
  ASSERT_TRUE(driver.run("sleep 300; say 1; sleep 300; say 1"));
  EXPECT_EQ(driver.count("run.stalled"), 3U);
}

TEST_F(AgentTurn, P6_not_while_a_tool_runs_or_a_question_is_open) {
  Driver& driver = begin_impatient(100);
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("sleep_tool 500"));
  EXPECT_EQ(driver.count("run.stalled"), 0U);
  driver.prompt("permission 1; sleep 300");
  ASSERT_TRUE(driver.until_frame("permission.asked"));
  ASSERT_TRUE(until_ms_later(driver, 400));
  EXPECT_EQ(driver.count("run.stalled"), 0U);
  driver.command(AnswerRequest{driver.last<FramePermission>()->request, "allow_once"});
  ASSERT_TRUE(driver.until_frame("run.stalled")) << "from here on it has no excuse";
  ASSERT_TRUE(driver.until_frame("run.finished", 2));
}

TEST_F(AgentTurn, H2_P6_a_suspended_agent_is_stalled_and_ended_by_the_ladder) {
  Driver& driver = begin_next({}, [](Bootstrap& bootstrap) {
    bootstrap.agent.times.stall_ms = 100;
    bootstrap.agent.times.cancel_grace_ms = 100;
    bootstrap.agent.times.term_grace_ms = 100;
  });
  ASSERT_TRUE(driver.open_session());
  const RunId run = driver.prompt("chunks 1000000 64");
  ASSERT_TRUE(driver.until_frame("message.agent", 10));
  for (const pid_t pid : agent_processes(driver)) kill(pid, SIGSTOP);
  ASSERT_TRUE(driver.until_frame("run.stalled"));
  driver.command(CancelPrompt{run});
  ASSERT_TRUE(driver.until_frame("agent.exited"));
  EXPECT_EQ(driver.last<FrameAgentExited>()->exit.why, "killed");
  EXPECT_EQ(driver.last<FrameAgentExited>()->exit.signal, SIGKILL);
  EXPECT_EQ(driver.frames.back().run, run);
}

TEST_F(AgentTurn, N9_a_cancel_that_races_with_the_end_hits_no_other_turn) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  for (std::size_t round = 1; round <= 20; ++round) {
    const RunId run = driver.prompt("say 1");
    driver.command(CancelPrompt{run});
    const RunId next = driver.prompt("say 2");
    ASSERT_TRUE(driver.until_frame("run.finished", 2 * round));
    const auto* last = driver.last<FrameRunFinished>();
    ASSERT_EQ(last->run, next);
    ASSERT_EQ(last->stop_reason, "end_turn") << round;
  }
  EXPECT_EQ(driver.count("run.finished"), 40U);
  EXPECT_EQ(driver.count("agent.exited"), 0U);
}

TEST_F(AgentTurn, N9_a_waiting_prompt_is_cancelled_without_a_word_to_the_agent) {
  DriverSetup recorded = setup();
  record(recorded);
  Driver& driver = begin(std::move(recorded));
  ASSERT_TRUE(driver.open_session());
  const RunId first = driver.prompt("say 1; hang");
  ASSERT_TRUE(driver.until_frame("message.agent"));
  const RunId second = driver.prompt("say 1");
  driver.command(CancelPrompt{second});
  ASSERT_TRUE(driver.until_frame("run.finished"));
  EXPECT_EQ(driver.last<FrameRunFinished>()->run, second);
  EXPECT_TRUE(told("session/cancel").empty());
  driver.command(CancelPrompt{first});
  ASSERT_TRUE(driver.until_frame("run.finished", 2));
  EXPECT_EQ(told("session/prompt").size(), 1U);
}

TEST_F(AgentTurn, X29_the_end_comes_behind_everything_that_was_said) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  const RunId run = driver.prompt("chunks 3000 64; think 5; tool 3; say 1");
  ASSERT_TRUE(driver.until_frame("run.finished"));
  EXPECT_EQ(frame_kind(driver.frames.back()), "run.finished");
  const auto turns = testagent::read_sequence(driver.text());
  ASSERT_TRUE(turns) << turns.error().message();
  EXPECT_EQ(turns->at(1), (testagent::SeenTurn{3001, true}));
  std::size_t of_run = 0;
  for (const Frame& frame : driver.frames) of_run += frame.run == run ? 1 : 0;
  EXPECT_GE(of_run, 3001U + 5 + 6 + 1);
}

TEST_F(AgentTurn, X30_what_comes_behind_the_end_belongs_to_no_run) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("say 1; background 3"));
  const FrameNo end = driver.frames.back().number;
  ASSERT_TRUE(driver.until([&] { return driver.text().find("<b1:3>") != std::string::npos; }));
  std::size_t late = 0;
  for (const Frame& frame : driver.frames) {
    if (frame.number <= end) continue;
    EXPECT_FALSE(frame.run) << frame_kind(frame);
    late += frame_kind(frame) == "message.agent" ? 1 : 0;
  }
  EXPECT_EQ(late, 3U);
  EXPECT_TRUE(driver.run("say 1"));
}

TEST_F(AgentTurn, X25_what_nobody_knows_is_kept_as_it_came) {
  Driver& driver = begin_next({"updates_before_new"});
  ASSERT_TRUE(driver.open_session());
  const std::string id = driver.last<FrameSessionOpened>()->agent_session_id;
  EXPECT_EQ(driver.count("commands"), 1U) << "told before the session had a name";
  const std::string update =
      R"({"sessionUpdate":"dream_update","depth":[1,{"of":"a dream"}],"_meta":{"x":1}})";
  ASSERT_TRUE(driver.run("say 1; raw " +
                         (R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":")" +
                          id + R"(","update":)" + update + "}}")));
  bool kept = false;
  for (const Frame& frame : driver.frames) {
    const auto* one = get_if<AgentUpdate>(&frame.body);
    kept = kept || (one && one->update.text == update);
  }
  EXPECT_TRUE(kept);
  // Another session's update, an unknown notification, an unknown request.
  ASSERT_TRUE(
      driver.run("raw "
                 R"({"jsonrpc":"2.0","method":"session/update","params":)"
                 R"({"sessionId":"elsewhere","update":{"sessionUpdate":"x_of_others"}}})"));
  ASSERT_TRUE(
      driver.run("raw "
                 R"({"jsonrpc":"2.0","method":"qwen/notify","params":{"a":7}})"));
  ASSERT_TRUE(driver.run("call craft/drain {}"));
  std::string raw;
  for (const Frame& frame : driver.frames) {
    if (const auto* one = get_if<AgentUpdate>(&frame.body)) raw += one->update.text + "\n";
  }
  EXPECT_THAT(raw, HasSubstr("x_of_others"));
  EXPECT_THAT(raw, HasSubstr("qwen/notify"));
  EXPECT_THAT(driver.text(), HasSubstr("-32601"));
}

TEST_F(AgentTurn, version_2_of_the_protocol_through_a_turn_a_question_and_a_resume) {
  const auto second_version = [](Bootstrap& bootstrap) { bootstrap.agent.protocol_version = 2; };
  Driver& first = begin_next({"protocol=2"}, second_version);
  ASSERT_TRUE(first.open_session());
  first.prompt("say 3; permission 1; tool 1; say 2");
  ASSERT_TRUE(first.until_frame("permission.asked"));
  first.command(AnswerRequest{first.last<FramePermission>()->request, "allow_once"});
  ASSERT_TRUE(first.until_frame("run.finished"));
  EXPECT_EQ(first.last<FrameRunFinished>()->stop_reason, "end_turn");
  const auto turns = testagent::read_sequence(first.text());
  ASSERT_TRUE(turns) << turns.error().message();
  EXPECT_EQ(turns->at(1), (testagent::SeenTurn{6, true}));
  EXPECT_THAT(first.text(), HasSubstr("allow_once"));
  const RunId cancelled = first.prompt("say 1; hang");
  ASSERT_TRUE(first.until([&] { return first.text().find("<p2:1>") != std::string::npos; }));
  first.command(CancelPrompt{cancelled});
  ASSERT_TRUE(first.until_frame("run.finished", 2));
  EXPECT_EQ(first.last<FrameRunFinished>()->stop_reason, "cancelled");
  const std::string id = first.last<FrameSessionOpened>()->agent_session_id;
  stop(first);

  Driver& second = begin_next({"protocol=2"}, second_version);
  ASSERT_TRUE(start_agent(second));
  ASSERT_TRUE(open(second, {OpenMethod::resume, id, {{"mode", "plan"}}}));
  EXPECT_EQ(second.count("message.agent"), 0U);
  ASSERT_TRUE(second.run("mode; recall"));
  EXPECT_THAT(second.text(), HasSubstr("mode=plan"));
  EXPECT_THAT(second.text(), HasSubstr("I know 2 earlier prompts"));
}

TEST_F(AgentTurn, P16_a_daemon_that_restarts_in_a_turn_finds_a_session_that_works) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  driver.prompt("say 2; sleep 200; say 2");
  ASSERT_TRUE(driver.until_frame("message.agent", 2));
  const std::vector<Frame> before = driver.frames;
  driver_ = std::make_unique<Driver>(setup());
  driver_->execution().attach(2, before.back().number);
  ASSERT_TRUE(driver_->until_frame("run.finished"));
  EXPECT_EQ(driver_->frames.front().number, before.back().number + 1);
  driver_->command_numbered(20, SendPrompt{.run = RunId(Ulid{3, 77}), .prompt = {.text = "say 3"}});
  ASSERT_TRUE(driver_->until_frame("run.finished", 2));
  EXPECT_EQ(driver_->last<FrameRunFinished>()->run, RunId(Ulid{3, 77}));
}

}  // namespace
}  // namespace perdure
