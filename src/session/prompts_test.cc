// Prompts: placed by C23, kept in order, held after a bad end, sent once, with history once.
#include "base/limits.h"
#include "session/scenario_for_test.h"

namespace perdure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> queue_texts(const Scenario& s) {
  std::vector<std::string> texts;
  for (const QueuedPrompt& item : s.state().queue) texts.push_back(item.prompt->text);
  return texts;
}

// A session that lost its agent and comes back under a new agent session: history is armed.
Scenario armed(const Setup& setup = {}) {
  Scenario s = Scenario::lost(setup);
  s.ok(ResumeSession{.how = ResumeHow::inject});
  s.ready();
  return s;
}

TEST(Prompts, C23_a_prompt_to_an_idle_agent_starts_a_run) {
  Scenario s = Scenario::live();
  const Reply reply = s.submit("hello");
  EXPECT_THAT(s.kinds(), ElementsAre("run.started", "message.user"));
  EXPECT_EQ(reply.placed, "started");
  EXPECT_EQ(reply.run, s.state().run->id);
  EXPECT_EQ(s.records()[reply.seq - 1].event.body, EventBody(*s.event<MessageUser>()));
  ASSERT_TRUE(s.command<SendPrompt>());
  EXPECT_EQ(s.command<SendPrompt>()->message, reply.message);
  EXPECT_EQ(s.event<RunStarted>()->boot, s.boot());
  EXPECT_EQ(s.status(), "running");
}

TEST(Prompts, C18_C23_ACK4_prompts_to_a_running_agent_queue_and_start_in_order) {
  Scenario s = Scenario::running();
  EXPECT_EQ(s.submit("b").queue_position, 1U);
  const Reply c = s.submit("c", PromptWhen::queue);
  EXPECT_EQ(c.placed, "queued");
  EXPECT_EQ(c.queue_position, 2U);
  EXPECT_EQ(s.commands<SendPrompt>(), 2U);
  s.finish();
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "b");
  EXPECT_THAT(queue_texts(s), ElementsAre("c"));
  s.finish();
  EXPECT_EQ(s.state().run->id, c.run);
  EXPECT_EQ(s.event<MessageUser>()->key, "key of c");
}

TEST(Prompts, C23_O17_O22_a_prompt_to_a_waiting_run_cancels_the_question_and_runs_next) {
  Scenario s = Scenario::running();
  s.ask("req-1");
  const RunId waiting = s.state().run->id;
  EXPECT_EQ(s.submit("never mind").placed, "queued_front");
  EXPECT_THAT(s.kinds(),
              ElementsAre("queue.added", "run.cancelling", "token.revoked", "permission.resolved"));
  EXPECT_EQ(s.command<AnswerRequest>()->option_id, "");
  EXPECT_EQ(s.command<CancelPrompt>()->run, waiting);
  s.finish("cancelled");
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "never mind");
}

TEST(Prompts, C23_queue_waits_even_when_the_run_is_waiting) {
  Scenario s = Scenario::running();
  s.ask();
  EXPECT_EQ(s.submit("later", PromptWhen::queue).placed, "queued");
  EXPECT_THAT(s.kinds(), ElementsAre("queue.added"));
  EXPECT_EQ(s.status(), "waiting");
}

TEST(Prompts, C23_interrupt_ends_the_run_and_goes_in_front) {
  Scenario s = Scenario::running();
  s.submit("queued");
  const Reply reply = s.submit("now", PromptWhen::interrupt);
  EXPECT_EQ(reply.placed, "queued_front");
  EXPECT_EQ(reply.queue_position, 1U);
  EXPECT_TRUE(s.command<CancelPrompt>());
  s.submit("now too", PromptWhen::interrupt);
  EXPECT_FALSE(s.command<CancelPrompt>());
  s.finish("cancelled");
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "now too");
  EXPECT_THAT(queue_texts(s), ElementsAre("now", "queued"));
}

