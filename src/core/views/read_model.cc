#include "core/views/read_model.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace perdure {
namespace {

bool has_agent_process(const State& state) {
  return state.exec.agent == AgentPhase::opening || state.exec.agent == AgentPhase::ready;
}

bool is_starting(const State& state, Liveness liveness) {
  if (state.resume) return true;  // the ladder continues, also across a restart of the daemon
  if (liveness == Liveness::dead) return false;
  return state.exec.status == ExecutorStatus::starting ||
         state.exec.agent == AgentPhase::starting || state.exec.agent == AgentPhase::opening;
}

// Whether a person or a rule ended the session. After a crash or a lost agent, work can continue.
bool was_stopped(const State& state) {
  const std::string& reason = state.stop_reason;
  const bool by_somebody =
      !reason.empty() && reason != "agent_crashed" && reason != "interrupted" && reason != "error";
  return by_somebody && state.exec.agent == AgentPhase::none;
}

bool can_inject(const State& state) {
  return state.agent.history_context_injection || state.policy.inject != Inject::off;
}

// C21's last rule: all sessions but archived ones and those that offer only a fresh start.
ResumeVerdict resumable_at_all(const State& state) {
  if (usable_agent_session_id(state) || can_inject(state)) return {.is_resumable = true};
  const bool agents_fault =
      !state.agent.supports_session_resume || !state.agent.native_session_resume;
  return {.reason =
              agents_fault ? ResumeReason::not_resumable : ResumeReason::missing_resume_token};
}

// L15: its agent is gone and keeps nothing, and the next one may not get the history. The session
// can still be read and prompted; the next agent starts without context (C2).
bool is_beyond_resume(const State& state) {
  return state.exec.gone && !was_stopped(state) &&
         resumable_at_all(state).reason == ResumeReason::not_resumable;
}

PendingItem pending_of(const Permission& permission) {
  return {.permission = permission.permission,
          .tool_call_id = permission.tool_call_id,
          .title = permission.title,
          .options = permission.options,
          .digest = permission.digest,
          .since = permission.asked};
}

void fill_execution(SessionView& view, const State& state, const World& world) {
  const Execution& exec = state.exec;
  view.executor_status = exec.status;
  view.liveness = derive_liveness(state, world);
  view.active = view.liveness == Liveness::alive && has_agent_process(state);
  view.runtime = exec.runtime.empty() ? state.runtime : exec.runtime;
  view.image = state.image;
  view.remote = state.remote;
  view.container_id = exec.gone ? "" : exec.container_id;
  view.confinement = exec.gone ? "" : exec.confinement;
  view.confinement_reason = exec.gone ? "" : exec.confinement_reason;
  view.agent_execution_id = exec.id;
  view.acp_caps = exec.abilities;
  view.supports_session_resume = state.agent.supports_session_resume;
  view.supports_workspace_only = exec.supports_workspace_only;
  const bool agent_known = has_agent_process(state);
  view.requires_new_session = !state.agent.supports_session_resume ||
                              !state.agent.native_session_resume ||
                              (agent_known && !exec.abilities.resume && !exec.abilities.load);
}

void fill_context(SessionView& view, const State& state) {
  const Context& context = state.context;
  view.context = context.how;
  view.context_verified = context.verified;
  if (!context.agent_session_id.empty() && !context.rejected) {
    view.agent_session_id = context.agent_session_id;
    if (state.agent.native_session_resume) view.resume_token = context.agent_session_id;
  }
  view.history_enabled = can_inject(state);
  view.needs_resume_context = context.inject_armed;
  view.resume_context_injected = context.how == BoundaryHow::injected && !context.inject_armed;
}

}  // namespace

bool is_active(SessionState state) {
  return state == SessionState::starting || state == SessionState::running ||
         state == SessionState::waiting_for_input;
}

Liveness derive_liveness(const State& state, const World& world) {
  const bool exists = state.exec.status != ExecutorStatus::none && !state.exec.gone;
  return exists ? world.liveness : Liveness::dead;
}

std::optional<std::string> usable_agent_session_id(const State& state) {
  const Context& context = state.context;
  const bool kept = state.agent.supports_session_resume && state.agent.native_session_resume;
  if (context.agent_session_id.empty() || context.rejected || !kept) return std::nullopt;
  if (context.cwd != state.workspace.cwd) return std::nullopt;
  return context.agent_session_id;
}

