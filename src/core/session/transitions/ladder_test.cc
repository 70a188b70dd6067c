// The resume ladder: the best rung that works, losses stated plainly, the id kept unless the agent
// itself rejected it.
#include "core/session/scenario_for_test.h"

namespace perdure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A session with a completed turn whose agent restarts: the rung has been requested.
Scenario opening(AgentAbilities abilities, const ResumeSession& command = {},
                 const Setup& setup = {}) {
  Scenario s = Scenario::lost(setup);
  s.ok(command);
  s.executor_ready().agent_started(abilities);
  return s;
}

constexpr AgentAbilities can_load{.load = true};
constexpr AgentAbilities can_nothing{};

TEST(Ladder, A12_A2_K3_a_resume_uses_the_agents_own_session) {
  Scenario s = opening(can_everything);
  EXPECT_EQ(*s.command<OpenSession>(), (OpenSession{OpenMethod::resume, "agent-session-1", {}}));
  const SessionId id = s.state().id;
  s.opened();
  EXPECT_EQ(s.event<ContextBoundary>()->how, BoundaryHow::native_resume);
  EXPECT_EQ(s.event<ContextBoundary>()->verified, Verified::id_only);
  EXPECT_EQ(s.event<ContextBoundary>()->reason, "");
  EXPECT_EQ(s.state().id, id);
  EXPECT_EQ(s.state().context.agent_session_id, "agent-session-1");
  EXPECT_FALSE(s.state().context.inject_armed);
}

TEST(Ladder, K3_K25_C10_an_agent_without_resume_loads) {
  Scenario s = opening(can_load);
  EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::load);
  s.opened();
  EXPECT_THAT(s.kinds(), ElementsAre("context.boundary"));
  EXPECT_EQ(s.event<ContextBoundary>()->how, BoundaryHow::native_load);
  EXPECT_EQ(s.event<ContextBoundary>()->replayed_updates, 9U);
}

TEST(Ladder, C10_the_hash_of_a_replay_is_kept_and_nothing_of_what_it_said) {
  Scenario s = opening(can_load);
  const std::size_t records = s.records().size();
  FrameSessionOpened loaded{OpenMethod::load, "agent-session-1", 1, 9};
  loaded.replay_sha256.bytes[0] = 7;
  s.frame(loaded);
  EXPECT_EQ(s.event<ContextBoundary>()->replay_sha256, loaded.replay_sha256);
  EXPECT_THAT(s.kinds(), ElementsAre("context.boundary"));
  EXPECT_EQ(s.records().size(), records + s.last().events.size());
}

// docs/decisions/0007: no replay could be the history of an empty journal.
TEST(Ladder, C10_with_an_empty_journal_nothing_is_loaded) {
  Scenario s = Scenario::live();
  s.gone();
  ASSERT_EQ(s.state().context.agent_session_id, "agent-session-1");
  s.ok(ResumeSession{.how = ResumeHow::load});
  s.executor_ready().agent_started(can_everything);
  EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::fresh);
}

TEST(Ladder, K25_C4_method_missing_falls_back_rung_by_rung_to_new) {
  Scenario s = opening(can_everything);
  s.open_fails(OpenFailure::capability_missing);
  EXPECT_THAT(s.kinds(), ElementsAre("context.attempt"));
  EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::load);
  s.open_fails(OpenFailure::capability_missing);
  EXPECT_EQ(*s.command<OpenSession>(), (OpenSession{OpenMethod::fresh, "", {}}));
  s.opened();
  const auto* boundary = s.event<ContextBoundary>();
  EXPECT_EQ(boundary->how, BoundaryHow::injected);
  EXPECT_EQ(boundary->reason, "capability_missing: it says");
  EXPECT_EQ(boundary->attempts.size(), 2U);
  EXPECT_TRUE(boundary->inject);
}

TEST(Ladder, C4_A16_K37_R14_X6_an_unknown_session_goes_straight_to_new_and_is_not_asked_for_again) {
  Scenario s = opening(can_everything);
  s.open_fails(OpenFailure::session_unknown);
  EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::fresh);
  EXPECT_TRUE(s.state().context.rejected);
  s.gone();  // before the new session is open: the verdict stands
  s.ok(ResumeSession{});
  s.executor_ready().agent_started();
  EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::fresh);
  s.opened();
  EXPECT_EQ(s.event<ContextBoundary>()->previous_agent_session_id, "agent-session-1");
  EXPECT_EQ(s.event<ContextBoundary>()->reason, "session_unknown");
  EXPECT_FALSE(s.state().context.rejected);
  EXPECT_FALSE(s.state().failure);
}