TEST(Prompts, C23_interrupt_of_an_idle_session_just_starts) {
  Scenario s = Scenario::live();
  EXPECT_EQ(s.submit("now", PromptWhen::interrupt).placed, "started");
}

Scenario steerable() { return Scenario::running({.agent = {.name = "codex", .steer = true}}); }

TEST(Prompts, C23_steer_goes_into_the_run_where_the_agent_has_it) {
  Scenario s = steerable();
  const RunId run = s.state().run->id;
  const std::uint64_t prompts = s.state().context.prompts;
  const Reply reply = s.submit("to the left", PromptWhen::steer);
  EXPECT_EQ(reply.placed, "steered");
  EXPECT_EQ(reply.run, run);
  EXPECT_THAT(s.kinds(), ElementsAre("queue.added"));
  EXPECT_EQ(s.command<SteerPrompt>()->message, reply.message);
  EXPECT_EQ(s.command<SteerPrompt>()->prompt.text, "to the left");
  s.frame(FrameSteerTaken{reply.message});
  EXPECT_THAT(s.kinds(), ElementsAre("queue.delivered", "message.user"));
  EXPECT_TRUE(s.event<MessageUser>()->steered);
  EXPECT_EQ(s.event<MessageUser>()->message, reply.message);
  EXPECT_EQ(s.record<MessageUser>()->event.origin.run, run);
  EXPECT_EQ(s.state().context.prompts, prompts);
  EXPECT_THAT(queue_texts(s), IsEmpty());
  s.finish();
  EXPECT_FALSE(s.state().run);
}

TEST(Prompts, C23_Q1_a_steer_that_the_end_of_the_turn_overtook_is_the_next_prompt) {
  Scenario s = steerable();
  s.submit("queued");
  const Reply left = s.submit("to the left", PromptWhen::steer);
  const Reply right = s.submit("no, right", PromptWhen::steer);
  EXPECT_THAT(queue_texts(s), ElementsAre("to the left", "no, right", "queued"));
  s.finish();
  EXPECT_THAT(s.kinds(),
              ElementsAre("run.completed", "queue.delivered", "run.started", "message.user"));
  EXPECT_EQ(s.event<MessageUser>()->message, left.message);
  EXPECT_FALSE(s.event<MessageUser>()->steered);
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "to the left");
  EXPECT_NE(s.state().run->id, left.run);
  EXPECT_FALSE(s.state().queue.front().steering);
  s.finish();
  EXPECT_EQ(s.event<MessageUser>()->message, right.message);
}

TEST(Prompts, C23_N11_a_steer_nobody_took_before_the_agent_was_lost_is_held) {
  Scenario lost = steerable();
  lost.submit("to the left", PromptWhen::steer);
  lost.booted().gone();
  EXPECT_EQ(lost.count<RunInterrupted>(), 1U);
  ASSERT_THAT(queue_texts(lost), ElementsAre("to the left"));
  EXPECT_TRUE(lost.state().queue.front().held);
  EXPECT_FALSE(lost.state().queue.front().steering);
  lost.ok(ReleaseQueue{});
  lost.ready();
  EXPECT_EQ(lost.command<SendPrompt>()->prompt.text, "to the left");

  Scenario crashed = steerable();
  crashed.submit("to the left", PromptWhen::steer);
  crashed.agent_exits();
  EXPECT_TRUE(crashed.state().queue.front().held);
  EXPECT_FALSE(crashed.state().queue.front().steering);

  Scenario failed = steerable();
  failed.submit("to the left", PromptWhen::steer);
  failed.fail_run();
  EXPECT_TRUE(failed.state().queue.front().held);

  Scenario cancelled = steerable();
  cancelled.submit("to the left", PromptWhen::steer);
  cancelled.cancel();
  cancelled.finish("cancelled");
  EXPECT_EQ(cancelled.command<SendPrompt>()->prompt.text, "to the left");
}

