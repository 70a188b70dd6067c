// Questions and their tokens: the first durable answer counts; nothing else ever allows anything.
#include "base/limits.h"
#include "core/session/scenario_for_test.h"

namespace perdure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Waits, O18_O19_O23_a_question_mints_a_token_of_which_only_the_hash_is_kept) {
  Scenario s = Scenario::running();
  const PermissionId permission = s.ask("req-1");
  EXPECT_THAT(s.kinds(), ElementsAre("permission.requested", "token.minted", "run.waiting"));
  const WaitTokenId token = s.token_of(permission);
  const Wait& wait = s.state().waits.at(token);
  EXPECT_EQ(wait.secret_hash, secret_hash_for_test(token));
  EXPECT_EQ(wait.run, s.state().run->id);
  EXPECT_EQ(wait.kind, WaitKind::permission);
  EXPECT_EQ(s.event<RunWaiting>()->token, token);
  EXPECT_EQ(s.status(), "waiting");
}

TEST(Waits, C15_a_question_waits_for_ever_unless_a_policy_gives_it_time) {
  Scenario s = Scenario::running();
  const WaitTokenId token = s.token_of(s.ask());
  EXPECT_FALSE(s.state().waits.at(token).deadline);
  s.pass(365LL * 86'400'000);
  s.ok(WaitDeadlinePassed{token}, "system");
  EXPECT_THAT(s.kinds(), IsEmpty());
  s.booted();
  EXPECT_EQ(s.status(), "waiting");
  s.ok(Scenario::with_secret(token, "allow"));
}

TEST(Waits, O21_TOK1_TOK4_an_answer_consumes_the_token_and_resumes_the_run_in_one_commit) {
  Scenario s = Scenario::running();
  const PermissionId permission = s.ask("req-7");
  const Reply reply = s.ok(AnswerPermission{permission, "allow"}, "token:phone");
  EXPECT_THAT(s.kinds(), ElementsAre("token.consumed", "permission.resolved", "run.resumed"));
  EXPECT_EQ(reply.outcome, PermissionOutcome::selected);
  EXPECT_EQ(reply.option_id, "allow");
  EXPECT_EQ(reply.decided_by, "token:phone");
  EXPECT_EQ(*s.command<AnswerRequest>(), (AnswerRequest{"req-7", "allow"}));
  EXPECT_EQ(s.event<PermissionResolved>()->by, "token:phone");
  EXPECT_EQ(s.status(), "running");
}

TEST(Waits, G7_a_record_offers_no_id_that_two_options_share) {
  Scenario s = Scenario::running();
  FramePermission asked;
  asked.request = "req-1";
  asked.title = "May I?";
  asked.options = {{"z", "Allow", "allow_once"},
                   {"z", "Reject", "reject_once"},
                   {"", "Later", "reject_once"},
                   {"n", "No", "reject_once"}};
  s.frame_of(s.state().run->id, asked);
  const PermissionRequested recorded = *s.event<PermissionRequested>();
  EXPECT_THAT(recorded.options, ElementsAre(PermissionOption{"n", "No", "reject_once"}));
  EXPECT_EQ(recorded.options_left_out, 3U);
  const Permission open = s.state().permissions.at(recorded.permission);
  EXPECT_EQ(open.options, recorded.options);
  EXPECT_EQ(open.options_left_out, 3U);
  EXPECT_EQ(s.refused(AnswerPermission{recorded.permission, "z"}), Code::invalid_argument);
}

TEST(Waits, the_record_keeps_the_name_of_the_chosen_option) {
  Scenario s = Scenario::running();
  const PermissionId permission = s.ask();
  const std::string name = s.state().permissions.at(permission).options.front().name;
  EXPECT_EQ(s.ok(AnswerPermission{permission, "allow"}).option_name, name);
  EXPECT_EQ(s.event<PermissionResolved>()->option_name, name);
  EXPECT_EQ(s.ok(AnswerPermission{permission, "reject"}).option_name, name) << "the first answer";
}

