// Executions, one after the other, each started only after the previous one is proved gone.
#include "core/session/scenario_for_test.h"
#include "core/views/read_model.h"

namespace perdure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Executor, K20_K24_K36_L26_each_step_of_a_start_waits_for_the_one_before) {
  Scenario s;
  s.ok(ResumeSession{});
  EXPECT_THAT(s.kinds(), ElementsAre("resume.requested", "executor.starting"));
  EXPECT_EQ(s.effect<StartExecutor>()->gen, 1U);
  EXPECT_EQ(s.state().exec.status, ExecutorStatus::starting);
  EXPECT_EQ(s.state().exec.host_boot, "host-boot-1");
  s.executor_ready();
  EXPECT_THAT(s.kinds(), ElementsAre("executor.ready"));
  EXPECT_TRUE(s.command<StartAgent>());
  s.agent_started();
  EXPECT_THAT(s.kinds(), ElementsAre("agent.started"));
  EXPECT_TRUE(s.command<OpenSession>());
  s.opened();
  EXPECT_THAT(s.kinds(), ElementsAre("context.boundary"));
  EXPECT_THAT(s.last().effects, IsEmpty());
  EXPECT_EQ(s.state().exec.agent, AgentPhase::ready);
}

TEST(Executor, K39_L8_L10_the_execution_keeps_how_it_can_be_found_again) {
  const Scenario s = Scenario::live();
  const Execution& exec = s.state().exec;
  EXPECT_EQ(exec.status, ExecutorStatus::ready);
  EXPECT_EQ(exec.url, "unix:/run/x.sock");
  EXPECT_EQ(exec.container_id, "c1");
  EXPECT_EQ(exec.pid, 77);
  EXPECT_EQ(exec.pid_started, 99);
  EXPECT_EQ(exec.instance, "i1");
  EXPECT_EQ(exec.runtime, "standalone");
}

TEST(Executor, A6_C14_K18_L6_R11_two_resumes_start_one_agent) {
  Scenario s;
  EXPECT_TRUE(s.ok(ResumeSession{}).resume_pending);
  EXPECT_TRUE(s.ok(ResumeSession{}, "token:phone").resume_pending);
  EXPECT_THAT(s.kinds(), IsEmpty());
  s.submit("and a prompt");
  EXPECT_THAT(s.kinds(), ElementsAre("queue.added"));
  s.ready();
  EXPECT_TRUE(s.ok(ResumeSession{}).already_running);
  EXPECT_THAT(s.last().events, IsEmpty());
  EXPECT_EQ(s.effects_of<StartExecutor>(), 1U);
  EXPECT_EQ(s.commands<StartAgent>(), 1U);
}

TEST(Executor, PROC3_G5_a_prompt_after_a_stop_waits_until_the_old_life_is_gone) {
  Scenario s = Scenario::worked();
  s.stop();
  s.submit("go on after all");
  EXPECT_THAT(s.kinds(), ElementsAre("queue.added", "resume.requested"));
  EXPECT_FALSE(s.effect<StartExecutor>());
  s.agent_exits({.exit_code = 0, .why = "stopped"});
  EXPECT_TRUE(s.state().resume);
  EXPECT_FALSE(s.effect<StartExecutor>());
  s.gone();
  EXPECT_THAT(s.kinds(), ElementsAre("executor.stopped", "executor.starting"));
  EXPECT_EQ(s.event<ExecutorStopped>()->reason, "stopped");
  EXPECT_EQ(s.state().exec.gen, 2U);
  s.ready();
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "go on after all");
}

TEST(Executor, PROC3_an_executor_that_fails_while_it_is_stopped_does_not_fail_the_next_life) {
  Scenario failed({.prompt = "build it"});
  failed.stop();
  failed.submit("go on after all");
  failed.frame(FrameExecutorFailed{"killed", "it was told to stop"});
  EXPECT_TRUE(failed.state().resume);
  failed.gone().ready();
  EXPECT_EQ(failed.command<SendPrompt>()->prompt.text, "go on after all");

  Scenario late({.prompt = "build it"});
  late.stop();
  late.submit("go on after all");
  late.ok(ReadyDeadlinePassed{late.state().exec.id, late.state().exec.gen}, "system");
  EXPECT_TRUE(late.state().resume);
}

