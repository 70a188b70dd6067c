// A session as a whole: created, named, configured, stopped, archived, repaired, booted.
#include "base/limits.h"
#include "core/session/scenario_for_test.h"

namespace perdure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Lifecycle, L7_K39_a_session_keeps_what_it_was_made_of) {
  const Scenario s;
  EXPECT_THAT(s.kinds(), ElementsAre("session.created"));
  EXPECT_EQ(s.state().agent.name, "claude");
  EXPECT_EQ(s.state().workspace.worktree_branch, "topic");
  EXPECT_EQ(s.state().runtime, "standalone");
  EXPECT_EQ(s.event<SessionCreated>()->by, "uid:1000");
  EXPECT_EQ(s.status(), "idle");
}

TEST(Lifecycle, N10_A2_a_session_is_made_once) {
  Scenario s;
  CreateSession again;
  again.what = *s.event<SessionCreated>();
  EXPECT_EQ(s.refused(again), Code::conflict);
}

TEST(Lifecycle, SEC9_a_session_that_a_process_of_another_one_made_has_that_one_as_its_parent) {
  const SessionId parent(Ulid{3, 4});
  const auto parent_by = [](const std::string& by, SessionId claimed) {
    Input input;
    input.by = by;
    CreateSession command;
    command.what = *Scenario().event<SessionCreated>();
    command.what.parent = claimed;
    input.body = command;
    const auto decided = decide(State{}, input);
    EXPECT_TRUE(decided);
    return evolve(State{}, decided->events.front()).parent;
  };
  EXPECT_EQ(parent_by("session:" + parent.text(), {}), parent);
  // Other principals have no parent, regardless of the command.
  for (const char* by : {"uid:1000", "token:tok_1", "session:", "session:sess_x", ""}) {
    EXPECT_EQ(parent_by(by, parent), SessionId()) << by;
  }
}

TEST(Lifecycle, a_session_needs_an_id_an_agent_and_a_folder) {
  const State nothing;
  SessionCreated whole;
  whole.session = SessionId(Ulid{1, 1});
  whole.agent.name = "claude";
  whole.workspace.cwd = "/ws/a";
  const auto code_without = [&](auto&& drop) {
    Input input;
    SessionCreated what = whole;
    drop(what);
    input.body = CreateSession{what, {}, ""};
    const auto decided = decide(nothing, input);
    return decided ? std::string("taken") : std::string(code_name(decided.error().code()));
  };
  EXPECT_EQ(code_without([](SessionCreated&) {}), "taken");
  EXPECT_EQ(code_without([](SessionCreated& what) { what.session = {}; }), "invalid_argument");
  EXPECT_EQ(code_without([](SessionCreated& what) { what.agent.name = ""; }), "invalid_argument");
  EXPECT_EQ(code_without([](SessionCreated& what) { what.workspace = {}; }), "invalid_argument");
}

TEST(Lifecycle, a_command_to_a_session_that_does_not_exist_is_not_found) {
  Input input;
  input.body = SubmitPrompt{{.text = "hello"}};
  const auto decided = decide(State{}, input);
  ASSERT_FALSE(decided.has_value());
  EXPECT_EQ(decided.error().code(), Code::not_found);
}

TEST(Lifecycle, K22_K26_R7_the_initial_prompt_starts_the_agent_and_is_sent_once) {
  Scenario s({.prompt = "build it"});
  EXPECT_THAT(s.kinds(), ElementsAre("session.created", "queue.added", "resume.requested",
                                     "executor.starting"));
  EXPECT_TRUE(s.effect<StartExecutor>());
  s.ready();
  ASSERT_TRUE(s.command<SendPrompt>());
  EXPECT_EQ(s.command<SendPrompt>()->prompt.text, "build it");
  s.finish().gone();
  s.ok(ResumeSession{});
  s.ready();
  EXPECT_EQ(s.commands<SendPrompt>(), 1U);
  EXPECT_FALSE(s.state().run);
}