TEST(Prompts, C23_RUN4_a_steer_is_told_once_however_often_and_late_its_frame_comes) {
  Scenario s = steerable();
  const MessageId left = s.submit("to the left", PromptWhen::steer).message;
  s.frame(FrameSteerTaken{left}).frame(FrameSteerTaken{left});
  EXPECT_THAT(s.kinds(), IsEmpty());
  const MessageId right = s.submit("no, right", PromptWhen::steer).message;
  const RunId run = s.state().run->id;
  s.ok(CancelRun{.force = true});
  EXPECT_THAT(queue_texts(s), ElementsAre("no, right"));
  s.frame_of(run, FrameSteerTaken{right});  // it was on the link
  EXPECT_THAT(s.kinds(), ElementsAre("queue.delivered", "message.user"));
  EXPECT_EQ(s.record<MessageUser>()->event.origin.after_run, run);
  s.gone();
  EXPECT_FALSE(s.effect<StartExecutor>());
  EXPECT_EQ(s.count<MessageUser>(), 4U);
}

// A session whose turn a question's deadline ended while a steer was on its way into it, and whose
// queue a person has let go on.
Scenario steered_over_a_deadline() {
  Scenario s =
      Scenario::running({.agent = {.name = "codex", .steer = true}, .policy = {.wait_ms = 1000}});
  s.submit("to the left", PromptWhen::steer);
  s.submit("and then", PromptWhen::queue);
  const PermissionId asked = s.ask();
  s.pass(1000).ok(WaitDeadlinePassed{s.token_of(asked)}, "system");
  s.ok(ReleaseQueue{});
  EXPECT_THAT(s.kinds(), ElementsAre("queue.released"));
  return s;
}

TEST(Prompts, RUN4_C23_a_steer_does_not_begin_before_it_is_known_whether_its_turn_got_it) {
  Scenario taken = steered_over_a_deadline();
  const RunId run = taken.state().last_run->id;
  taken.frame_of(run, FrameSteerTaken{taken.state().queue.front().message});
  EXPECT_EQ(taken.command<SendPrompt>()->prompt.text, "and then");

  Scenario left = steered_over_a_deadline();
  left.frame_of(run, FrameRunFinished{left.state().last_run->id, "cancelled"});
  EXPECT_EQ(left.kinds().front(), "queue.kept");
  EXPECT_EQ(left.command<SendPrompt>()->prompt.text, "to the left");

  Scenario lost = steered_over_a_deadline();
  lost.gone();
  EXPECT_TRUE(lost.effect<StartExecutor>());
  EXPECT_THAT(queue_texts(lost), ElementsAre("to the left", "and then"));
}

TEST(Prompts, RUN4_C23_the_end_of_an_earlier_turn_says_nothing_about_a_steer_into_a_later_one) {
  Scenario s = steered_over_a_deadline();
  const RunId first = s.state().last_run->id;
  s.ok(RemoveQueued{s.state().queue.front().message});
  ASSERT_EQ(s.command<SendPrompt>()->prompt.text, "and then") << "nobody else would send it";
  s.submit("to the right", PromptWhen::steer);
  s.frame_of(first, FrameRunFinished{first, "cancelled"});
  EXPECT_TRUE(s.state().queue.front().steering);
}

TEST(Prompts, RUN4_C23_a_steer_of_an_execution_that_is_declared_dead_counts_as_given) {
  Scenario open = steerable();
  const RunId run = open.state().run->id;
  open.submit("to the left", PromptWhen::steer);
  open.booted().ok(DeclareDead{});
  EXPECT_THAT(queue_texts(open), IsEmpty());
  EXPECT_TRUE(open.event<MessageUser>()->steered);
  EXPECT_EQ(open.record<MessageUser>()->event.origin.run, run);

  Scenario ended = steered_over_a_deadline();
  const RunId before = ended.state().last_run->id;
  ended.booted().ok(DeclareDead{});
  EXPECT_EQ(ended.record<MessageUser>()->event.origin.after_run, before);
  EXPECT_THAT(queue_texts(ended), ElementsAre("and then"));
}