TEST(Executor, X3_PROC2_frames_of_an_earlier_life_are_dropped_and_counted) {
  Scenario s = Scenario::running();
  const Execution old = s.state().exec;
  const RunId run = s.state().run->id;
  s.gone();
  const auto straggler = [&](FrameBody body) {
    s.ok(Frame{old.id, old.gen, 900, run, std::move(body)});
    EXPECT_EQ(s.last().dropped, 1U);
    EXPECT_THAT(s.last().events, IsEmpty());
    EXPECT_THAT(s.last().effects, IsEmpty());
  };
  straggler(FrameRunFinished{run, "end_turn"});
  s.submit("again");
  s.ready();
  straggler(MessageAgent{.text = "from the grave"});
  straggler(FramePermission{.request = "req-1", .token = WaitTokenId(Ulid{1, 1})});
  straggler(FrameAgentExited{{.signal = 9}});
  straggler(FrameRunFinished{s.state().run->id, "end_turn"});
  s.ok(ExecutorGone{old.id, old.gen, "pidfd"}, "system");
  EXPECT_THAT(s.last().events, IsEmpty());
  s.ok(ExecutorAttached{old.id, old.gen}, "system");
  EXPECT_THAT(s.last().events, IsEmpty());
  EXPECT_TRUE(s.state().run);
}

TEST(Executor, X3_a_frame_needs_both_the_id_and_the_gen_of_the_present_life) {
  Scenario s = Scenario::worked();
  s.ok(Frame{s.state().exec.id, s.state().exec.gen + 1, 900, {}, MessageAgent{.text = "x"}});
  EXPECT_EQ(s.last().dropped, 1U);
  s.ok(Frame{ExecId(Ulid{9, 9}), s.state().exec.gen, 901, {}, MessageAgent{.text = "x"}});
  EXPECT_EQ(s.last().dropped, 1U);
}

TEST(Executor, X3_a_session_without_an_execution_takes_no_frame) {
  Scenario s;
  s.ok(Frame{{}, 0, 1, {}, FramePermission{.request = "r", .token = WaitTokenId(Ulid{1, 1})}});
  EXPECT_EQ(s.last().dropped, 1U);
  EXPECT_THAT(s.state().waits, IsEmpty());
}