TEST(Lifecycle, K26_an_empty_initial_prompt_leaves_the_session_idle) {
  CreateSession command;
  command.what.session = SessionId(Ulid{1, 1});
  command.what.agent.name = "claude";
  command.what.workspace.cwd = "/ws/a";
  command.prompt = Prompt{};
  Input input;
  input.body = command;
  const auto decided = decide(State{}, input);
  ASSERT_TRUE(decided.has_value());
  EXPECT_THAT(decided->effects, IsEmpty());
}

TEST(Lifecycle, G8_a_prompt_over_the_limit_is_refused_text_and_blocks_together) {
  CreateSession command;
  command.what.session = SessionId(Ulid{1, 1});
  command.what.agent.name = "claude";
  command.what.workspace.cwd = "/ws/a";
  command.prompt = Prompt{"x", {std::string(prompt_bytes_max, ' ')}};
  Input input;
  input.body = command;
  EXPECT_FALSE(decide(State{}, input).has_value());
  Scenario s;
  EXPECT_EQ(s.refused(SubmitPrompt{*command.prompt}), Code::limit_reached);
  EXPECT_EQ(s.refused(SubmitPrompt{}), Code::invalid_argument);
}

TEST(Lifecycle, a_title_is_cut_between_characters_and_written_when_it_changes) {
  Scenario s;
  s.ok(RenameSession{std::string(title_bytes_max - 1, 'a') + "ü"});
  EXPECT_EQ(s.state().title, std::string(title_bytes_max - 1, 'a'));
  EXPECT_TRUE(s.ok(RenameSession{s.state().title}).nothing_to_do);
  EXPECT_THAT(s.kinds(), IsEmpty());
}

TEST(Lifecycle, A28_stop_resume_stop_is_one_history_with_two_stops) {
  Scenario s = Scenario::worked();
  const SessionId id = s.state().id;
  s.stop();
  s.gone();
  s.ok(ResumeSession{});
  s.ready();
  s.stop();
  EXPECT_EQ(s.count<SessionStopped>(), 2U);
  EXPECT_EQ(s.count<SessionCreated>(), 1U);
  EXPECT_EQ(s.state().id, id);
}

TEST(Lifecycle, a_second_stop_has_nothing_to_do_before_and_after_the_processes_are_gone) {
  Scenario s = Scenario::worked();
  s.stop();
  EXPECT_TRUE(s.stop().nothing_to_do);
  s.gone();
  EXPECT_TRUE(s.stop().nothing_to_do);
  EXPECT_EQ(s.count<SessionStopped>(), 1U);
  EXPECT_EQ(s.effects_of<StopExecutor>(), 1U);
}

TEST(Lifecycle, DISK2_stop_ends_the_run_and_the_processes_and_may_be_written_on_a_full_disk) {
  Scenario s = Scenario::running();
  const RunId run = s.state().run->id;
  s.tool("t1", "in_progress");
  s.stop();
  EXPECT_THAT(s.kinds(), ElementsAre("repair.closed_tool", "run.cancelled", "session.stopped"));
  EXPECT_TRUE(s.last().essential);
  EXPECT_TRUE(s.event<RunCancelled>()->frames_pending);
  ASSERT_TRUE(s.effect<StopExecutor>());
  EXPECT_EQ(s.effect<StopExecutor>()->exec, s.state().exec.id);
  s.frame_of(run, MessageAgent{.text = "a last word"});
  EXPECT_EQ(s.record<MessageAgent>()->event.origin.after_run, run);
}

TEST(Lifecycle, C3_the_stop_reason_stays_although_the_agent_had_to_be_killed) {
  Scenario s = Scenario::running();
  s.stop();
  s.agent_exits({.signal = 9, .why = "killed"});
  s.gone();
  EXPECT_EQ(s.state().stop_reason, "stopped_by_user");
  s.ok(ResumeSession{});
  s.ready();
  EXPECT_EQ(s.state().stop_reason, "stopped_by_user");
  s.submit("go on");
  EXPECT_EQ(s.state().stop_reason, "");
}

TEST(Lifecycle, O22_stop_revokes_the_open_question) {
  Scenario s = Scenario::running();
  const PermissionId permission = s.ask();
  s.stop();
  EXPECT_EQ(s.event<TokenRevoked>()->reason, "stopped");
  EXPECT_EQ(s.event<PermissionResolved>()->outcome, PermissionOutcome::cancelled);
  EXPECT_TRUE(s.ok(AnswerPermission{permission, "allow"}).nothing_to_do);
  EXPECT_FALSE(s.command<AnswerRequest>());
}