TEST(Ladder, A27_C5_after_a_fallback_the_journal_keeps_both_ids) {
  Scenario s = opening(can_everything);
  s.open_fails(OpenFailure::session_unknown).opened();
  EXPECT_EQ(s.state().context.agent_session_id, "agent-session-2");
  EXPECT_EQ(s.event<ContextBoundary>()->previous_agent_session_id, "agent-session-1");
  EXPECT_EQ(s.count<ContextBoundary>(), 2U);
}

TEST(Ladder, A17_C4_C22_R13_X7_any_other_failure_keeps_the_id_and_fails_the_resume) {
  for (const OpenFailure failure :
       {OpenFailure::transport, OpenFailure::timeout, OpenFailure::cancelled, OpenFailure::auth,
        OpenFailure::startup, OpenFailure::other}) {
    Scenario s = opening(can_everything);
    s.open_fails(failure);
    EXPECT_THAT(s.kinds(), ElementsAre("resume.failed")) << enum_text(failure);
    EXPECT_FALSE(s.command<OpenSession>());
    EXPECT_EQ(s.state().context.agent_session_id, "agent-session-1");
    EXPECT_FALSE(s.state().context.rejected);
    EXPECT_EQ(s.state().failure->state, "FAILED");
    EXPECT_EQ(s.state().failure->code, enum_text(failure));
    s.ok(ResumeSession{});
    s.agent_started();
    EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::resume);
    s.opened();
    EXPECT_FALSE(s.state().failure);
  }
}

TEST(Ladder, K37_C22_a_rejected_token_shows_a_message_and_no_failure_state) {
  Scenario s = opening(can_everything, {.strict = true});
  s.open_fails(OpenFailure::session_unknown);
  EXPECT_THAT(s.kinds(), ElementsAre("context.attempt", "resume.failed"));
  EXPECT_EQ(s.state().failure->state, "");
  EXPECT_EQ(s.state().failure->code, "session_unknown");
  EXPECT_EQ(s.submit("go on fresh").placed, "queued");
  EXPECT_TRUE(s.state().resume);
}

TEST(Ladder, X7_not_found_in_answer_to_session_new_does_not_condemn_the_id) {
  Scenario s = opening(can_everything, {.how = ResumeHow::fresh});
  s.open_fails(OpenFailure::session_unknown);
  EXPECT_FALSE(s.state().context.rejected);
  EXPECT_EQ(s.state().failure->state, "FAILED");
  s.ok(ResumeSession{});
  s.agent_started();
  EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::resume);
}

TEST(Ladder, R1_X9_C4_another_id_than_asked_for_is_a_new_session) {
  Scenario s = opening(can_load);
  s.frame(FrameSessionOpened{OpenMethod::load, "someone-else", 3, 3});
  EXPECT_THAT(s.kinds(), ElementsAre("context.attempt", "context.boundary"));
  const auto* boundary = s.event<ContextBoundary>();
  EXPECT_EQ(boundary->how, BoundaryHow::injected);
  EXPECT_EQ(boundary->agent_session_id, "someone-else");
  EXPECT_EQ(boundary->previous_agent_session_id, "agent-session-1");
  EXPECT_EQ(boundary->verified, Verified::none);
  EXPECT_EQ(boundary->attempts.back().failure, OpenFailure::other_session);
}

TEST(Ladder, R1_X9_an_answer_without_an_id_means_the_id_asked_for) {
  Scenario s = opening(can_load);
  s.frame(FrameSessionOpened{OpenMethod::load, "", 1, 1});
  EXPECT_EQ(s.event<ContextBoundary>()->how, BoundaryHow::native_load);
  EXPECT_EQ(s.state().context.agent_session_id, "agent-session-1");
}

TEST(Ladder, R1_X9_C4_success_without_the_turns_that_were_is_no_success) {
  Scenario s = opening(can_load);
  s.frame(FrameSessionOpened{OpenMethod::load, "agent-session-1", 0, 0});
  EXPECT_THAT(s.kinds(), ElementsAre("context.attempt"));
  EXPECT_EQ(s.event<ContextAttempt>()->attempt.failure, OpenFailure::not_restored);
  EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::fresh);
}