SessionState derive_state(const State& state, const World& world) {
  if (is_starting(state, derive_liveness(state, world))) return SessionState::starting;
  if (derive_status(state, world) == Status::running) return SessionState::running;
  if (state.run || !state.waits.empty()) return SessionState::waiting_for_input;
  if (state.failure && state.failure->state == "ERROR") return SessionState::error;
  if (state.failure && state.failure->state == "FAILED") return SessionState::failed;
  if (is_beyond_resume(state)) return SessionState::error;
  if (!was_stopped(state)) return SessionState::waiting_for_input;
  return state.stop_reason == "cancelled" ? SessionState::cancelled : SessionState::completed;
}

ShownError derive_error(const State& state) {
  if (state.failure) return {state.failure->code, state.failure->message};
  const bool was_lost = state.exec.gone && !state.run;
  if (state.exec.status == ExecutorStatus::error || (was_lost && !state.exec.error_code.empty())) {
    return {state.exec.error_code, state.exec.error_message};
  }
  if (!state.run && state.last_run && state.last_run->end == RunEnd::failed) {
    return {state.last_run->code, state.last_run->message};
  }
  if (!state.run && is_beyond_resume(state)) {
    return {std::string(enum_text(ResumeReason::not_resumable)),
            "this agent cannot resume; create a new session"};
  }
  return {};
}

ResumeVerdict derive_resume(const State& state, const World& world) {
  if (state.archived) return {.reason = ResumeReason::not_resumable};
  const Liveness liveness = derive_liveness(state, world);
  const SessionState shown = derive_state(state, world);
  const bool agent_here = has_agent_process(state) || shown == SessionState::starting;
  if (liveness == Liveness::alive && agent_here) return resumable_at_all(state);      // K8
  if (state.resume || liveness == Liveness::unknown) return resumable_at_all(state);  // K9, C19
  if (is_active(shown) && usable_agent_session_id(state)) {                           // K10
    return {true, true, ResumeReason::agent_not_running};
  }
  if (is_active(shown) && state.exec.gen > 0 && can_inject(state)) {  // K11
    return {true, true, ResumeReason::agent_not_running_fresh_start};
  }
  return resumable_at_all(state);
}

std::vector<PendingItem> derive_pending(const State& state, const World& world) {
  std::vector<PendingItem> pending;
  const bool nobody_there = derive_liveness(state, world) == Liveness::dead;
  for (const auto& [token, wait] : state.waits) {
    const auto asked = state.permissions.find(wait.permission);
    PendingItem item = asked == state.permissions.end() ? PendingItem{} : pending_of(asked->second);
    item.token = token;
    item.kind = wait.kind;
    item.run = wait.run;
    item.permission = wait.permission;
    item.since = wait.since;
    item.deadline = wait.deadline;
    item.answerable =
        !nobody_there && (!wait.deadline || wait.deadline->remaining_ms(world.now) > 0);
    pending.push_back(std::move(item));
  }
  for (const auto& [id, permission] : state.permissions) {
    if (std::ranges::find(pending, id, &PendingItem::permission) != pending.end()) continue;
    pending.push_back(pending_of(permission));
    pending.back().answerable = false;
  }
  std::ranges::sort(pending, {}, [](const PendingItem& item) {
    return std::tuple(item.since, item.token, item.permission);
  });
  return pending;
}

std::optional<LimitView> derive_limit(const State& state) {
  if (!state.limit) return std::nullopt;
  return LimitView{state.limit->reset_at, limit_outcome(state, state.limit->until.wall)};
}

SessionView project_session(const State& state, const World& world) {
  SessionView view{.seq = state.head,
                   .session = state.id,
                   .task = state.task,
                   .title = state.title,
                   .agent = state.agent.name,
                   .created = state.created,
                   .updated = state.updated,
                   .archived = state.archived,
                   .status = derive_status(state, world),
                   .state = derive_state(state, world),
                   .stop_reason = state.stop_reason,
                   .resume = derive_resume(state, world),
                   .pending = derive_pending(state, world),
                   .queue_held = state.queue_held,
                   .active_runs = state.run ? 1U : 0U,
                   .runs = state.runs,
                   .run = state.run,
                   .last_run = state.last_run,
                   .workspace = state.workspace,
                   .options = state.options,
                   .limit = derive_limit(state)};
  for (const QueuedPrompt& item : state.queue) {
    view.queue.push_back({view.queue.size() + 1, item.message, item.run, item.prompt, item.by,
                          item.held, item.steering});
  }
  const ShownError error = derive_error(state);
  view.error_code = error.code;
  view.error_message = error.message;
  fill_execution(view, state, world);
  fill_context(view, state);
  return view;
}

}  // namespace perdure