TEST(Lifecycle, stop_while_the_executor_starts_ends_the_ladder) {
  Scenario s({.prompt = "build it"});
  s.stop();
  EXPECT_FALSE(s.state().resume);
  EXPECT_TRUE(s.state().queue.front().held);
  s.executor_ready();
  EXPECT_FALSE(s.command<StartAgent>());
  s.gone();
  EXPECT_FALSE(s.effect<StartExecutor>());
}

TEST(Lifecycle, C3_K12_K16_only_an_archived_session_takes_no_work) {
  Scenario s = Scenario::running();
  s.ok(ArchiveSession{});
  EXPECT_THAT(s.kinds(), ElementsAre("run.cancelled", "session.stopped", "session.archived"));
  EXPECT_EQ(s.refused(SubmitPrompt{{.text = "more"}}), Code::session_archived);
  EXPECT_EQ(s.refused(ResumeSession{}), Code::session_archived);
  EXPECT_EQ(s.refused(ReleaseQueue{}), Code::session_archived);
  EXPECT_TRUE(s.ok(ArchiveSession{}).nothing_to_do);
  s.gone();
  s.ok(UnarchiveSession{});
  EXPECT_TRUE(s.ok(UnarchiveSession{}).nothing_to_do);
  EXPECT_TRUE(s.ok(ResumeSession{}).resume_pending);
}

TEST(Lifecycle, N11_an_archived_queue_is_still_held_when_it_comes_back) {
  Scenario s = Scenario::running();
  s.submit("queued");
  s.ok(ArchiveSession{});
  s.gone();
  s.ok(UnarchiveSession{});
  ASSERT_EQ(s.state().queue.size(), 1U);
  EXPECT_TRUE(s.state().queue.front().held);
  EXPECT_THAT(s.last().effects, IsEmpty());
}

TEST(Lifecycle, archive_of_a_session_that_is_stopped_writes_no_second_stop) {
  Scenario s = Scenario::worked();
  s.stop();
  s.gone();
  s.ok(ArchiveSession{});
  EXPECT_THAT(s.kinds(), ElementsAre("session.archived"));
}

TEST(Lifecycle, C1_K2_L35_the_boot_starts_no_agent_and_writes_nothing_that_is_not_new) {
  Scenario s = Scenario::worked();
  s.booted();
  EXPECT_THAT(s.last().events, IsEmpty());
  EXPECT_THAT(s.last().effects, IsEmpty());
  s.gone();
  EXPECT_THAT(s.last().effects, IsEmpty());
  s.booted();
  EXPECT_THAT(s.last().events, IsEmpty());
}

TEST(Lifecycle, O14_O11_the_boot_derives_the_status_anew_and_writes_it_when_it_differs) {
  Scenario s = Scenario::running({.policy = {.wait_ms = 1000}});
  s.ask();
  ASSERT_EQ(s.status(), "waiting");
  s.pass(2000).booted();
  EXPECT_THAT(s.kinds(), IsEmpty());
  EXPECT_EQ(s.last().events.size(), 1U);
  EXPECT_EQ(s.status(), "interrupted_waiting");
}

TEST(Lifecycle, U1_U2_U3_output_is_recorded_though_nobody_looks) {
  Scenario s = Scenario::running();
  s.say("one ").say("two").finish();
  EXPECT_EQ(s.count<MessageAgent>(), 3U);
  EXPECT_EQ(s.count<RunCompleted>(), 2U);
}

TEST(Lifecycle, C13_X13_a_folder_can_be_rebound_only_while_nothing_lives) {
  Scenario s = Scenario::worked();
  const ConfigureSession rebind{{.workspace = Workspace{.cwd = "/ws/b"}}};
  EXPECT_EQ(s.refused(rebind), Code::conflict);
  s.gone();
  s.ok(rebind);
  EXPECT_EQ(s.state().workspace.cwd, "/ws/b");
  EXPECT_EQ(s.state().context.cwd, "/ws/a");
}