TEST(Ladder, C4_what_was_restored_is_measured_against_the_journal) {
  Scenario s = Scenario::running();
  s.finish().gone();
  const auto verified_after = [&](std::uint64_t replayed) {
    s.ok(ResumeSession{});
    s.executor_ready().agent_started(can_load);
    s.frame(FrameSessionOpened{OpenMethod::load, "agent-session-1", replayed, replayed});
    const Verified verified = s.event<ContextBoundary>()->verified;
    s.gone();
    return verified;
  };
  EXPECT_EQ(verified_after(2), Verified::full);
  EXPECT_EQ(verified_after(1), Verified::partial);
  EXPECT_EQ(s.state().context.agent_session_id, "agent-session-1");
}

TEST(Ladder, C4_an_empty_replay_is_fine_when_no_turn_had_completed) {
  Scenario s = Scenario::live();
  s.submit("first");
  s.gone();
  s.ok(ResumeSession{});
  s.executor_ready().agent_started(can_load);
  s.frame(FrameSessionOpened{OpenMethod::load, "agent-session-1", 0, 0});
  EXPECT_EQ(s.event<ContextBoundary>()->how, BoundaryHow::native_load);
  EXPECT_EQ(s.event<ContextBoundary>()->verified, Verified::partial);
}

TEST(Ladder, X11_C4_a_session_that_was_never_prompted_is_made_anew_without_a_loss) {
  Scenario s = Scenario::live();
  s.gone();
  s.ok(ResumeSession{.strict = true});
  s.executor_ready().agent_started();
  EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::fresh);
  s.opened();
  EXPECT_EQ(s.event<ContextBoundary>()->how, BoundaryHow::fresh);
  EXPECT_EQ(s.event<ContextBoundary>()->reason, "never_prompted");
  EXPECT_FALSE(s.state().context.inject_armed);
}

TEST(Ladder, X11_an_agent_that_gives_its_new_session_the_old_id_has_not_been_prompted_in_it) {
  Scenario s = opening(can_everything, {.how = ResumeHow::fresh});
  s.frame(FrameSessionOpened{OpenMethod::fresh, "agent-session-1", 0, 0});
  EXPECT_EQ(s.state().context.prompts, 0U);
  s.gone();
  s.ok(ResumeSession{});
  s.executor_ready().agent_started();
  EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::fresh);
}

TEST(Ladder, K4_K26_K41_L11_L15_an_agent_without_native_resume_starts_anew_with_history) {
  for (const AgentProfile& agent :
       {AgentProfile{.name = "auggie", .native_session_resume = false},
        AgentProfile{.name = "gemini", .supports_session_resume = false}}) {
    Scenario s = opening(can_everything, {}, {.agent = agent});
    EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::fresh);
    EXPECT_EQ(s.command<OpenSession>()->agent_session_id, "");
    s.opened();
    EXPECT_EQ(s.event<ContextBoundary>()->reason, "capability_missing");
    EXPECT_EQ(s.event<ContextBoundary>()->how, BoundaryHow::injected);
  }
}

TEST(Ladder, K5_K26_an_agent_with_no_way_back_boots_idle_and_bare) {
  Scenario s = opening(can_nothing, {}, {.policy = {.inject = Inject::off}});
  EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::fresh);
  s.opened();
  EXPECT_EQ(s.event<ContextBoundary>()->how, BoundaryHow::fresh);
  EXPECT_FALSE(s.event<ContextBoundary>()->inject);
  EXPECT_EQ(s.event<ContextBoundary>()->reason, "capability_missing");
  EXPECT_FALSE(s.state().run);
}

TEST(Ladder, C12_inject_ask_injects_when_a_person_asks_for_it) {
  Scenario s =
      opening(can_everything, {.how = ResumeHow::inject}, {.policy = {.inject = Inject::ask}});
  s.opened();
  EXPECT_EQ(s.event<ContextBoundary>()->how, BoundaryHow::injected);
}

TEST(Ladder, C5_a_fresh_start_that_was_asked_for_injects_nothing_and_supersedes_the_id) {
  Scenario s = opening(can_everything, {.how = ResumeHow::fresh});
  EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::fresh);
  s.opened();
  EXPECT_EQ(s.event<ContextBoundary>()->how, BoundaryHow::fresh);
  EXPECT_EQ(s.event<ContextBoundary>()->reason, "asked for");
  EXPECT_FALSE(s.state().context.inject_armed);
  EXPECT_EQ(s.state().context.agent_session_id, "agent-session-2");
}