TEST(Prompts, C23_a_frame_about_a_prompt_that_was_only_queued_takes_it_nowhere) {
  Scenario s = steerable();
  const MessageId queued = s.submit("queued").message;
  s.frame(FrameSteerTaken{queued});
  EXPECT_THAT(s.kinds(), IsEmpty());
  EXPECT_THAT(queue_texts(s), ElementsAre("queued"));
}

TEST(Prompts, C23_N11_a_prompt_on_its_way_into_the_turn_cannot_be_edited_or_removed) {
  Scenario s = steerable();
  const MessageId left = s.submit("to the left", PromptWhen::steer).message;
  EXPECT_EQ(s.refused(EditQueued{left, {.text = "x"}}), Code::conflict);
  EXPECT_EQ(s.refused(RemoveQueued{left}), Code::conflict);
  s.fail_run();
  s.ok(EditQueued{left, {.text = "to the far left"}});
  s.ok(RemoveQueued{left});
}

TEST(Prompts, what_nests_deeper_than_it_can_be_passed_on_is_refused) {
  const auto nested = [](std::size_t levels) {
    return RawJson{std::string(levels, '[') + std::string(levels, ']')};
  };
  Scenario s = Scenario::running();
  const RawJson least = nested(json_depth_given_max + 1);
  EXPECT_EQ(s.refused(SubmitPrompt{.prompt = {.text = "x", .blocks = least}}),
            Code::invalid_argument);
  const MessageId queued = s.submit("queued").message;
  EXPECT_EQ(s.refused(EditQueued{queued, {.text = "x", .blocks = least}}), Code::invalid_argument);
  EXPECT_EQ(s.refused(ConfigureSession{{.mcp_servers = least}}), Code::invalid_argument);
  const RawJson most = nested(json_depth_given_max);
  s.ok(EditQueued{queued, {.text = "x", .blocks = most}});
  s.ok(ConfigureSession{{.mcp_servers = most}});
}

TEST(Prompts, N11_a_process_inside_a_session_changes_only_prompts_of_its_own) {
  const std::string inside = "session:" + SessionId(Ulid{5, 5}).text();
  Scenario s = Scenario::running();
  const MessageId theirs = s.submit("by a person").message;
  const MessageId own = s.ok(SubmitPrompt{.prompt = {.text = "by itself"}}, inside).message;
  EXPECT_EQ(s.refused(EditQueued{theirs, {.text = "x"}}, inside), Code::denied);
  EXPECT_EQ(s.refused(RemoveQueued{theirs}, inside), Code::denied);
  s.ok(EditQueued{own, {.text = "by itself, better"}}, inside);
  s.fail_run();
  EXPECT_EQ(s.refused(ReleaseQueue{}, inside), Code::denied);
  s.ok(RemoveQueued{theirs});
  s.ok(ReleaseQueue{}, inside);
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "by itself, better");
}

TEST(Prompts, C23_steer_is_queued_in_front_where_it_cannot_be_taken) {
  Scenario unable = Scenario::running();
  unable.submit("queued");
  EXPECT_EQ(unable.submit("left", PromptWhen::steer).placed, "queued_front");
  EXPECT_THAT(queue_texts(unable), ElementsAre("left", "queued"));
  EXPECT_FALSE(unable.command<CancelPrompt>());

  Scenario waiting = Scenario::running({.agent = {.name = "codex", .steer = true}});
  waiting.ask();
  EXPECT_EQ(waiting.submit("left", PromptWhen::steer).placed, "queued_front");

  Scenario cancelling = Scenario::running({.agent = {.name = "codex", .steer = true}});
  cancelling.cancel();
  EXPECT_EQ(cancelling.submit("left", PromptWhen::steer).placed, "queued_front");

  // An agentctl of an earlier build, which would not say whether the agent got it.
  Scenario silent = Scenario({.agent = {.name = "codex", .steer = true}});
  silent.ok(ResumeSession{});
  silent.frame(FrameExecutorReady{}).agent_started().opened();
  silent.submit("go");
  EXPECT_EQ(silent.submit("left", PromptWhen::steer).placed, "queued_front");
  EXPECT_FALSE(silent.command<SteerPrompt>());
}