TEST(Waits, an_answer_that_names_another_question_is_refused_and_changes_nothing) {
  Scenario s = Scenario::running();
  const PermissionId first = s.ask("req-1");
  const PermissionId second = s.ask("req-2");
  const std::string shown = s.state().permissions.at(first).digest;
  EXPECT_EQ(shown.size(), 64U);
  EXPECT_NE(shown, s.state().permissions.at(second).digest);
  const State before = s.state();
  EXPECT_EQ(s.refused(AnswerPermission{second, "allow", shown}), Code::conflict);
  AnswerWait by_token = Scenario::with_secret(s.token_of(second), "allow");
  by_token.if_question = shown;
  EXPECT_EQ(s.refused(by_token), Code::conflict);
  EXPECT_EQ(s.state(), before);
  s.ok(AnswerPermission{first, "allow", shown});
}

TEST(Waits, O21_an_answer_by_token_does_the_same) {
  Scenario s = Scenario::running();
  const WaitTokenId token = s.token_of(s.ask());
  s.ok(Scenario::with_secret(token, "reject"));
  EXPECT_THAT(s.kinds(), ElementsAre("token.consumed", "permission.resolved", "run.resumed"));
  EXPECT_EQ(s.event<RunResumed>()->token, token);
  EXPECT_EQ(s.event<PermissionResolved>()->option_id, "reject");
}

TEST(Waits, N6_TOK3_the_first_answer_wins_and_the_others_learn_it) {
  Scenario s = Scenario::running();
  const PermissionId permission = s.ask();
  s.ok(AnswerPermission{permission, "reject"}, "token:phone");
  const Reply second = s.ok(AnswerPermission{permission, "allow"}, "uid:1000");
  EXPECT_TRUE(second.nothing_to_do);
  EXPECT_EQ(second.outcome, PermissionOutcome::selected);
  EXPECT_EQ(second.option_id, "reject");
  EXPECT_EQ(second.decided_by, "token:phone");
  EXPECT_THAT(s.last().effects, IsEmpty());
  EXPECT_EQ(s.commands<AnswerRequest>(), 1U);
}

TEST(Waits, a_person_may_cancel_a_question) {
  Scenario s = Scenario::running();
  const PermissionId permission = s.ask();
  EXPECT_EQ(s.ok(AnswerPermission{permission, ""}).outcome, PermissionOutcome::cancelled);
  EXPECT_EQ(s.command<AnswerRequest>()->option_id, "");
  EXPECT_EQ(s.event<PermissionResolved>()->outcome, PermissionOutcome::cancelled);
  EXPECT_EQ(s.ok(AnswerPermission{permission, "allow"}).outcome, PermissionOutcome::cancelled);
}

TEST(Waits, O20_O28_each_way_a_token_can_be_wrong_has_its_own_answer) {
  Scenario s = Scenario::running();
  const WaitTokenId token = s.token_of(s.ask());
  const AnswerWait right = Scenario::with_secret(token, "allow");
  AnswerWait wrong = right;
  wrong.token = WaitTokenId(Ulid{9, 9});
  EXPECT_EQ(s.refused(wrong), Code::token_not_found);
  wrong = right;
  wrong.secret_hash = Hash{};
  EXPECT_EQ(s.refused(wrong), Code::token_invalid);
  wrong = right;
  wrong.run = RunId(Ulid{9, 9});
  EXPECT_EQ(s.refused(wrong), Code::token_scope_mismatch);
  wrong = right;
  wrong.kind = WaitKind::input;
  EXPECT_EQ(s.refused(wrong), Code::token_scope_mismatch);
  wrong = right;
  wrong.option_id = "unheard_of";
  EXPECT_EQ(s.refused(wrong), Code::invalid_argument);
  s.ok(right);
  EXPECT_EQ(s.refused(right), Code::token_consumed);
  EXPECT_EQ(s.count<TokenConsumed>(), 1U);
}

TEST(Waits, G7_TOK3_a_process_inside_the_session_cannot_answer_and_learns_nothing) {
  Scenario s = Scenario::running();
  const PermissionId permission = s.ask();
  const WaitTokenId token = s.token_of(permission);
  EXPECT_EQ(s.refused(AnswerPermission{permission, "allow"}, "session:sess_1"), Code::denied);
  EXPECT_EQ(s.refused(Scenario::with_secret(token, "allow"), "session:sess_1"), Code::denied);
  s.ok(AnswerPermission{permission, "reject"});
  EXPECT_EQ(s.refused(AnswerPermission{permission, "allow"}, "session:sess_1"), Code::denied);
}