TEST(Ladder, a_rung_can_be_asked_for_by_name) {
  EXPECT_EQ(opening(can_everything, {.how = ResumeHow::load}).command<OpenSession>()->method,
            OpenMethod::load);
  EXPECT_EQ(opening(can_everything, {.how = ResumeHow::resume}).command<OpenSession>()->method,
            OpenMethod::resume);
  EXPECT_EQ(opening(can_everything, {.how = ResumeHow::inject}).command<OpenSession>()->method,
            OpenMethod::fresh);
}

TEST(Ladder, C2_strict_refuses_at_once_what_is_known_to_be_lost) {
  Scenario s = Scenario::lost({.agent = {.name = "auggie", .native_session_resume = false}});
  EXPECT_EQ(s.refused(ResumeSession{.strict = true}), Code::not_resumable);
  EXPECT_TRUE(s.ok(ResumeSession{}).resume_pending);
}

TEST(Ladder, C2_strict_fails_rather_than_lose_context_on_the_way_down) {
  Scenario unable = opening(can_nothing, {.strict = true});
  EXPECT_THAT(unable.kinds(), ElementsAre("agent.started", "resume.failed"));
  EXPECT_FALSE(unable.command<OpenSession>());

  Scenario empty = opening(can_load, {.strict = true});
  empty.frame(FrameSessionOpened{OpenMethod::load, "agent-session-1", 0, 0});
  EXPECT_EQ(empty.event<ResumeFailed>()->failure, OpenFailure::not_restored);

  Scenario other = opening(can_load, {.strict = true});
  other.frame(FrameSessionOpened{OpenMethod::load, "someone-else", 3, 3});
  EXPECT_EQ(other.event<ResumeFailed>()->failure, OpenFailure::other_session);
  EXPECT_EQ(other.state().context.agent_session_id, "agent-session-1");
  EXPECT_EQ(other.count<ContextBoundary>(), 1U);
}

TEST(Ladder, C1_a_resume_at_boot_that_a_change_of_the_policy_overtook_is_refused) {
  Scenario s = Scenario::lost({.policy = {.resume = ResumePolicy::manual}});
  EXPECT_EQ(s.refused(ResumeSession{.at_boot = true}, "system"), Code::conflict);
  s.ok(ResumeSession{});
}

TEST(Ladder, C13_K15_A8_a_missing_folder_refuses_the_resume_and_nothing_else) {
  Scenario s = Scenario::lost();
  EXPECT_EQ(s.refused(ResumeSession{.workspace_exists = false}), Code::workspace_missing);
  Scenario alive = Scenario::worked();
  EXPECT_TRUE(alive.ok(ResumeSession{.workspace_exists = false}).already_running);
}

TEST(Ladder, X13_a_session_of_another_folder_is_not_loaded) {
  Scenario s = Scenario::lost();
  s.ok(ConfigureSession{{.workspace = Workspace{.cwd = "/ws/b"}}});
  s.ok(ResumeSession{});
  s.executor_ready().agent_started();
  EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::fresh);
  s.opened();
  EXPECT_EQ(s.event<ContextBoundary>()->reason, "cwd_changed");
  EXPECT_EQ(s.state().context.cwd, "/ws/b");
}

TEST(Ladder, R9_X14_what_was_last_observed_is_applied_again_and_a_wish_wins_over_it) {
  Scenario s = Scenario::worked();
  s.frame(Mode{.option = "mode", .value = "plan"}).frame(Mode{.option = "model", .value = "big"});
  s.gone();
  s.ok(ConfigureSession{{.options = {{"model", "small"}}}});
  s.ok(ResumeSession{});
  s.executor_ready().agent_started();
  EXPECT_THAT(s.command<OpenSession>()->options,
              ElementsAre(std::pair("mode", "plan"), std::pair("model", "small")));
}

TEST(Ladder, R9_X14_an_option_set_while_the_session_opens_is_applied_before_the_first_prompt) {
  Scenario s = Scenario::lost();
  s.submit("go on");
  s.executor_ready().agent_started();
  s.ok(ConfigureSession{{.options = {{"mode", "read_only"}}}});
  EXPECT_TRUE(s.command<SetOptions>()) << "it follows the options that opened the session";
  s.opened();
  ASSERT_EQ(s.last().effects.size(), 2U) << "and is said again while nobody has seen it applied";
  EXPECT_TRUE(as_command<SetOptions>(s.last().effects[0]));
  EXPECT_TRUE(as_command<SendPrompt>(s.last().effects[1]));
}

TEST(Ladder, K40_the_id_is_stored_when_the_session_is_made) {
  const Scenario s = Scenario::live();
  EXPECT_EQ(s.state().context.agent_session_id, "agent-session-1");
  EXPECT_EQ(s.event<ContextBoundary>()->cwd, "/ws/a");
}

