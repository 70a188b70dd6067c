// Runs: one open, one end each, preceded by everything else of the run.
#include "core/session/scenario_for_test.h"

namespace perdure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Runs, G4_RUN1_a_run_completes_once_and_a_second_end_is_dropped_and_counted) {
  Scenario s = Scenario::running();
  const RunId run = s.state().run->id;
  s.finish("max_tokens");
  EXPECT_THAT(s.kinds(), ElementsAre("run.completed"));
  EXPECT_EQ(s.event<RunCompleted>()->stop_reason, "max_tokens");
  EXPECT_NE(s.record<RunCompleted>()->event.origin.frame, 0U);
  s.frame_of(run, FrameRunFinished{run, "end_turn"});
  EXPECT_EQ(s.last().dropped, 1U);
  s.frame_of(run, FrameRunFailed{run, {.code = "agent_error"}});
  EXPECT_EQ(s.last().dropped, 1U);
}

TEST(Runs, N15_finished_failed_and_needs_input_are_three_notices) {
  Scenario s = Scenario::running();
  s.ask();
  EXPECT_EQ(s.effect<Notify>()->what, NotifyWhat::needs_input);
  s.finish();
  EXPECT_EQ(s.effect<Notify>()->what, NotifyWhat::finished);
  s.submit("more");
  s.fail_run();
  EXPECT_EQ(s.effect<Notify>()->what, NotifyWhat::failed);
  s.submit("more still");
  s.gone();
  EXPECT_EQ(s.effect<Notify>()->what, NotifyWhat::interrupted);
}

TEST(Runs, O9_C2_a_failed_run_leaves_the_session_idle_and_promptable) {
  Scenario s = Scenario::running();
  s.fail_run();
  EXPECT_THAT(s.kinds(), ElementsAre("run.failed"));
  EXPECT_EQ(s.status(), "idle");
  EXPECT_EQ(s.state().last_run->message, "it broke");
  EXPECT_EQ(s.submit("again").placed, "started");
}

TEST(Runs, P2_an_agent_that_exits_cleanly_without_an_answer_fails_the_turn) {
  Scenario s = Scenario::running();
  s.agent_exits({.exit_code = 0, .why = "exited"});
  EXPECT_THAT(s.kinds(), ElementsAre("agent.exited", "run.failed"));
  EXPECT_EQ(s.event<RunFailed>()->code, "agent_exited");
  EXPECT_EQ(s.submit("again").placed, "queued");
  s.agent_started().opened();
  EXPECT_TRUE(s.state().run);
}

TEST(Runs, P1_R6_A13_A26_O34_a_crash_in_mid_tool_leaves_the_tool_unknown_and_one_interruption) {
  Scenario s = Scenario::running();
  s.tool("t1", "in_progress").tool("t2", "completed").say("let me");
  s.agent_exits();
  EXPECT_THAT(s.kinds(), ElementsAre("agent.exited", "repair.closed_message", "repair.closed_tool",
                                     "run.interrupted"));
  EXPECT_EQ(s.event<AgentExited>()->signal, 9);
  EXPECT_EQ(s.event<RepairClosedTool>()->tool_call_id, "t1");
  EXPECT_EQ(s.event<RepairClosedTool>()->outcome, "unknown");
  EXPECT_EQ(s.event<RunInterrupted>()->reason, InterruptReason::process_exit);
  EXPECT_EQ(s.state().stop_reason, "agent_crashed");
  EXPECT_EQ(s.status(), "interrupted_startup");
  s.gone();
  EXPECT_EQ(s.state().stop_reason, "agent_crashed");
  s.booted();
  EXPECT_EQ(s.state().stop_reason, "agent_crashed");
  EXPECT_EQ(s.count<RunInterrupted>(), 1U);
}

TEST(Runs, D1_O12_O13_O26_X1_X19_restarts_write_one_interruption) {
  Scenario s = Scenario::running();
  s.say("half a").tool("t1", "pending");
  const Execution before = s.state().exec;
  for (int restart = 0; restart < 3; ++restart) {
    s.booted();
    s.ok(ExecutorGone{before.id, before.gen, "pidfd"}, "system");
  }
  EXPECT_EQ(s.count<RunInterrupted>(), 1U);
  EXPECT_EQ(s.event<RunInterrupted>()->reason, InterruptReason::process_restart);
  EXPECT_EQ(s.count<RepairClosedTool>(), 1U);
  EXPECT_EQ(s.count<ExecutorStopped>(), 1U);
  EXPECT_EQ(s.status(), "interrupted_startup");
  EXPECT_FALSE(s.effect<StartExecutor>());
}