TEST(Prompts, K13_K14_K20_a_prompt_without_an_agent_is_durable_at_once_and_brings_it_up) {
  Scenario s = Scenario::lost();
  const Reply reply = s.submit("go on");
  EXPECT_THAT(s.kinds(), ElementsAre("queue.added", "resume.requested", "executor.starting"));
  EXPECT_EQ(reply.placed, "queued");
  EXPECT_EQ(reply.queue_position, 1U);
  EXPECT_EQ(s.state().status, "idle");
  s.ready();
  EXPECT_EQ(s.state().run->id, reply.run);
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "go on");
}

TEST(Prompts, C23_K17_a_prompt_whose_resume_fails_is_held_and_can_be_let_go) {
  Scenario s = Scenario::lost();
  s.submit("go on");
  s.executor_ready().agent_started().open_fails(OpenFailure::timeout);
  ASSERT_EQ(s.state().queue.size(), 1U);
  EXPECT_TRUE(s.state().queue.front().held);
  EXPECT_FALSE(s.state().resume);
  s.ok(ReleaseQueue{});
  EXPECT_THAT(s.kinds(), ElementsAre("queue.released", "resume.requested"));
  s.agent_started().opened();
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "go on");
}

TEST(Prompts, C23_N11_after_a_failed_interrupted_or_stopped_run_the_queue_is_held) {
  Scenario failed = Scenario::running();
  failed.submit("queued");
  failed.fail_run();
  EXPECT_TRUE(failed.state().queue.front().held);
  EXPECT_FALSE(failed.state().run);

  Scenario interrupted = Scenario::running();
  interrupted.submit("queued");
  interrupted.booted().gone();
  EXPECT_TRUE(interrupted.state().queue.front().held);
  EXPECT_FALSE(interrupted.effect<StartExecutor>());
  interrupted.booted();
  EXPECT_TRUE(interrupted.state().queue_held);

  Scenario stopped = Scenario::running();
  stopped.submit("queued");
  stopped.stop();
  stopped.gone();
  EXPECT_TRUE(stopped.state().queue.front().held);
  EXPECT_FALSE(stopped.effect<StartExecutor>());
}

TEST(Prompts, C23_after_a_cancelled_run_the_next_prompt_starts) {
  Scenario s = Scenario::running();
  s.submit("queued");
  s.cancel();
  s.finish("cancelled");
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "queued");
}

TEST(Prompts, C23_N11_a_new_prompt_overtakes_the_held_ones_and_leaves_them_held) {
  Scenario s = Scenario::running();
  s.submit("held 1");
  s.submit("held 2");
  s.fail_run();
  EXPECT_EQ(s.submit("fix it first").placed, "started");
  EXPECT_EQ(s.event<RunStarted>()->ahead_of, 2U);
  s.finish();
  EXPECT_FALSE(s.state().run);
  EXPECT_THAT(queue_texts(s), ElementsAre("held 1", "held 2"));
  EXPECT_TRUE(s.state().queue_held);
  s.ok(ReleaseQueue{});
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "held 1");
  s.finish();
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "held 2");
  EXPECT_TRUE(s.ok(ReleaseQueue{}).nothing_to_do);
}

TEST(Prompts, the_queue_position_counts_what_can_start_before) {
  Scenario s = Scenario::running();
  s.submit("held 1");
  s.submit("held 2");
  s.gone();
  EXPECT_EQ(s.submit("next").queue_position, 1U);
  EXPECT_EQ(s.submit("after next").queue_position, 2U);
}