TEST(Ladder, a_new_session_without_an_id_fails_the_resume) {
  Scenario s;
  s.ok(ResumeSession{});
  s.executor_ready().agent_started();
  s.frame(FrameSessionOpened{OpenMethod::fresh, "", 0, 0});
  EXPECT_THAT(s.kinds(), ElementsAre("resume.failed"));
  EXPECT_EQ(s.state().exec.agent, AgentPhase::none);
}

TEST(Ladder, X5_X8_answers_to_a_rung_that_is_not_open_are_dropped) {
  Scenario s = opening(can_everything);
  s.frame(FrameSessionOpened{OpenMethod::load, "agent-session-1", 1, 1});
  EXPECT_EQ(s.last().dropped, 1U);
  s.frame(FrameOpenFailed{OpenMethod::load, OpenFailure::session_unknown, ""});
  EXPECT_EQ(s.last().dropped, 1U);
  s.open_fails(OpenFailure::timeout);
  s.frame(FrameSessionOpened{OpenMethod::resume, "agent-session-1", 1, 1});
  EXPECT_EQ(s.last().dropped, 1U);
  EXPECT_NE(s.state().exec.agent, AgentPhase::ready);
  s.agent_started();
  EXPECT_EQ(s.last().dropped, 1U);
}

TEST(Ladder, R10_X26_a_clear_and_a_compaction_are_boundaries_that_keep_the_session) {
  Scenario s = Scenario::worked();
  s.frame(FrameContextChanged{BoundaryHow::compacted});
  EXPECT_EQ(s.state().context.history_prompts, 1U);
  EXPECT_EQ(s.state().context.how, BoundaryHow::compacted);
  s.frame(FrameContextChanged{BoundaryHow::cleared});
  EXPECT_THAT(s.kinds(), ElementsAre("context.boundary"));
  EXPECT_EQ(s.state().context.history_prompts, 0U);
  EXPECT_EQ(s.state().context.history_from, s.state().context.boundary);
  EXPECT_EQ(s.state().context.agent_session_id, "agent-session-1");
  EXPECT_EQ(s.submit("on").placed, "started");
}

TEST(Ladder, X26_injection_honours_the_last_clear) {
  Scenario s = Scenario::worked();
  s.frame(FrameContextChanged{BoundaryHow::cleared});
  const std::uint64_t cleared = s.state().head;
  s.gone();
  s.ok(ResumeSession{.how = ResumeHow::inject});
  s.ready();
  EXPECT_FALSE(s.state().context.inject_armed);  // no history is left
  s.submit("after the clear");
  s.gone();
  s.submit("and on");
  s.executor_ready().agent_started(can_nothing).opened();
  EXPECT_EQ(s.effect<PrepareInjection>()->history_from, cleared);
}

TEST(Ladder, a_frame_cannot_draw_a_boundary_of_the_ladder) {
  Scenario s;
  s.ok(ResumeSession{});
  s.frame(FrameContextChanged{BoundaryHow::native_resume});
  EXPECT_EQ(s.last().dropped, 1U);
  EXPECT_TRUE(s.state().resume);
}

TEST(Ladder, a_handover_ends_the_old_agent_first_and_gives_the_history_to_the_new_one) {
  Scenario s = Scenario::worked();
  s.ok(ResumeSession{.with = AgentProfile{.name = "codex", .steer = true}});
  EXPECT_THAT(s.kinds(), ElementsAre("resume.requested"));
  EXPECT_TRUE(s.effect<StopExecutor>());
  s.agent_exits({.exit_code = 0, .why = "stopped"});
  s.gone();
  EXPECT_TRUE(s.effect<StartExecutor>());
  s.executor_ready().agent_started();
  EXPECT_EQ(*s.command<OpenSession>(), (OpenSession{OpenMethod::fresh, "", {}}));
  s.opened();
  const auto* boundary = s.event<ContextBoundary>();
  EXPECT_EQ(boundary->how, BoundaryHow::handover);
  EXPECT_EQ(boundary->agent, "codex");
  EXPECT_EQ(boundary->reason, "handover");
  EXPECT_TRUE(boundary->inject);
  EXPECT_EQ(s.state().agent.name, "codex");
  EXPECT_EQ(s.state().context.prompts, 0U);
  s.submit("go on");
  s.injection();
  EXPECT_NE(s.command<SendPrompt>()->context, "");
}