TEST(Runs, D1_U2_with_the_agentctl_alive_a_restart_interrupts_nothing) {
  Scenario s = Scenario::running();
  s.say("half ").booted();
  EXPECT_EQ(s.status(), "running");
  s.attached();
  EXPECT_THAT(s.kinds(), ElementsAre("executor.reattached"));
  s.attached();
  EXPECT_THAT(s.kinds(), IsEmpty());
  s.say("a word").finish();
  EXPECT_EQ(s.count<RunInterrupted>(), 0U);
  EXPECT_EQ(s.count<RunCompleted>(), 2U);
}

TEST(Runs, O9_an_interruption_shows_until_a_newer_run) {
  Scenario s = Scenario::running();
  s.gone();
  EXPECT_EQ(s.status(), "interrupted_startup");
  s.submit("again");
  EXPECT_EQ(s.status(), "interrupted_startup");
  s.ready();
  EXPECT_EQ(s.status(), "running");
  s.finish();
  EXPECT_EQ(s.status(), "idle");
}

TEST(Runs, C2_A3_G6_an_interrupted_prompt_is_not_sent_again) {
  Scenario s = Scenario::running();
  s.gone();
  s.ok(ResumeSession{});
  s.ready();
  EXPECT_EQ(s.commands<SendPrompt>(), 2U);
  EXPECT_FALSE(s.state().run);
}

TEST(Runs, N9_a_cancel_that_loses_the_race_against_the_end_changes_nothing) {
  Scenario s = Scenario::running();
  s.finish();
  EXPECT_TRUE(s.cancel().nothing_to_do);
  EXPECT_THAT(s.last().effects, IsEmpty());
}

TEST(Runs, N9_a_cancel_that_meets_the_end_on_its_way_leaves_it_completed) {
  Scenario s = Scenario::running();
  EXPECT_EQ(s.cancel().run, s.state().run->id);
  EXPECT_THAT(s.kinds(), ElementsAre("run.cancelling"));
  EXPECT_TRUE(s.last().essential);
  EXPECT_TRUE(s.cancel().nothing_to_do);
  s.finish("end_turn");
  EXPECT_THAT(s.kinds(), ElementsAre("run.completed"));
}

TEST(Runs, N9_a_cancelled_run_names_who_cancelled_it_and_keeps_the_agent) {
  Scenario s = Scenario::running();
  s.ok(CancelRun{}, "token:phone");
  s.finish("cancelled");
  EXPECT_EQ(s.event<RunCancelled>()->by, "token:phone");
  EXPECT_FALSE(s.event<RunCancelled>()->frames_pending);
  EXPECT_EQ(s.submit("next").placed, "started");
  s.finish("cancelled");
  EXPECT_EQ(s.event<RunCancelled>()->by, "agent");
}

TEST(Runs, N9_the_next_prompt_is_not_hit_by_a_delayed_cancel) {
  Scenario s = Scenario::running();
  const RunId first = s.state().run->id;
  s.cancel();
  EXPECT_EQ(s.command<CancelPrompt>()->run, first);
  s.finish("cancelled");
  s.submit("next");
  s.frame_of(first, FrameRunFinished{first, "cancelled"});
  EXPECT_EQ(s.last().dropped, 1U);
  ASSERT_TRUE(s.state().run);
  EXPECT_FALSE(s.state().run->cancelling);
}

TEST(Runs, N9_an_agent_that_fails_or_dies_of_a_cancel_was_cancelled) {
  Scenario failed = Scenario::running();
  failed.cancel();
  failed.fail_run();
  EXPECT_THAT(failed.kinds(), ElementsAre("run.cancelled"));
  Scenario exited = Scenario::running();
  exited.cancel();
  exited.agent_exits({.exit_code = 0, .why = "exited"});
  EXPECT_THAT(exited.kinds(), ElementsAre("agent.exited", "run.cancelled"));
  Scenario died = Scenario::running();
  died.cancel();
  died.gone();
  EXPECT_THAT(died.kinds(), ElementsAre("run.cancelled", "executor.stopped"));
  EXPECT_EQ(died.status(), "idle");
}

TEST(Runs, X4_P3_RUN5_DISK2_an_agent_that_ignores_cancel_is_ended_and_the_queue_goes_on_once) {
  Scenario s = Scenario::running();
  s.submit("queued");
  s.cancel();
  s.ok(CancelRun{.force = true});
  EXPECT_THAT(s.kinds(), ElementsAre("run.cancelled"));
  EXPECT_TRUE(s.event<RunCancelled>()->frames_pending);
  EXPECT_TRUE(s.effect<StopExecutor>());
  EXPECT_FALSE(s.effect<StartExecutor>());
  s.agent_exits({.signal = 9, .why = "killed"});
  EXPECT_FALSE(s.effect<StartExecutor>());
  s.gone();
  EXPECT_TRUE(s.effect<StartExecutor>());
  s.ready();
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "queued");
  EXPECT_EQ(s.commands<SendPrompt>(), 3U);
}

