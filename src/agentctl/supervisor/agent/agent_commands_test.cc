// A cancelled turn's remaining commands, and only they, are ended; the next prompt waits for this.
#include <csignal>

#include <gmock/gmock.h>

#include "agentctl/supervisor/agent/agent_on_stage_for_test.h"

namespace perdure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class CommandsOfATurn : public AgentOnStage {
 protected:
  static constexpr ProcessBirth server{50, 1};
  static constexpr ProcessBirth command{51, 2};
  static constexpr ProcessBirth helper{52, 2};

  // Begins a turn whose tool has started a command.
  RunId begin_with_command() {
    open();
    processes_.below = {server};
    const RunId run = prompt();
    update(R"({"sessionUpdate":"tool_call","toolCallId":"t1","status":"in_progress"})");
    processes_.below = {server, command, helper};
    return run;
  }
  void end_tool() {
    update(R"({"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"failed"})");
  }
  void answer_cancelled() { answer("session/prompt", R"({"stopReason":"cancelled"})"); }
  std::vector<std::string> notes() const {
    std::vector<std::string> found;
    for (const AgentUpdate& one : told<AgentUpdate>()) found.push_back(one.update.text);
    return found;
  }
};

TEST_F(CommandsOfATurn, P4_X4_a_cancel_ends_what_the_turn_started_and_nothing_older) {
  const RunId run = begin_with_command();
  agent_->act(CancelPrompt{run});
  EXPECT_THAT(processes_.sent, IsEmpty());
  answer_cancelled();
  EXPECT_THAT(processes_.sent, ElementsAre(Pair(SIGTERM, ProcessSet{command, helper})));
  EXPECT_EQ(processes_.below, ProcessSet{server});
  EXPECT_THAT(child().signals, IsEmpty()) << "the agent itself goes on";
  // Reported before the run ends, as a part of it.
  EXPECT_THAT(notes(), ElementsAre(R"({"perdure":"commands_ended","processes":2})"));
  EXPECT_EQ(told<FrameRunFinished>().at(0).stop_reason, "cancelled");
  EXPECT_EQ(frames_.at(frames_.size() - 2).run, run);
  EXPECT_TRUE(holds_alternative<FrameRunFinished>(frames_.back().body));
  loop_.advance_ms(10'000);
  EXPECT_EQ(processes_.sent.size(), 1U);
  EXPECT_EQ(loop_.timers(), 0U);
}

TEST_F(CommandsOfATurn, P4_what_ignores_the_term_signal_is_killed_after_the_grace) {
  const RunId run = begin_with_command();
  processes_.stubborn = {command};
  agent_->act(CancelPrompt{run});
  answer_cancelled();
  loop_.advance_ms(2'999);
  EXPECT_EQ(processes_.sent.size(), 1U);
  loop_.advance_ms(1);
  ASSERT_EQ(processes_.sent.size(), 2U);
  EXPECT_EQ(processes_.sent[1], std::pair(SIGKILL, ProcessSet{command}));
  EXPECT_EQ(processes_.below, ProcessSet{server});
  EXPECT_EQ(notes().back(), R"({"perdure":"commands_killed","processes":1})");
  EXPECT_FALSE(frames_.back().run) << "its run is over";
}

TEST_F(CommandsOfATurn, N9_the_next_prompt_waits_until_they_are_gone_and_keeps_its_own) {
  const RunId run = begin_with_command();
  processes_.stubborn = {command};
  agent_->act(CancelPrompt{run});
  prompt();  // waits for the turn
  answer_cancelled();
  prompt();  // waits for the commands
  EXPECT_EQ(heard("session/prompt"), 1U);
  loop_.advance_ms(3'000);
  EXPECT_EQ(heard("session/prompt"), 2U);
  processes_.below.insert({60, 9});
  loop_.advance_ms(60'000);
  EXPECT_TRUE(processes_.below.contains({60, 9}));
  answer("session/prompt", R"({"stopReason":"end_turn"})");
  EXPECT_EQ(heard("session/prompt"), 3U);
}

TEST_F(CommandsOfATurn, P4_a_turn_whose_tools_ended_or_that_was_not_cancelled_keeps_its_processes) {
  const RunId first = begin_with_command();
  end_tool();
  agent_->act(CancelPrompt{first});
  answer_cancelled();
  prompt();
  update(R"({"sessionUpdate":"tool_call","toolCallId":"t2","status":"in_progress"})");
  processes_.below.insert({60, 9});
  answer("session/prompt", R"({"stopReason":"end_turn"})");
  EXPECT_THAT(processes_.sent, IsEmpty());
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(CommandsOfATurn, P4_the_end_of_the_agent_is_the_end_of_the_wait) {
  const RunId run = begin_with_command();
  processes_.stubborn = {command};
  agent_->act(CancelPrompt{run});
  answer_cancelled();
  prompt();
  exit({.signal = SIGKILL});
  loop_.advance_ms(60'000);
  EXPECT_EQ(processes_.sent.size(), 1U);
  EXPECT_EQ(told<FrameAgentExited>().size(), 1U);
  EXPECT_EQ(loop_.timers(), 0U);
}

TEST_F(CommandsOfATurn, a_session_is_not_opened_over_a_prompt_that_waits) {
  const RunId run = begin_with_command();
  processes_.stubborn = {command};
  agent_->act(CancelPrompt{run});
  answer_cancelled();
  prompt();
  agent_->act(OpenSession{.method = OpenMethod::fresh});
  EXPECT_EQ(told<FrameOpenFailed>().size(), 1U);
  loop_.advance_ms(3'000);
  EXPECT_EQ(heard("session/prompt"), 2U);
}

}  // namespace
}  // namespace perdure