TEST(Ladder, a_handover_needs_the_run_to_be_over_and_leaves_the_agent_when_it_fails) {
  Scenario busy = Scenario::running();
  EXPECT_EQ(busy.refused(ResumeSession{.with = AgentProfile{.name = "codex"}}), Code::conflict);
  Scenario s = Scenario::lost();
  s.ok(ResumeSession{.with = AgentProfile{.name = "codex"}});
  s.executor_ready();
  s.agent_exits({.exit_code = 1, .why = "crashed"});
  EXPECT_EQ(s.state().agent.name, "claude");
  EXPECT_TRUE(s.effect<StopExecutor>()) << "its command line is the other agent's";
  EXPECT_TRUE(s.state().exec.stop_requested);
  s.ok(ResumeSession{});
  EXPECT_FALSE(s.command<StartAgent>());
  s.gone();
  EXPECT_TRUE(s.effect<StartExecutor>());
  s.executor_ready().agent_started();
  EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::resume);
}

TEST(Ladder, C2_R11_a_strict_resume_does_not_join_one_that_may_lose_the_context) {
  Scenario s = Scenario::lost();
  s.submit("go on");
  EXPECT_EQ(s.refused(ResumeSession{.strict = true}), Code::conflict);
  s.ok(ResumeSession{});
  Scenario strict = Scenario::lost();
  strict.ok(ResumeSession{.strict = true});
  strict.ok(ResumeSession{.strict = true});
  EXPECT_THAT(strict.kinds(), ElementsAre()) << "joined";
}

TEST(Ladder, C22_L21_C13_a_resume_at_boot_into_a_folder_that_is_gone_is_told_in_the_journal) {
  Scenario s = Scenario::lost({.policy = {.resume = ResumePolicy::on_boot}});
  ResumeSession at_boot{.at_boot = true};
  at_boot.workspace_exists = false;
  s.ok(at_boot);
  EXPECT_THAT(s.kinds(), ElementsAre("resume.requested", "resume.failed"));
  EXPECT_EQ(s.state().failure->state, "ERROR");
  EXPECT_EQ(s.state().failure->code, "workspace_missing");
  EXPECT_FALSE(s.state().resume);
  at_boot.at_boot = false;
  EXPECT_EQ(s.refused(at_boot), Code::workspace_missing) << "whoever asks is told";
}

TEST(Ladder, A3_a_session_resumes_after_a_stop_a_crash_and_a_restart) {
  Scenario s = Scenario::worked();
  s.stop();
  s.gone();
  s.ok(ResumeSession{});
  s.ready();
  EXPECT_EQ(s.event<ContextBoundary>()->how, BoundaryHow::native_resume);
  s.submit("two");
  s.agent_exits();
  s.ok(ResumeSession{});
  s.agent_started().opened();
  s.booted().gone();
  s.ok(ResumeSession{});
  s.ready();
  EXPECT_EQ(s.state().context.agent_session_id, "agent-session-1");
  EXPECT_EQ(s.count<ContextBoundary>(), 4U);
}

TEST(Ladder, D1_X7_a_ladder_goes_on_under_another_daemon) {
  Scenario s = Scenario::lost();
  s.submit("go on");
  s.executor_ready().agent_started();
  s.booted().attached();
  EXPECT_TRUE(s.state().resume);
  s.opened();
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "go on");
}

TEST(Ladder, K25_a_second_try_in_the_same_execution_begins_at_the_top_again) {
  Scenario s = opening(can_everything);
  s.open_fails(OpenFailure::capability_missing).open_fails(OpenFailure::timeout);
  EXPECT_EQ(s.event<ResumeFailed>()->attempts.size(), 1U);
  s.ok(ResumeSession{});
  s.agent_started();
  EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::resume);
  s.opened();
  EXPECT_THAT(s.event<ContextBoundary>()->attempts, IsEmpty());
}

TEST(Ladder, C4_every_failure_that_says_the_session_cannot_be_had_allows_the_next_rung) {
  for (const OpenFailure failure :
       {OpenFailure::capability_missing, OpenFailure::session_unknown, OpenFailure::never_prompted,
        OpenFailure::not_restored, OpenFailure::other_session, OpenFailure::cwd_changed}) {
    Scenario s = opening(can_load);
    s.open_fails(failure);
    ASSERT_TRUE(s.command<OpenSession>()) << enum_text(failure);
    EXPECT_EQ(s.command<OpenSession>()->method, OpenMethod::fresh);
  }
}

}  // namespace
}  // namespace perdure