TEST(Waits, X18_an_answer_must_name_an_option_of_a_question_there_is) {
  Scenario s = Scenario::running();
  const PermissionId permission = s.ask();
  EXPECT_EQ(s.refused(AnswerPermission{permission, "allow_all"}), Code::invalid_argument);
  EXPECT_EQ(s.refused(AnswerPermission{PermissionId(Ulid{9, 9}), "allow"}), Code::not_found);
  EXPECT_EQ(s.status(), "waiting");
}

TEST(Waits, N6_O22_an_answer_after_a_cancel_gets_the_cancel) {
  Scenario s = Scenario::running();
  const PermissionId permission = s.ask();
  const WaitTokenId token = s.token_of(permission);
  s.cancel();
  EXPECT_THAT(s.kinds(), ElementsAre("run.cancelling", "token.revoked", "permission.resolved"));
  EXPECT_EQ(s.command<AnswerRequest>()->option_id, "");
  EXPECT_EQ(s.ok(AnswerPermission{permission, "allow"}).outcome, PermissionOutcome::cancelled);
  EXPECT_EQ(s.refused(Scenario::with_secret(token, "allow")), Code::token_revoked);
}

TEST(Waits, O15_O16_O22_O27_O34_a_passed_deadline_interrupts_the_run_and_closes_the_token) {
  Scenario s = Scenario::running({.policy = {.wait_ms = 60'000}});
  const PermissionId permission = s.ask();
  const WaitTokenId token = s.token_of(permission);
  const RunId run = s.state().run->id;
  s.submit("queued", PromptWhen::queue);
  s.pass(60'000);
  s.ok(WaitDeadlinePassed{token}, "system");
  EXPECT_THAT(s.kinds(), ElementsAre("token.expired", "permission.resolved", "run.interrupted"));
  EXPECT_EQ(s.event<RunInterrupted>()->reason, InterruptReason::wait_timeout);
  EXPECT_EQ(s.event<PermissionResolved>()->outcome, PermissionOutcome::expired);
  EXPECT_EQ(s.command<AnswerRequest>()->option_id, "");
  EXPECT_EQ(s.command<CancelPrompt>()->run, run);
  EXPECT_EQ(s.status(), "interrupted_waiting");
  EXPECT_TRUE(s.state().queue.front().held);
  EXPECT_EQ(s.refused(AnswerPermission{permission, "allow"}), Code::permission_closed);
  EXPECT_EQ(s.refused(Scenario::with_secret(token, "allow")), Code::token_expired);
  s.ok(WaitDeadlinePassed{token}, "system");
  EXPECT_THAT(s.kinds(), IsEmpty());
}

TEST(Waits, O20_a_token_is_expired_when_its_time_is_up_though_no_timer_fired_yet) {
  Scenario s = Scenario::running({.policy = {.wait_ms = 60'000}});
  const PermissionId permission = s.ask();
  const WaitTokenId token = s.token_of(permission);
  s.pass(59'999);
  s.booted();
  EXPECT_EQ(s.status(), "waiting");
  s.pass(1);
  EXPECT_EQ(s.refused(Scenario::with_secret(token, "allow")), Code::token_expired);
  EXPECT_EQ(s.refused(AnswerPermission{permission, "allow"}), Code::permission_closed);
  s.booted();
  EXPECT_EQ(s.status(), "interrupted_waiting");
}

TEST(Waits, N5_A31_D10_a_question_outlives_the_daemon_and_can_be_answered_after_it) {
  Scenario s = Scenario::running();
  const PermissionId permission = s.ask();
  s.booted().attached();
  EXPECT_EQ(s.status(), "waiting");
  EXPECT_EQ(s.state().permissions.size(), 1U);
  s.ok(AnswerPermission{permission, "allow"});
  EXPECT_EQ(s.command<AnswerRequest>()->option_id, "allow");
  s.finish();
  EXPECT_EQ(s.count<PermissionRequested>(), 1U);
}

TEST(Waits, C15_A31_O15_O34_a_question_is_lost_with_its_agentctl_and_shows_as_expired) {
  Scenario s = Scenario::running();
  const PermissionId permission = s.ask();
  const WaitTokenId token = s.token_of(permission);
  s.gone();
  EXPECT_THAT(s.kinds(), ElementsAre("token.revoked", "permission.resolved", "run.interrupted",
                                     "executor.stopped"));
  EXPECT_EQ(s.event<RunInterrupted>()->reason, InterruptReason::wait_lost);
  EXPECT_EQ(s.event<PermissionResolved>()->outcome, PermissionOutcome::expired);
  EXPECT_EQ(s.status(), "interrupted_waiting");
  EXPECT_EQ(s.refused(AnswerPermission{permission, "allow"}), Code::permission_closed);
  EXPECT_EQ(s.refused(Scenario::with_secret(token, "allow")), Code::token_revoked);
  EXPECT_EQ(s.commands<AnswerRequest>(), 0U);
}

TEST(Waits, A31_a_question_is_lost_with_its_agent_even_when_that_exits_cleanly) {
  Scenario s = Scenario::running();
  const PermissionId permission = s.ask();
  s.agent_exits({.exit_code = 0, .why = "exited"});
  EXPECT_EQ(s.event<RunInterrupted>()->reason, InterruptReason::wait_lost);
  EXPECT_EQ(s.refused(AnswerPermission{permission, "allow"}), Code::permission_closed);
}

TEST(Waits, two_questions_at_once_are_answered_each_for_itself) {
  Scenario s = Scenario::running();
  const PermissionId first = s.ask("req-1");
  const PermissionId second = s.ask("req-2");
  s.ok(AnswerPermission{second, "reject"});
  EXPECT_EQ(*s.command<AnswerRequest>(), (AnswerRequest{"req-2", "reject"}));
  EXPECT_EQ(s.status(), "waiting");
  s.ok(AnswerPermission{first, "allow"});
  EXPECT_EQ(*s.command<AnswerRequest>(), (AnswerRequest{"req-1", "allow"}));
  EXPECT_EQ(s.status(), "running");
}

TEST(Waits, O16_the_deadline_of_one_of_two_questions_closes_both) {
  Scenario s = Scenario::running({.policy = {.wait_ms = 60'000}});
  const PermissionId first = s.ask("req-1");
  s.pass(1000);
  s.ask("req-2");
  s.pass(59'000);
  s.ok(WaitDeadlinePassed{s.token_of(first)}, "system");
  EXPECT_THAT(s.kinds(), ElementsAre("token.expired", "permission.resolved", "token.revoked",
                                     "permission.resolved", "run.interrupted"));
  EXPECT_EQ(s.commands<AnswerRequest>(), 2U);
  EXPECT_THAT(s.state().waits, IsEmpty());
}

TEST(Waits, an_agent_may_withdraw_its_question) {
  Scenario s = Scenario::running();
  s.ask("req-1");
  const PermissionId permission = s.ask("req-2");
  const WaitTokenId token = s.token_of(permission);
  s.frame(FramePermissionGone{"req-2"});
  EXPECT_THAT(s.kinds(), ElementsAre("token.revoked", "permission.resolved", "run.resumed"));
  EXPECT_EQ(s.event<PermissionResolved>()->permission, permission);
  EXPECT_FALSE(s.command<AnswerRequest>());
  EXPECT_EQ(s.refused(Scenario::with_secret(token, "allow")), Code::token_revoked);
  s.frame(FramePermissionGone{"req-2"});
  EXPECT_EQ(s.last().dropped, 1U);
  EXPECT_EQ(s.status(), "waiting");
}

TEST(Waits, N9_X18_a_question_of_a_run_that_is_over_is_recorded_and_refused_at_once) {
  Scenario cancelling = Scenario::running();
  cancelling.cancel();
  const PermissionId late = cancelling.ask();
  EXPECT_THAT(cancelling.kinds(), ElementsAre("permission.requested", "permission.resolved"));
  EXPECT_EQ(cancelling.command<AnswerRequest>()->option_id, "");
  EXPECT_EQ(cancelling.refused(AnswerPermission{late, "allow"}), Code::not_found);

  Scenario ended = Scenario::running();
  const RunId run = ended.state().run->id;
  ended.finish();
  ended.ask_in(run, "req-late");
  EXPECT_EQ(ended.record<PermissionRequested>()->event.origin.after_run, run);
  EXPECT_EQ(ended.command<AnswerRequest>()->option_id, "");

  Scenario stopping = Scenario::worked();
  stopping.stop();
  stopping.ask();
  EXPECT_THAT(stopping.state().waits, IsEmpty());
}

TEST(Waits, a_run_that_ends_with_its_question_open_answers_it_cancelled) {
  Scenario s = Scenario::running();
  s.ask("req-1");
  s.finish();
  EXPECT_THAT(s.kinds(), ElementsAre("token.revoked", "permission.resolved", "run.completed"));
  EXPECT_EQ(s.event<PermissionResolved>()->outcome, PermissionOutcome::cancelled);
  EXPECT_EQ(*s.command<AnswerRequest>(), (AnswerRequest{"req-1", ""}));
  EXPECT_EQ(s.status(), "idle");
}

TEST(Waits, X30_a_question_outside_any_run_waits_and_can_be_answered) {
  Scenario s = Scenario::worked();
  const PermissionId permission = s.ask();
  EXPECT_THAT(s.kinds(), ElementsAre("permission.requested", "token.minted"));
  EXPECT_EQ(s.status(), "waiting");
  s.ok(AnswerPermission{permission, "allow"});
  EXPECT_THAT(s.kinds(), ElementsAre("token.consumed", "permission.resolved"));
  EXPECT_EQ(s.status(), "idle");
}

TEST(Waits, O16_a_deadline_outside_any_run_ends_the_question_only) {
  Scenario s = Scenario::worked({.policy = {.wait_ms = 1000}});
  const WaitTokenId token = s.token_of(s.ask());
  s.pass(1000);
  s.ok(WaitDeadlinePassed{token}, "system");
  EXPECT_THAT(s.kinds(), ElementsAre("token.expired", "permission.resolved"));
  EXPECT_FALSE(s.command<CancelPrompt>());
  EXPECT_EQ(s.status(), "idle");
}

TEST(Waits, O17_O22_a_new_run_revokes_a_question_asked_outside_any) {
  Scenario s = Scenario::worked();
  s.ask("req-1");
  EXPECT_EQ(s.submit("next").placed, "started");
  EXPECT_THAT(s.kinds(),
              ElementsAre("token.revoked", "permission.resolved", "run.started", "message.user"));
  EXPECT_EQ(*s.command<AnswerRequest>(), (AnswerRequest{"req-1", ""}));
  EXPECT_EQ(s.status(), "running");
}

TEST(Waits, C15_a_question_outside_any_run_is_lost_with_its_agent) {
  Scenario s = Scenario::worked();
  s.ask();
  s.agent_exits();
  EXPECT_EQ(s.event<PermissionResolved>()->outcome, PermissionOutcome::expired);
  EXPECT_THAT(s.state().waits, IsEmpty());
}

TEST(Waits, G8_one_question_too_many_is_answered_cancelled_and_all_can_be_cancelled_at_once) {
  Scenario s = Scenario::running();
  for (std::size_t i = 0; i < waits_open_max; ++i) s.ask("req-" + std::to_string(i));
  s.ask("one too many");
  EXPECT_EQ(*s.command<AnswerRequest>(), (AnswerRequest{"one too many", ""}));
  EXPECT_EQ(s.state().waits.size(), waits_open_max);
  s.cancel();
  EXPECT_THAT(s.state().waits, IsEmpty());
  EXPECT_EQ(s.commands<AnswerRequest>(), waits_open_max + 1);
  EXPECT_EQ(s.state().closed_waits.size(), waits_closed_kept);
}

TEST(Waits, N7_X18_an_answer_is_addressed_to_the_life_that_asked) {
  Scenario s = Scenario::running();
  const PermissionId permission = s.ask("req-1");
  EXPECT_EQ(s.state().permissions.at(permission).exec, s.state().exec.id);
  s.ok(AnswerPermission{permission, "allow"});
  const auto* sent = s.effect<SendCommand>();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->exec, s.state().exec.id);
  EXPECT_EQ(sent->gen, s.state().exec.gen);
  s.gone();
  s.submit("again");
  s.ready();
  const PermissionId reused = s.ask("req-1");
  EXPECT_NE(reused, permission);
  EXPECT_TRUE(s.ok(AnswerPermission{permission, "reject"}).nothing_to_do);
  EXPECT_EQ(s.status(), "waiting");
}

TEST(Waits, X30_the_end_of_a_run_leaves_a_question_that_is_not_its_own) {
  Scenario s = Scenario::running();
  const PermissionId permission = s.ask_in(RunId{}, "req-background");
  s.finish();
  EXPECT_THAT(s.kinds(), ElementsAre("run.completed"));
  EXPECT_EQ(s.status(), "waiting");
  s.ok(AnswerPermission{permission, "allow"});
  EXPECT_EQ(s.status(), "idle");
}

}  // namespace
}  // namespace perdure