TEST(Prompts, N11_a_queued_prompt_can_be_edited_and_removed_held_or_not) {
  Scenario s = Scenario::running();
  const MessageId a = s.submit("a").message;
  const MessageId b = s.submit("b").message;
  s.ok(EditQueued{a, {.text = "a, better"}});
  s.ok(RemoveQueued{b});
  EXPECT_THAT(queue_texts(s), ElementsAre("a, better"));
  EXPECT_EQ(s.refused(RemoveQueued{b}), Code::not_found);
  EXPECT_EQ(s.refused(EditQueued{b, {.text = "x"}}), Code::not_found);
  EXPECT_EQ(s.refused(EditQueued{a, {}}), Code::invalid_argument);
  s.fail_run();
  s.ok(EditQueued{a, {.text = "a, best"}});
  EXPECT_TRUE(s.state().queue.front().held);
  s.ok(RemoveQueued{a});
  EXPECT_FALSE(s.state().queue_held);
}

TEST(Prompts, G8_the_queue_has_a_limit_of_bytes_also_for_who_edits_it) {
  Scenario s = Scenario::running();
  const std::string large(prompt_bytes_max, 'x');
  for (std::size_t i = 0; i < queue_bytes_max / prompt_bytes_max - 1; ++i) s.submit(large);
  const MessageId last = s.submit("small").message;
  EXPECT_EQ(s.refused(SubmitPrompt{{.text = large}}), Code::limit_reached);
  s.submit("another small one");
  EXPECT_EQ(s.refused(EditQueued{last, {.text = large}}), Code::limit_reached);
  s.ok(RemoveQueued{s.state().queue.front().message});
  s.ok(EditQueued{last, {.text = large}});
  s.ok(EditQueued{last, {.text = std::string(large.size() - 1, 'y')}});
}

TEST(Prompts, G8_the_queue_has_a_limit_and_says_so) {
  Scenario s = Scenario::running();
  for (std::size_t i = 0; i < queue_prompts_max; ++i) s.submit(std::to_string(i));
  EXPECT_EQ(s.refused(SubmitPrompt{{.text = "one more"}}), Code::limit_reached);
  s.ok(RemoveQueued{s.state().queue.back().message});
  s.submit("one more");
}

TEST(Prompts, K4_K29_C12_X28_history_goes_with_the_first_prompt_once_and_apart_from_it) {
  Scenario s = armed();
  ASSERT_TRUE(s.state().context.inject_armed);
  EXPECT_EQ(s.submit("go on").placed, "queued");
  ASSERT_TRUE(s.effect<PrepareInjection>());
  EXPECT_EQ(s.effect<PrepareInjection>()->boundary, s.state().context.boundary);
  s.injection("=== EXECUTION HISTORY === what was");
  EXPECT_THAT(s.kinds(),
              ElementsAre("queue.delivered", "run.started", "context.injected", "message.user"));
  EXPECT_EQ(s.event<MessageUser>()->prompt.text, "go on");
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "go on");
  EXPECT_EQ(s.command<SendPrompt>()->context, "=== EXECUTION HISTORY === what was");
  EXPECT_EQ(s.event<ContextInjected>()->message, s.event<MessageUser>()->message);
  s.injection();
  EXPECT_THAT(s.kinds(), IsEmpty());
  s.finish();
  EXPECT_EQ(s.submit("and on").placed, "started");
  EXPECT_EQ(s.command<SendPrompt>()->context, "");
}

TEST(Prompts, R5_K29_two_prompts_before_the_history_is_rendered_carry_it_once) {
  Scenario s = armed();
  s.submit("one");
  EXPECT_EQ(s.submit("two").queue_position, 2U);
  s.injection();
  s.injection();
  s.finish();
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "two");
  EXPECT_EQ(s.command<SendPrompt>()->context, "");
  EXPECT_EQ(s.count<ContextInjected>(), 1U);
}

TEST(Prompts, R5_a_history_rendered_for_another_boundary_is_not_sent) {
  Scenario s = armed();
  s.submit("one");
  s.ok(InjectionReady{s.state().context.boundary - 1, "old", 1, 1, 3});
  EXPECT_THAT(s.kinds(), IsEmpty());
  EXPECT_TRUE(s.state().context.inject_armed);
}