TEST(Lifecycle, R9_X14_options_go_to_a_live_agent_and_wait_for_one_that_is_not) {
  Scenario s = Scenario::worked();
  s.ok(ConfigureSession{{.options = {{"mode", "plan"}}}});
  ASSERT_TRUE(s.command<SetOptions>());
  EXPECT_EQ(s.state().requested.at("mode"), "plan");
  s.frame(Mode{.option = "mode", .value = "plan"});
  EXPECT_EQ(s.state().options.at("mode"), "plan");
  EXPECT_THAT(s.state().requested, IsEmpty());
  s.gone();
  s.ok(ConfigureSession{{.options = {{"mode", "code"}}}});
  EXPECT_FALSE(s.command<SetOptions>());
  EXPECT_TRUE(s.ok(ConfigureSession{}).nothing_to_do);
}

TEST(Lifecycle, G8_R9_options_that_wait_for_the_agent_have_a_limit) {
  Scenario s = Scenario::worked();
  const auto set = [](const std::string& name, const std::string& value) {
    return ConfigureSession{{.options = {{name, value}}}};
  };
  for (std::size_t i = 0; i < options_kept_max; ++i) s.ok(set(std::to_string(i), "on"));
  EXPECT_EQ(s.refused(set("one more", "on")), Code::limit_reached);
  s.ok(set("0", "off"));
  s.frame(Mode{.option = "0", .value = "off"});
  s.ok(set("one more", "on"));
  s.frame(Mode{.option = "1", .value = "on"});
  EXPECT_EQ(s.refused(set(std::string(option_name_bytes_max + 1, 'n'), "")), Code::limit_reached);
  EXPECT_EQ(s.refused(set("n", std::string(option_value_bytes_max + 1, 'v'))), Code::limit_reached);
}

TEST(Lifecycle, A13_X19_repair_leaves_a_running_session_alone_and_finds_nothing_after_an_end) {
  Scenario s = Scenario::running();
  s.tool("t1", "in_progress");
  EXPECT_EQ(s.refused(RepairSession{}), Code::conflict);
  s.gone();
  EXPECT_EQ(s.count<RepairClosedTool>(), 1U);
  EXPECT_TRUE(s.ok(RepairSession{}).nothing_to_do);
  EXPECT_EQ(s.count<RepairClosedTool>(), 1U);
}

TEST(Lifecycle, DISK2_a_stop_of_an_idle_session_may_be_written_on_a_full_disk) {
  Scenario s = Scenario::worked();
  s.stop();
  EXPECT_TRUE(s.last().essential);
}

TEST(Lifecycle, PROC6_archive_ends_an_idle_agent) {
  Scenario s = Scenario::worked();
  s.ok(ArchiveSession{});
  EXPECT_THAT(s.kinds(), ElementsAre("session.stopped", "session.archived"));
  EXPECT_TRUE(s.effect<StopExecutor>());
}

TEST(Lifecycle, L7_C17_the_task_and_the_mcp_servers_can_be_bound_anew) {
  Scenario s;
  const TaskId task(Ulid{7, 7});
  s.ok(ConfigureSession{{.task = task, .mcp_servers = {R"([{"name":"a"}])"}}});
  EXPECT_EQ(s.state().task, task);
  EXPECT_EQ(s.state().mcp_servers.text, R"([{"name":"a"}])");
  s.ok(ConfigureSession{{.task = TaskId()}});
  EXPECT_FALSE(s.state().task);
  EXPECT_EQ(s.state().mcp_servers.text, R"([{"name":"a"}])");
  EXPECT_TRUE(s.ok(ConfigureSession{}).nothing_to_do);
}

TEST(Lifecycle, N10_a_fork_is_named_without_a_record) {
  Scenario s = Scenario::worked();
  const SessionId copy(Ulid{5, 5});
  EXPECT_EQ(s.ok(NameFork{copy}).session, copy);
  EXPECT_TRUE(s.last().events.empty());
  EXPECT_EQ(s.refused(NameFork{s.state().id}), Code::invalid_argument);
  EXPECT_EQ(s.refused(NameFork{}), Code::invalid_argument);
}

}  // namespace
}  // namespace perdure