TEST(Executor, K23_L27_an_executor_that_is_never_ready_fails_the_resume_and_is_ended) {
  Scenario s({.prompt = "build it"});
  EXPECT_EQ(s.state().exec.ready_by.granted_ms, 60'000);
  s.pass(60'000);
  s.ok(ReadyDeadlinePassed{s.state().exec.id, s.state().exec.gen}, "system");
  EXPECT_THAT(s.kinds(), ElementsAre("executor.error", "resume.failed"));
  EXPECT_TRUE(s.effect<StopExecutor>());
  EXPECT_EQ(s.state().exec.status, ExecutorStatus::error);
  EXPECT_EQ(s.state().exec.error_code, "executor_timeout");
  EXPECT_EQ(s.state().failure->state, "FAILED");
  EXPECT_TRUE(s.state().queue.front().held);
  s.executor_ready();
  EXPECT_EQ(s.last().dropped, 1U);
  s.gone();
  EXPECT_EQ(s.state().exec.status, ExecutorStatus::error);
  EXPECT_FALSE(s.effect<StartExecutor>());
  s.ok(ReleaseQueue{});
  EXPECT_TRUE(s.effect<StartExecutor>());
}

TEST(Executor, K23_a_deadline_of_an_executor_that_came_up_or_is_gone_means_nothing) {
  Scenario s({.prompt = "build it"});
  const Execution first = s.state().exec;
  s.ready();
  s.ok(ReadyDeadlinePassed{first.id, first.gen}, "system");
  EXPECT_THAT(s.last().events, IsEmpty());
  s.gone();
  s.submit("again");
  s.ok(ReadyDeadlinePassed{first.id, first.gen}, "system");
  EXPECT_THAT(s.last().events, IsEmpty());
}

TEST(Executor, L16_L18_L27_an_executor_that_fails_to_start_says_why) {
  Scenario s;
  s.ok(ResumeSession{});
  s.frame(FrameExecutorFailed{"container_missing", "no such container"});
  EXPECT_THAT(s.kinds(), ElementsAre("executor.error", "resume.failed"));
  EXPECT_EQ(s.state().exec.error_message, "no such container");
  EXPECT_EQ(s.event<ResumeFailed>()->failure, OpenFailure::startup);
  EXPECT_TRUE(s.effect<StopExecutor>());
  s.frame(FrameExecutorFailed{"again", "again"});
  EXPECT_EQ(s.last().dropped, 1U);
}

TEST(Executor, C22_L21_a_resume_that_fails_at_boot_is_an_ERROR) {
  Scenario s = Scenario::lost({.policy = {.resume = ResumePolicy::on_boot}});
  s.ok(ResumeSession{.at_boot = true}, "system");
  s.frame(FrameExecutorFailed{"no_socket", "it did not come up"});
  EXPECT_EQ(s.state().failure->state, "ERROR");
  EXPECT_TRUE(s.event<ResumeFailed>()->at_boot);
}

TEST(Executor, X7_an_agentctl_that_dies_in_the_middle_of_a_resume_keeps_the_id) {
  Scenario s = Scenario::lost();
  const std::string id = s.state().context.agent_session_id;
  s.submit("go on");
  s.executor_ready().agent_started();
  s.gone();
  EXPECT_THAT(s.kinds(), ElementsAre("executor.stopped", "resume.failed"));
  EXPECT_EQ(s.event<ExecutorStopped>()->reason, "lost");
  EXPECT_EQ(s.event<ResumeFailed>()->failure, OpenFailure::transport);
  EXPECT_EQ(s.state().context.agent_session_id, id);
  EXPECT_FALSE(s.state().context.rejected);
  EXPECT_TRUE(s.state().queue.front().held);
  EXPECT_FALSE(s.effect<StartExecutor>());
}

TEST(Executor, L16_a_cause_with_a_code_is_named_by_the_failure_and_by_the_session) {
  Scenario s = Scenario::lost();
  s.submit("go on");
  const Execution starting = s.state().exec;
  s.ok(ExecutorGone{starting.id, starting.gen, "there is no such image", "image_missing"},
       "system");
  EXPECT_THAT(s.kinds(), ElementsAre("executor.stopped", "resume.failed"));
  EXPECT_EQ(s.event<ExecutorStopped>()->code, "image_missing");
  EXPECT_EQ(s.event<ResumeFailed>()->message, "there is no such image");
  ASSERT_TRUE(s.state().failure);
  EXPECT_EQ(s.state().failure->code, "image_missing");
}

TEST(Executor, L16_a_loss_in_mid_turn_with_a_code_is_shown_until_the_next_life) {
  Scenario s = Scenario::running();
  const Execution lost = s.state().exec;
  s.ok(ExecutorGone{lost.id, lost.gen, "it was removed", "container_missing"}, "system");
  EXPECT_THAT(s.kinds(), ElementsAre("run.interrupted", "executor.stopped"));
  const SessionView view = project_session(s.state(), World{});
  EXPECT_EQ(view.error_code, "container_missing");
  EXPECT_EQ(view.error_message, "it was removed");
  EXPECT_EQ(view.executor_status, ExecutorStatus::stopped);
  s.submit("go on");
  EXPECT_EQ(project_session(s.state(), World{}).error_code, "");
}

TEST(Executor, L16_a_stop_that_was_asked_for_has_no_cause) {
  Scenario s = Scenario::running();
  s.stop();
  const Execution stopped = s.state().exec;
  s.ok(ExecutorGone{stopped.id, stopped.gen, "it was removed", "container_missing"}, "system");
  EXPECT_EQ(s.event<ExecutorStopped>()->code, "");
}

TEST(Executor, P14_X7_an_agent_that_dies_at_start_fails_the_resume_and_keeps_the_id) {
  Scenario s = Scenario::lost();
  const std::string id = s.state().context.agent_session_id;
  s.submit("go on");
  s.executor_ready();
  s.agent_exits({.exit_code = 1, .why = "crashed", .stderr_tail = "no key"});
  EXPECT_THAT(s.kinds(), ElementsAre("agent.exited", "resume.failed"));
  EXPECT_EQ(s.event<ResumeFailed>()->failure, OpenFailure::startup);
  EXPECT_EQ(s.event<ResumeFailed>()->message,
            "the agent ended with code 1 before its session was open: no key");
  EXPECT_EQ(s.state().context.agent_session_id, id);
  EXPECT_EQ(s.commands<StartAgent>(), 2U);
}

TEST(Executor, P14_the_failure_of_a_start_names_its_reason) {
  const auto words = [](AgentExited exit) {
    Scenario s = Scenario::lost();
    s.submit("go on");
    s.executor_ready();
    s.agent_exits(std::move(exit));
    return s.event<ResumeFailed>()->message;
  };
  EXPECT_EQ(words({.why = "not_started", .stderr_tail = "run nothing: No such file\n"}),
            "the agent could not be started: run nothing: No such file");
  EXPECT_EQ(words({.signal = 11, .why = "crashed", .stderr_tail = " \n\n"}),
            "the agent ended by signal 11 before its session was open");
  EXPECT_EQ(words({.exit_code = 2, .why = "crashed", .stderr_tail = "a\nb: bad\r\n \n"}),
            "the agent ended with code 2 before its session was open: b: bad");
}

TEST(Executor, L20_L24_L37_A3_the_executor_outlives_its_agent_and_starts_another) {
  Scenario s = Scenario::running();
  s.agent_exits();
  EXPECT_EQ(s.state().exec.status, ExecutorStatus::ready);
  EXPECT_EQ(s.state().exec.agent, AgentPhase::none);
  EXPECT_FALSE(s.effect<StopExecutor>());
  s.submit("again");
  EXPECT_THAT(s.kinds(), ElementsAre("queue.added", "resume.requested"));
  EXPECT_TRUE(s.command<StartAgent>());
  EXPECT_EQ(s.effects_of<StartExecutor>(), 1U);
  s.agent_started().opened();
  EXPECT_EQ(s.state().exec.gen, 1U);
  EXPECT_TRUE(s.state().run);
}

TEST(Executor, C19_a_person_declares_a_silent_execution_dead_and_it_is_fenced) {
  Scenario s = Scenario::running();
  EXPECT_EQ(s.refused(DeclareDead{.reachable = true}), Code::conflict);
  s.booted();
  const Execution old = s.state().exec;
  s.ok(DeclareDead{}, "uid:1000");
  EXPECT_THAT(s.kinds(), ElementsAre("run.interrupted", "executor.stopped"));
  EXPECT_EQ(s.event<ExecutorStopped>()->proof, "declared by uid:1000");
  EXPECT_THAT(s.last().effects, testing::SizeIs(1));  // the notice of the interruption
  s.ok(Frame{old.id, old.gen, 900, {}, MessageAgent{.text = "I live"}});
  EXPECT_EQ(s.last().dropped, 1U);
  EXPECT_EQ(s.refused(DeclareDead{}), Code::conflict);
  s.submit("again");
  EXPECT_EQ(s.state().exec.gen, 2U);
}

TEST(Executor, C19_an_execution_that_was_reattached_answers_and_cannot_be_declared_dead) {
  Scenario s = Scenario::running();
  s.booted().attached();
  EXPECT_EQ(s.refused(DeclareDead{.reachable = true}), Code::conflict);
}

TEST(Executor, C1_L24_a_workspace_starts_without_an_agent_and_serves_the_next_prompt) {
  Scenario s;
  EXPECT_EQ(s.refused(StartWorkspace{.workspace_exists = false}), Code::workspace_missing);
  s.ok(StartWorkspace{});
  EXPECT_EQ(s.effects_of<StartExecutor>(), 1U);
  s.executor_ready();
  EXPECT_EQ(s.state().exec.status, ExecutorStatus::ready);
  EXPECT_EQ(s.state().exec.agent, AgentPhase::none);
  EXPECT_FALSE(s.command<StartAgent>());
  s.submit("now the agent");
  EXPECT_TRUE(s.command<StartAgent>());
  EXPECT_EQ(s.state().exec.gen, 1U);
}

TEST(Executor, C23_a_different_resume_does_not_join_the_one_under_way) {
  Scenario s;
  s.ok(ResumeSession{});
  s.ok(ResumeSession{});
  EXPECT_EQ(s.refused(ResumeSession{.how = ResumeHow::fresh}), Code::conflict);
  EXPECT_EQ(s.refused(ResumeSession{.with = AgentProfile{.name = "other"}}), Code::conflict);
}

TEST(Executor, C19_silence_after_a_boot_is_not_death) {
  Scenario s = Scenario::running();
  s.booted();
  EXPECT_EQ(s.status(), "running");
  EXPECT_TRUE(s.state().run);
  s.submit("queued");
  EXPECT_FALSE(s.effect<StartExecutor>());
}

TEST(Executor, D1_a_reattach_is_recorded_once_per_daemon) {
  Scenario s = Scenario::worked();
  s.attached();
  EXPECT_THAT(s.last().events, IsEmpty());
  s.booted().attached().attached();
  EXPECT_EQ(s.count<ExecutorReattached>(), 1U);
  EXPECT_EQ(s.state().exec.boot, s.boot());
  s.gone().attached();
  EXPECT_EQ(s.count<ExecutorReattached>(), 1U);
}

TEST(Executor, L19_an_executor_that_is_found_again_was_seen_now_by_this_daemon) {
  Scenario s = Scenario::worked();
  const Timestamp before = s.state().exec.last_seen;
  s.pass(1000).booted().attached();
  EXPECT_EQ(s.state().exec.boot, s.boot());
  EXPECT_GT(s.state().exec.last_seen, before);
  EXPECT_EQ(s.state().exec.status, ExecutorStatus::ready);
}

TEST(Executor, A3_C3_a_lost_execution_reads_as_interrupted_a_crashed_agent_as_crashed) {
  Scenario lost = Scenario::running();
  lost.gone();
  EXPECT_EQ(lost.state().stop_reason, "interrupted");
  EXPECT_EQ(lost.state().exec.status, ExecutorStatus::stopped);
  Scenario clean = Scenario::worked();
  clean.agent_exits({.exit_code = 0, .why = "exited"});
  EXPECT_EQ(clean.state().stop_reason, "");
}

TEST(Executor, X4_a_prompt_after_a_forced_cancel_waits_for_the_proof_of_the_end) {
  Scenario s = Scenario::running();
  s.ok(CancelRun{.force = true});
  s.submit("next");
  EXPECT_FALSE(s.effect<StartExecutor>());
  s.agent_exits({.signal = 9, .why = "killed"});
  s.gone();
  EXPECT_TRUE(s.effect<StartExecutor>());
  EXPECT_FALSE(s.state().failure);
}

TEST(Executor, PROC3_an_executor_that_comes_up_while_it_is_stopped_starts_no_agent) {
  Scenario s({.prompt = "build it"});
  s.stop();
  s.submit("go on after all");
  s.executor_ready();
  EXPECT_FALSE(s.command<StartAgent>());
  s.gone().ready();
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "go on after all");
}

TEST(Executor, C15_a_question_outside_any_run_is_lost_with_the_agentctl) {
  Scenario s = Scenario::worked();
  s.ask();
  s.gone();
  EXPECT_THAT(s.kinds(), ElementsAre("token.revoked", "permission.resolved", "executor.stopped"));
  EXPECT_EQ(s.event<PermissionResolved>()->outcome, PermissionOutcome::expired);
}

}  // namespace
}  // namespace perdure