TEST(Prompts, K29_history_that_comes_when_its_prompt_was_removed_waits_for_the_next) {
  Scenario s = armed();
  s.ok(RemoveQueued{s.submit("one").message});
  s.injection();
  EXPECT_THAT(s.kinds(), IsEmpty());
  s.submit("two");
  EXPECT_TRUE(s.effect<PrepareInjection>());
  s.injection();
  EXPECT_EQ(s.count<ContextInjected>(), 1U);
}

TEST(Prompts, C12_K5_without_injection_the_prompt_goes_bare) {
  for (const Inject inject : {Inject::off, Inject::ask}) {
    Scenario s = Scenario::lost({.agent = {.name = "gemini", .native_session_resume = false},
                                 .policy = {.inject = inject}});
    s.submit("go on");
    s.ready();
    EXPECT_EQ(s.event<ContextBoundary>()->how, BoundaryHow::fresh);
    EXPECT_EQ(s.command<SendPrompt>()->context, "");
  }
}

TEST(Prompts, X26_a_clear_takes_the_waiting_history_back_and_lets_the_prompt_go) {
  Scenario s = armed();
  s.submit("go on");
  s.frame(FrameContextChanged{BoundaryHow::cleared});
  EXPECT_EQ(s.command<SendPrompt>()->context, "");
  EXPECT_EQ(s.state().context.history_prompts, 1U);
}

TEST(Prompts, X26_a_compaction_renders_the_waiting_history_again) {
  Scenario s = armed();
  s.submit("go on");
  s.frame(FrameContextChanged{BoundaryHow::compacted});
  ASSERT_TRUE(s.effect<PrepareInjection>());
  EXPECT_EQ(s.effect<PrepareInjection>()->boundary, s.state().context.boundary);
  s.injection();
  EXPECT_TRUE(s.command<SendPrompt>());
}

TEST(Prompts, K22_a_resume_prompts_nobody) {
  Scenario s = Scenario::lost();
  s.ok(ResumeSession{});
  s.ready();
  EXPECT_FALSE(s.state().run);
  EXPECT_EQ(s.commands<SendPrompt>(), 1U);
  EXPECT_EQ(s.status(), "idle");
}

TEST(Prompts, prompts_that_come_while_the_agent_starts_run_in_order) {
  Scenario s = Scenario::lost();
  s.submit("one");
  EXPECT_EQ(s.submit("two").queue_position, 2U);
  s.submit("three", PromptWhen::queue);
  EXPECT_EQ(s.effects_of<StartExecutor>(), 2U);
  s.ready();
  s.finish().finish();
  EXPECT_EQ(s.event<MessageUser>()->prompt.text, "three");
  EXPECT_EQ(s.count<ResumeRequested>(), 2U);
}

TEST(Prompts, C19_G6_a_prompt_waits_until_an_earlier_daemons_execution_is_known_to_live) {
  Scenario s = Scenario::worked();
  s.booted();
  const Reply reply = s.submit("while nobody knows");
  EXPECT_EQ(reply.placed, "queued");
  EXPECT_THAT(s.kinds(), ElementsAre("queue.added"));
  EXPECT_FALSE(s.state().run);
  s.attached();
  EXPECT_EQ(s.state().run->id, reply.run);
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "while nobody knows");
}

TEST(Prompts, C19_a_prompt_that_waited_for_a_dead_execution_goes_to_a_new_one) {
  Scenario s = Scenario::worked();
  s.booted();
  const Reply reply = s.submit("while nobody knows");
  s.gone();
  EXPECT_EQ(s.count<RunInterrupted>(), 0U);
  s.ready();
  EXPECT_EQ(s.state().run->id, reply.run);
}

TEST(Prompts, C19_K29_history_rendered_before_the_execution_is_known_to_live_is_not_sent) {
  Scenario s = armed();
  s.submit("with history");
  s.booted().injection();
  EXPECT_FALSE(s.state().run);
  s.attached().injection();
  EXPECT_TRUE(s.state().run);
  EXPECT_EQ(s.count<ContextInjected>(), 1U);
}

}  // namespace
}  // namespace perdure
