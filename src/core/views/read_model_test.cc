// The read model as tables: one row per rule of state (K12, K36, C22) and of resumability (C21),
// and a check of every field that is passed through.
#include "core/views/read_model.h"

#include <functional>

#include <gtest/gtest.h>

#include "core/session/random_journal_for_test.h"
#include "core/views/executors.h"
#include "core/views/task_state.h"

namespace perdure {
namespace {

using testing::some_id;

const Moment now{.wall = {1'000'000}, .since_boot = {500'000}, .host_boot = "h1"};

World world(Liveness liveness = Liveness::alive) {
  return {.liveness = liveness, .boot = some_id<BootId>(1), .now = now};
}

// An idle session with a living agent that keeps its sessions.
State idle_session() {
  State state;
  state.head = 42;
  state.id = some_id<SessionId>(1);
  state.task = some_id<TaskId>(1);
  state.title = "fix it";
  state.agent = {.name = "claude", .native_session_resume = true};
  state.workspace = {
      .cwd = "/w", .worktree_id = "wt1", .worktree_path = "/w", .worktree_branch = "fix"};
  state.runtime = "standalone";
  state.exec = {.id = some_id<ExecId>(1),
                .gen = 1,
                .status = ExecutorStatus::ready,
                .agent = AgentPhase::ready,
                .abilities = {.resume = true, .load = true},
                .runtime = "standalone"};
  state.context = {
      .agent_session_id = "agent-1", .cwd = "/w", .how = BoundaryHow::fresh, .prompts = 3};
  return state;
}

// The same after its agentctl is gone.
State lost_session() {
  State state = idle_session();
  state.exec.status = ExecutorStatus::stopped;
  state.exec.gone = true;
  state.exec.agent = AgentPhase::none;
  return state;
}

State with(State state, const std::function<void(State&)>& change) {
  change(state);
  return state;
}

void open_run(State& state) { state.run = Run{.id = some_id<RunId>(1)}; }
void open_wait(State& state) {
  state.permissions[some_id<PermissionId>(1)] = {
      .permission = some_id<PermissionId>(1),
      .tool_call_id = "t",
      .title = "Run rm?",
      .options = {{.id = "yes", .name = "Yes", .kind = "allow_once"}},
      .asked = {900}};
  state.waits[some_id<WaitTokenId>(1)] = {.token = some_id<WaitTokenId>(1),
                                          .secret_hash = sha256("secret"),
                                          .run = some_id<RunId>(1),
                                          .permission = some_id<PermissionId>(1),
                                          .since = {900}};
}

void keeps_nothing_itself(State& state) { state.agent.supports_session_resume = false; }

void forgets_all(State& state) {
  keeps_nothing_itself(state);
  state.policy.inject = Inject::off;
}

TEST(ReadModel, K12_K36_C22_state_table) {
  struct Row {
    const char* what;
    State state;
    Liveness liveness;
    SessionState expected;
  };
  const auto idle = idle_session();
  const Row rows[] = {
      {"new", State{}, Liveness::unknown, SessionState::waiting_for_input},
      {"idle", idle, Liveness::alive, SessionState::waiting_for_input},
      {"executor starts",
       with(idle,
            [](State& s) {
              s.exec.status = ExecutorStatus::starting;
              s.exec.agent = AgentPhase::none;
            }),
       Liveness::unknown, SessionState::starting},
      {"agent starts", with(idle, [](State& s) { s.exec.agent = AgentPhase::starting; }),
       Liveness::alive, SessionState::starting},
      {"agent opens its session", with(idle, [](State& s) { s.exec.agent = AgentPhase::opening; }),
       Liveness::alive, SessionState::starting},
      {"it died while it started", with(idle, [](State& s) { s.exec.agent = AgentPhase::opening; }),
       Liveness::dead, SessionState::waiting_for_input},
      {"a resume is ordered", with(lost_session(), [](State& s) { s.resume = ResumeRequested{}; }),
       Liveness::dead, SessionState::starting},
      {"open run", with(idle, open_run), Liveness::alive, SessionState::running},
      {"open run, agentctl silent", with(idle, open_run), Liveness::unknown, SessionState::running},
      {"open run, agentctl dead", with(idle, open_run), Liveness::dead,
       SessionState::waiting_for_input},
      {"open run waits", with(with(idle, open_run), open_wait), Liveness::alive,
       SessionState::waiting_for_input},
      {"question outside a run", with(idle, open_wait), Liveness::alive,
       SessionState::waiting_for_input},
      {"failed on request",
       with(lost_session(), [](State& s) { s.failure = Failure{.state = "FAILED"}; }),
       Liveness::dead, SessionState::failed},
      {"failed at boot",
       with(lost_session(), [](State& s) { s.failure = Failure{.state = "ERROR"}; }),
       Liveness::dead, SessionState::error},
      {"token rejected",
       with(lost_session(), [](State& s) { s.failure = Failure{.message = "unknown session"}; }),
       Liveness::dead, SessionState::waiting_for_input},
      {"a new try hides the failure",
       with(lost_session(),
            [](State& s) {
              s.failure = Failure{.state = "FAILED"};
              s.resume = ResumeRequested{};
            }),
       Liveness::dead, SessionState::starting},
      {"stopped", with(lost_session(), [](State& s) { s.stop_reason = "stopped_by_user"; }),
       Liveness::dead, SessionState::completed},
      {"completed", with(lost_session(), [](State& s) { s.stop_reason = "completed"; }),
       Liveness::dead, SessionState::completed},
      {"cancelled", with(lost_session(), [](State& s) { s.stop_reason = "cancelled"; }),
       Liveness::dead, SessionState::cancelled},
      {"stopped and resumed", with(idle, [](State& s) { s.stop_reason = "stopped_by_user"; }),
       Liveness::alive, SessionState::waiting_for_input},
      {"crashed", with(lost_session(), [](State& s) { s.stop_reason = "agent_crashed"; }),
       Liveness::dead, SessionState::waiting_for_input},
      {"lost", with(lost_session(), [](State& s) { s.stop_reason = "interrupted"; }),
       Liveness::dead, SessionState::waiting_for_input},
      {"L15: lost, and its agent keeps nothing", with(lost_session(), forgets_all), Liveness::dead,
       SessionState::error},
      {"L15: history can be told", with(lost_session(), keeps_nothing_itself), Liveness::dead,
       SessionState::waiting_for_input},
      {"L15: the agent lives", with(idle, forgets_all), Liveness::alive,
       SessionState::waiting_for_input},
      {"L15: stopped by a person",
       with(with(lost_session(), forgets_all), [](State& s) { s.stop_reason = "stopped_by_user"; }),
       Liveness::dead, SessionState::completed},
  };
  for (const Row& row : rows)
    EXPECT_EQ(derive_state(row.state, world(row.liveness)), row.expected) << row.what;
}

TEST(ReadModel, K12_active_states) {
  EXPECT_TRUE(is_active(SessionState::starting));
  EXPECT_TRUE(is_active(SessionState::running));
  EXPECT_TRUE(is_active(SessionState::waiting_for_input));
  EXPECT_FALSE(is_active(SessionState::completed));
  EXPECT_FALSE(is_active(SessionState::failed));
  EXPECT_FALSE(is_active(SessionState::cancelled));
  EXPECT_FALSE(is_active(SessionState::error));
}

TEST(ReadModel, C21_K8_K9_K10_K11_L11_L15_L29_first_match_wins) {
  struct Row {
    const char* what;
    State state;
    Liveness liveness;
    ResumeVerdict expected;
  };
  const auto lost = lost_session();
  const auto no_id = [](State& s) { s.context.agent_session_id.clear(); };
  const auto no_inject = [](State& s) { s.policy.inject = Inject::off; };
  const auto not_native = [](State& s) { s.agent.native_session_resume = false; };
  const auto stopped = [](State& s) { s.stop_reason = "stopped_by_user"; };
  const ResumeVerdict fine{false, true, ResumeReason::none};
  const ResumeVerdict native{true, true, ResumeReason::agent_not_running};
  const ResumeVerdict fresh{true, true, ResumeReason::agent_not_running_fresh_start};
  const ResumeVerdict never{false, false, ResumeReason::not_resumable};
  const ResumeVerdict missing{false, false, ResumeReason::missing_resume_token};
  const Row rows[] = {
      {"K8: agent runs", idle_session(), Liveness::alive, fine},
      {"K8: agent opens its session",
       with(idle_session(), [](State& s) { s.exec.agent = AgentPhase::opening; }), Liveness::alive,
       fine},
      {"K8 before K10: it has an id too", with(idle_session(), open_run), Liveness::alive, fine},
      {"K9: not answering", idle_session(), Liveness::unknown, fine},
      {"K9: not answering, no id", with(idle_session(), no_id), Liveness::unknown, fine},
      {"K9: the ladder is at work", with(lost, [](State& s) { s.resume = ResumeRequested{}; }),
       Liveness::dead, fine},
      {"K10", lost, Liveness::dead, native},
      {"K10: no execution, whatever the world says", lost, Liveness::unknown, native},
      {"K10: proved dead, not yet recorded", idle_session(), Liveness::dead, native},
      {"K10: workspace lives without an agent",
       with(idle_session(), [](State& s) { s.exec.agent = AgentPhase::none; }), Liveness::alive,
       native},
      {"K10: open run of a dead agent", with(idle_session(), open_run), Liveness::dead, native},
      {"K10 before K11: inject makes no difference", with(lost, no_inject), Liveness::dead, native},
      {"K10: crashed is active", with(lost, [](State& s) { s.stop_reason = "agent_crashed"; }),
       Liveness::dead, native},
      {"K11: no id", with(lost, no_id), Liveness::dead, fresh},
      {"K11: rejected id", with(lost, [](State& s) { s.context.rejected = true; }), Liveness::dead,
       fresh},
      {"K11, K41: agent without native resume", with(lost, not_native), Liveness::dead, fresh},
      {"K11: the id is of another folder", with(lost, [](State& s) { s.workspace.cwd = "/moved"; }),
       Liveness::dead, fresh},
      {"K11: agent forgets all, history can be told",
       with(lost, [](State& s) { s.agent.supports_session_resume = false; }), Liveness::dead,
       fresh},
      {"K11: history-capable agent, inject off",
       with(with(lost, no_id),
            [](State& s) {
              s.policy.inject = Inject::off;
              s.agent.history_context_injection = true;
            }),
       Liveness::dead, fresh},
      {"K11 needs an executor row", with(with(lost, no_id), [](State& s) { s.exec = {}; }),
       Liveness::dead, fine},
      {"C21: stopped is no active state", with(lost, stopped), Liveness::dead, fine},
      {"C3: failed can be resumed on request",
       with(lost, [](State& s) { s.failure = Failure{.state = "FAILED"}; }), Liveness::dead, fine},
      {"L15: agent forgets all, nothing to tell",
       with(with(lost, no_inject), [](State& s) { s.agent.supports_session_resume = false; }),
       Liveness::dead, never},
      {"L11: agent without native resume, nothing to tell", with(with(lost, no_inject), not_native),
       Liveness::dead, never},
      {"L29: no id, nothing to tell", with(with(lost, no_inject), no_id), Liveness::dead, missing},
      {"K37: rejected id, nothing to tell",
       with(with(lost, no_inject), [](State& s) { s.context.rejected = true; }), Liveness::dead,
       missing},
      {"C3: archived", with(lost, [](State& s) { s.archived = true; }), Liveness::dead, never},
      {"C3: archived before K8", with(idle_session(), [](State& s) { s.archived = true; }),
       Liveness::alive, never},
  };
  for (const Row& row : rows) {
    const ResumeVerdict got = derive_resume(row.state, world(row.liveness));
    EXPECT_EQ(got, row.expected) << row.what << ": " << got.needs_resume << got.is_resumable
                                 << enum_text(got.reason);
  }
}

TEST(ReadModel, L15_L12_what_cannot_resume_says_so_and_an_earlier_trouble_comes_first) {
  State state = with(lost_session(), forgets_all);
  SessionView view = project_session(state, world(Liveness::dead));
  EXPECT_EQ(view.state, SessionState::error);
  EXPECT_EQ(view.error_code, "not_resumable");
  EXPECT_TRUE(view.error_message.contains("create a new session")) << view.error_message;
  state.failure = Failure{.state = "FAILED", .code = "auth", .message = "log in"};
  view = project_session(state, world(Liveness::dead));
  EXPECT_EQ(view.state, SessionState::failed);
  EXPECT_EQ(view.error_code, "auth");
}

TEST(ReadModel, L28_L7_O30_fields_are_passed_on) {
  State state = idle_session();
  open_run(state);
  state.queue.push_back(
      {.message = some_id<MessageId>(1), .prompt = Prompt{.text = "next"}, .by = "uid:1"});
  state.queue.push_back(
      {.message = some_id<MessageId>(2), .prompt = Prompt{.text = "later"}, .held = true});
  state.queue_held = true;
  state.options = {{"mode", "plan"}};
  state.last_run = EndedRun{.id = some_id<RunId>(9)};
  const SessionView view = project_session(state, world());
  EXPECT_EQ(view.seq, 42U);
  EXPECT_EQ(view.session, state.id);
  EXPECT_EQ(view.task, state.task);
  EXPECT_EQ(view.title, "fix it");
  EXPECT_EQ(view.agent, "claude");
  EXPECT_EQ(view.status, Status::running);
  EXPECT_EQ(view.state, SessionState::running);
  EXPECT_EQ(view.executor_status, ExecutorStatus::ready);
  EXPECT_EQ(view.liveness, Liveness::alive);
  EXPECT_EQ(view.context, BoundaryHow::fresh);
  EXPECT_TRUE(view.active);
  EXPECT_EQ(view.active_runs, 1U);
  EXPECT_EQ(view.run, state.run);
  EXPECT_EQ(view.last_run, state.last_run);
  EXPECT_EQ(view.runtime, "standalone");
  EXPECT_EQ(view.agent_execution_id, state.exec.id);
  EXPECT_EQ(view.workspace, state.workspace);
  EXPECT_EQ(view.options, state.options);
  EXPECT_TRUE(view.queue_held);
  ASSERT_EQ(view.queue.size(), 2U);
  EXPECT_EQ(view.queue[1].position, 2U);
  EXPECT_EQ(view.queue[1].prompt.text, "later");
  EXPECT_EQ(view.queue[0].by, "uid:1");
  EXPECT_TRUE(view.queue[1].held);
  EXPECT_FALSE(view.queue[0].held);
}

TEST(ReadModel, A15_abilities_of_the_agent_show) {
  State state = idle_session();
  EXPECT_EQ(project_session(state, world()).acp_caps,
            (AgentAbilities{.resume = true, .load = true}));
  EXPECT_FALSE(project_session(state, world()).requires_new_session);
  state.exec.abilities = {};
  EXPECT_TRUE(project_session(state, world()).requires_new_session);
  state.exec.agent = AgentPhase::none;  // not started yet
  EXPECT_FALSE(project_session(state, world()).requires_new_session);
}

TEST(ReadModel, U10_L10_without_a_living_agent_it_is_not_active) {
  EXPECT_FALSE(project_session(idle_session(), world(Liveness::dead)).active);
  EXPECT_FALSE(project_session(idle_session(), world(Liveness::unknown)).active);
  EXPECT_EQ(project_session(lost_session(), world(Liveness::unknown)).liveness, Liveness::dead);
  EXPECT_EQ(project_session(lost_session(), world()).active_runs, 0U);
}

TEST(ReadModel, K37_K41_C5_when_the_agents_id_shows) {
  State state = idle_session();
  EXPECT_EQ(project_session(state, world()).agent_session_id, "agent-1");
  EXPECT_EQ(project_session(state, world()).resume_token, "agent-1");
  state.agent.native_session_resume = false;
  EXPECT_EQ(project_session(state, world()).agent_session_id, "agent-1");
  EXPECT_EQ(project_session(state, world()).resume_token, std::nullopt);
  state = idle_session();
  state.context.rejected = true;
  EXPECT_EQ(project_session(state, world()).agent_session_id, std::nullopt);
  EXPECT_EQ(project_session(state, world()).resume_token, std::nullopt);
  state = idle_session();
  state.context.agent_session_id.clear();
  EXPECT_EQ(project_session(state, world()).agent_session_id, std::nullopt);
}

TEST(ReadModel, K32_flags_of_the_injection) {
  State state = idle_session();
  state.context.how = BoundaryHow::injected;
  state.context.inject_armed = true;
  SessionView view = project_session(state, world());
  EXPECT_TRUE(view.history_enabled);
  EXPECT_TRUE(view.needs_resume_context);
  EXPECT_FALSE(view.resume_context_injected);
  state.context.inject_armed = false;
  state.policy.inject = Inject::off;
  view = project_session(state, world());
  EXPECT_FALSE(view.history_enabled);
  EXPECT_FALSE(view.needs_resume_context);
  EXPECT_TRUE(view.resume_context_injected);
}

TEST(ReadModel, C2_A26_what_went_wrong_shows) {
  State state = lost_session();
  state.stop_reason = "agent_crashed";
  state.last_run = EndedRun{.end = RunEnd::failed, .message = "rate limited"};
  EXPECT_EQ(project_session(state, world()).stop_reason, "agent_crashed");
  EXPECT_EQ(project_session(state, world()).error_message, "rate limited");
  state.exec.status = ExecutorStatus::error;
  state.exec.error_message = "no such container";
  EXPECT_EQ(project_session(state, world()).error_message, "no such container");
  state.failure = Failure{.state = "FAILED", .code = "auth", .message = "log in first"};
  EXPECT_EQ(project_session(state, world()).error_message, "log in first");
  EXPECT_EQ(project_session(state, world()).error_code, "auth");
  EXPECT_EQ(project_session(idle_session(), world()).error_message, "");
}

TEST(ReadModel, O30_N5_open_questions_are_pending) {
  State state = idle_session();
  open_run(state);
  open_wait(state);
  const WaitTokenId second = some_id<WaitTokenId>(2);
  state.waits[second] = {
      .token = second, .kind = WaitKind::input, .run = some_id<RunId>(1), .since = {100}};
  const auto pending = project_session(state, world()).pending;
  ASSERT_EQ(pending.size(), 2U);
  EXPECT_EQ(pending[0].token, second);  // asked first
  EXPECT_EQ(pending[0].kind, WaitKind::input);
  EXPECT_EQ(pending[1].title, "Run rm?");
  EXPECT_EQ(pending[1].tool_call_id, "t");
  EXPECT_EQ(pending[1].permission, some_id<PermissionId>(1));
  EXPECT_EQ(pending[1].options.at(0).id, "yes");
  EXPECT_TRUE(pending[1].answerable);
}

TEST(ReadModel, O27_A31_a_question_nobody_can_take_an_answer_to_says_so) {
  State state = idle_session();
  open_wait(state);
  EXPECT_FALSE(derive_pending(state, world(Liveness::dead)).at(0).answerable);
  EXPECT_TRUE(derive_pending(state, world(Liveness::unknown)).at(0).answerable);
  Moment asked = now;
  asked.since_boot.ms -= 100;
  state.waits.begin()->second.deadline = Deadline::after(asked, 50);
  EXPECT_FALSE(derive_pending(state, world()).at(0).answerable);
}

TEST(TaskState, K36_L1_C17_the_first_that_applies) {
  using S = SessionState;
  struct Row {
    std::vector<S> sessions;
    TaskState expected;
  };
  const Row rows[] = {
      {{}, TaskState::todo},
      {{S::running}, TaskState::in_progress},
      {{S::starting}, TaskState::in_progress},
      {{S::waiting_for_input}, TaskState::review},
      {{S::failed}, TaskState::failed},
      {{S::error}, TaskState::failed},
      {{S::completed}, TaskState::done},
      {{S::cancelled}, TaskState::done},
      {{S::failed, S::waiting_for_input, S::running}, TaskState::in_progress},
      {{S::failed, S::waiting_for_input}, TaskState::review},
      {{S::completed, S::failed}, TaskState::failed},
      {{S::completed, S::cancelled}, TaskState::done},
  };
  for (const Row& row : rows) EXPECT_EQ(derive_task_state(row.sessions), row.expected);
}

TEST(Executors, L8_K39_row_of_a_session) {
  State state = idle_session();
  state.exec.url = "tls://build7:9443";
  state.exec.pid = 4711;
  state.exec.container_id = "c0ffee";
  state.exec.last_seen = {123};
  state.exec.error_message = "was slow";
  const auto row = project_executor(state, world());
  ASSERT_TRUE(row);
  EXPECT_EQ(row->id, state.exec.id);
  EXPECT_EQ(row->session, state.id);
  EXPECT_EQ(row->task, state.task);
  EXPECT_EQ(row->runtime, "standalone");
  EXPECT_EQ(row->agentctl_url, "tls://build7:9443");
  EXPECT_EQ(row->agentctl_port, 9443);
  EXPECT_EQ(row->container_id, "c0ffee");
  EXPECT_EQ(row->pid, 4711);
  EXPECT_EQ(row->status, ExecutorStatus::ready);
  EXPECT_EQ(row->liveness, Liveness::alive);
  EXPECT_TRUE(row->supports_session_resume);
  EXPECT_TRUE(row->supports_workspace_only);
  EXPECT_EQ(row->resume_token, "agent-1");
  EXPECT_EQ(row->workspace, state.workspace);
  EXPECT_EQ(row->last_seen, Timestamp{123});
  EXPECT_EQ(row->error_message, "was slow");
}

TEST(Executors, L8_urls_without_a_port) {
  State state = idle_session();
  for (const char* url :
       {"", "unix:/run/x.sock", "tls://host", "tls://host:", "tls://host:99999", "tls://host:1x"}) {
    state.exec.url = url;
    EXPECT_EQ(project_executor(state, world())->agentctl_port, std::nullopt) << url;
  }
}

TEST(Executors, L8_no_row_before_the_first_execution) {
  EXPECT_FALSE(project_executor(State{}, world()));
}

}  // namespace
}  // namespace perdure