TEST(Runs, RUN2_X29_X30_frames_behind_the_end_are_kept_apart_from_the_run) {
  Scenario s = Scenario::running();
  const RunId run = s.state().run->id;
  s.finish();
  s.frame_of(run, MessageAgent{.text = "by the way"});
  const Origin late = s.record<MessageAgent>()->event.origin;
  EXPECT_EQ(late.after_run, run);
  EXPECT_FALSE(late.run);
  s.frame_of(run, ToolCall{.tool_call_id = "t9", .status = "pending"});
  EXPECT_THAT(s.state().open_tools, IsEmpty());
  s.frame_of(RunId{}, MessageAgent{.text = "a monitor fired"});
  EXPECT_EQ(s.record<MessageAgent>()->event.origin.after_run, RunId{});
  EXPECT_EQ(s.status(), "idle");
}

TEST(Runs, X29_A13_repairs_stand_before_the_end_and_a_regular_end_repairs_tools_only) {
  Scenario s = Scenario::running();
  s.say("streams").tool("t1", "pending");
  s.frame(ToolUpdate{.tool_call_id = "t2", .status = "in_progress"});
  s.frame(ToolUpdate{.tool_call_id = "t1", .status = "failed"});
  s.finish();
  EXPECT_THAT(s.kinds(), ElementsAre("repair.closed_tool", "run.completed"));
  EXPECT_EQ(s.event<RepairClosedTool>()->tool_call_id, "t2");
}

TEST(Runs, C11_nothing_goes_on_by_itself_by_default) {
  Scenario s = Scenario::running();
  s.gone();
  EXPECT_THAT(s.state().queue, IsEmpty());
  EXPECT_FALSE(s.state().resume);
}

TEST(Runs, C11_auto_continue_is_journalled_first_and_happens_once) {
  Scenario s = Scenario::running({.policy = {.auto_continue = true}});
  s.submit("queued");
  s.gone();
  EXPECT_THAT(s.kinds(), ElementsAre("run.interrupted", "queue.added", "executor.stopped",
                                     "resume.requested", "executor.starting"));
  EXPECT_EQ(s.event<QueueAdded>()->by, "auto_continue");
  EXPECT_EQ(s.state().queue.front().by, "auto_continue");
  s.ready();
  EXPECT_EQ(s.event<RunStarted>()->trigger, "auto_continue");
  s.gone();
  EXPECT_EQ(s.count<RunInterrupted>(), 2U);
  EXPECT_FALSE(s.effect<StartExecutor>());
  EXPECT_TRUE(s.state().queue.front().held);
  EXPECT_EQ(s.state().queue.front().prompt->text, "queued");
}

TEST(Runs, C11_auto_continue_is_armed_again_by_a_person) {
  Scenario s = Scenario::running({.policy = {.auto_continue = true}});
  s.gone().ready();
  s.finish();
  s.submit("mine");
  s.gone();
  EXPECT_TRUE(s.effect<StartExecutor>());
}

TEST(Runs, N11_C23_the_end_of_an_auto_continue_fires_no_held_prompt) {
  Scenario s = Scenario::running({.policy = {.auto_continue = true}});
  s.submit("queued");
  s.gone().ready();
  s.finish();
  EXPECT_FALSE(s.state().run);
  EXPECT_TRUE(s.state().queue_held);
}

TEST(Runs, C11_R6_auto_continue_never_goes_over_an_open_tool_or_question) {
  Scenario tool = Scenario::running({.policy = {.auto_continue = true}});
  tool.tool("t1", "in_progress").gone();
  EXPECT_THAT(tool.state().queue, IsEmpty());
  Scenario question = Scenario::running({.policy = {.auto_continue = true}});
  question.ask();
  question.gone();
  EXPECT_THAT(question.state().queue, IsEmpty());
}

TEST(Runs, N11_a_failed_auto_continue_is_held_like_any_other_prompt) {
  Scenario s = Scenario::running({.policy = {.auto_continue = true}});
  s.gone();
  s.executor_ready().agent_started().open_fails(OpenFailure::auth);
  EXPECT_TRUE(s.state().queue.front().held);
}

TEST(Runs, C23_a_cancel_that_the_agent_dies_of_lets_the_next_prompt_start) {
  Scenario s = Scenario::running();
  s.submit("queued");
  s.cancel();
  s.agent_exits();
  EXPECT_TRUE(s.command<StartAgent>());
  s.agent_started().opened();
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "queued");
}

TEST(Runs, RUN2_N9_a_late_frame_of_one_run_is_not_taken_for_the_next) {
  Scenario s = Scenario::running();
  const RunId first = s.state().run->id;
  s.finish();
  s.submit("next");
  s.frame_of(first, ToolCall{.tool_call_id = "t9", .status = "pending"});
  EXPECT_EQ(s.record<ToolCall>()->event.origin.after_run, first);
  EXPECT_THAT(s.state().open_tools, IsEmpty());
}

}  // namespace
}  // namespace perdure
