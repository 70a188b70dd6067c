// The resume ladder: the best rung that the agent can serve and that keeps most of its context.
// Each step is an event, so after a crash the daemon continues with the same rung; the ladder ends
// with one boundary that states what the agent knows now, and why not more.
#include <algorithm>

#include "base/limits.h"
#include "base/probe.h"
#include "core/session/transitions/draft.h"

namespace perdure {
namespace {

// Classes of failure after which the next rung may be tried (C4); the others keep the id.
bool allows_next_rung(OpenFailure failure) { return failure < OpenFailure::transport; }

bool tried(const State& state, OpenMethod method) {
  return std::ranges::any_of(state.exec.attempts,
                             [&](const OpenAttempt& attempt) { return attempt.method == method; });
}

// Why the agent's own session cannot be used, known without asking the agent; absent if it can.
std::optional<OpenFailure> native_obstacle(const State& state) {
  const Context& context = state.context;
  if (context.agent_session_id.empty() || context.prompts == 0) return OpenFailure::never_prompted;
  if (context.rejected) return OpenFailure::session_unknown;
  if (!state.agent.native_session_resume || !state.agent.supports_session_resume) {
    return OpenFailure::capability_missing;
  }
  if (context.cwd != state.workspace.cwd) return OpenFailure::cwd_changed;
  return std::nullopt;
}

std::string boundary_reason(const State& state) {
  if (!state.exec.attempts.empty()) {
    const OpenAttempt& last = state.exec.attempts.back();
    std::string reason(enum_text(last.failure));
    if (!last.message.empty()) reason += ": " + last.message;
    return reason;
  }
  if (state.resume && state.resume->with) return "handover";
  if (state.resume && state.resume->how == ResumeHow::fresh) return "asked for";
  if (const auto obstacle = native_obstacle(state)) return std::string(enum_text(*obstacle));
  return "capability_missing";
}

bool would_lose_context(const State& state) { return state.context.history_prompts > 0; }

bool strict_forbids_loss(const State& state) {
  return state.resume && state.resume->strict && would_lose_context(state);
}

constexpr const char* strict_message =
    "the agent's own session cannot be restored, and strict forbids less";

// Commands the agentctl to try the rung that the state names.
void open_next(Draft& draft) {
  const Execution& exec = draft.state.exec;
  if (exec.attempts.size() >= ladder_attempts_max) {
    fail_resume(draft, OpenFailure::other, "no rung of the ladder served");
    return;
  }
  if (exec.opening == OpenMethod::fresh && strict_forbids_loss(draft.state)) {
    const OpenFailure why =
        exec.attempts.empty() ? OpenFailure::capability_missing : exec.attempts.back().failure;
    fail_resume(draft, why, strict_message);
    return;
  }
  std::map<std::string, std::string> options = draft.state.options;
  for (const auto& [name, value] : draft.state.requested) options[name] = value;
  const bool native = exec.opening != OpenMethod::fresh;
  draft.command(
      OpenSession{exec.opening, native ? draft.state.context.agent_session_id : "", options});
}

void try_next_rung(Draft& draft, OpenMethod method, OpenFailure failure,
                   const std::string& message) {
  draft.add(ContextAttempt{{method, failure, message}}, draft.exec_origin());
  open_next(draft);
}

bool injects(const State& state) {
  if (!state.resume || state.resume->how == ResumeHow::fresh) return false;
  if (state.context.history_prompts == 0) return false;
  return state.resume->how == ResumeHow::inject || state.policy.inject == Inject::automatic;
}

void add_boundary(Draft& draft, const FrameSessionOpened& body, const Frame& frame,
                  Verified verified) {
  const State& state = draft.state;
  const std::string& asked = state.context.agent_session_id;
  ContextBoundary boundary;
  boundary.agent_session_id = body.agent_session_id.empty() ? asked : body.agent_session_id;
  const bool kept = body.method != OpenMethod::fresh && boundary.agent_session_id == asked;
  if (kept) {
    boundary.how =
        body.method == OpenMethod::resume ? BoundaryHow::native_resume : BoundaryHow::native_load;
  } else {
    boundary.inject = injects(state);
    boundary.previous_agent_session_id = asked;
    boundary.how = boundary.inject ? BoundaryHow::injected : BoundaryHow::fresh;
    boundary.reason = boundary_reason(state);
    if (state.resume && state.resume->with) {
      boundary.how = BoundaryHow::handover;
      boundary.agent = state.resume->with->name;
    }
  }
  boundary.attempts = state.exec.attempts;
  boundary.verified = kept ? verified : Verified::none;
  boundary.replayed_prompts = body.replayed_prompts;
  boundary.replayed_updates = body.replayed_updates;
  boundary.replay_sha256 = body.replay_sha256;
  boundary.cwd = state.workspace.cwd;
  draft.add(std::move(boundary), frame_origin(draft, frame));
  // Requested after the opening was sent, or not observed since: applied before the first prompt.
  if (!draft.state.requested.empty()) draft.command(SetOptions{draft.state.requested});
  deliver_next(draft);
}

}  // namespace

OpenMethod next_method(const State& state) {
  const ResumeHow how = state.resume ? state.resume->how : ResumeHow::automatic;
  const bool handover = state.resume && state.resume->with;
  if (handover || how == ResumeHow::inject || how == ResumeHow::fresh) return OpenMethod::fresh;
  if (native_obstacle(state)) return OpenMethod::fresh;
  // After an empty or foreign answer to one native call, the other would not succeed either.
  const bool hopeless = std::ranges::any_of(state.exec.attempts, [](const OpenAttempt& attempt) {
    return attempt.failure != OpenFailure::capability_missing;
  });
  if (hopeless) return OpenMethod::fresh;
  const bool may_resume = state.exec.abilities.resume && !tried(state, OpenMethod::resume);
  const bool may_load = state.exec.abilities.load && !tried(state, OpenMethod::load);
  if (how == ResumeHow::load && may_load) return OpenMethod::load;
  if (how != ResumeHow::load && may_resume) return OpenMethod::resume;
  return may_load ? OpenMethod::load : OpenMethod::fresh;
}

std::string workspace_missing_text(const State& state) {
  if (state.workspace.cwd.empty()) return "the session has no folder here: bind it to one first";
  return "the folder " + state.workspace.cwd +
         " is gone: recreate it, rebind the session to another, or start fresh elsewhere";
}

void fail_resume(Draft& draft, OpenFailure failure, std::string message) {
  const State& state = draft.state;
  // If left running, the execution of a failed handover would restart the other agent here.
  const bool stops =
      state.resume && state.resume->with && execution_may_live(state) && !state.exec.stop_requested;
  draft.add(ResumeFailed{.failure = failure,
                         .message = std::move(message),
                         .attempts = state.exec.attempts,
                         .at_boot = state.resume && state.resume->at_boot,
                         .executor_stops = stops},
            draft.exec_origin());
  if (stops) draft.effect(StopExecutor{draft.state.exec.id, draft.state.exec.gen});
}

namespace {

// C22: no client waits for a resume at boot, so its early failures are recorded where people look.
void fail_at_boot(Draft& draft, const ResumeSession& command) {
  draft.add(ResumeRequested{.how = command.how, .at_boot = true, .by = draft.input.by});
  draft.add(ResumeFailed{.failure = OpenFailure::startup,
                         .message = workspace_missing_text(draft.state),
                         .at_boot = true,
                         .code = std::string(code_name(Code::workspace_missing))});
  draft.decision.reply.seq = draft.state.head;
}

}  // namespace

Outcome on(Draft& draft, const ResumeSession& command) {
  const State& state = draft.state;
  if (state.archived)
    return fail(Code::session_archived, "the session is archived; unarchive it first");
  // C1: the caller saw the session in an earlier state.
  if (command.at_boot && state.policy.resume != ResumePolicy::on_boot) {
    return fail(Code::conflict, "the session is no longer resumed at boot");
  }
  const bool live = agent_ready(state);
  if (live && !command.with) {
    draft.decision.reply.already_running = true;
    return std::move(draft.decision);
  }
  if (!command.with && !state.resume && state.agent.name.empty()) {
    return fail(Code::agent_unknown,
                "the session has no agent here: name the one that is to go on with it");
  }
  if (!command.workspace_exists && command.at_boot && !state.resume) {
    fail_at_boot(draft, command);
    return std::move(draft.decision);
  }
  if (!command.workspace_exists) {
    return fail(Code::workspace_missing, workspace_missing_text(state));
  }
  if (command.with && state.run) {
    return fail(Code::conflict, "a run is open; cancel it before you hand the session over");
  }
  if (command.strict && native_obstacle(state) && would_lose_context(state)) {
    return fail(Code::not_resumable, "the agent's own session cannot be restored (" +
                                         std::string(enum_text(*native_obstacle(state))) + ")");
  }
  const bool joins = !command.with && (command.how == ResumeHow::automatic ||
                                       (state.resume && state.resume->how == command.how));
  const bool stricter = state.resume && command.strict && !state.resume->strict;
  if (state.resume && (!joins || stricter)) {
    return fail(Code::conflict, "another resume is under way; wait for it or stop the session");
  }
  draft.decision.reply.resume_pending = true;
  if (state.resume) {
    SIM_PROBE("second resume joins the first");
    return std::move(draft.decision);
  }
  ensure_agent(draft, {.how = command.how,
                       .strict = command.strict,
                       .with = command.with,
                       .at_boot = command.at_boot,
                       .by = draft.input.by});
  draft.decision.reply.seq = draft.state.head;
  return std::move(draft.decision);
}

void on_frame(Draft& draft, const Frame& frame, const FrameAgentStarted& body) {
  if (draft.state.exec.agent != AgentPhase::starting || !draft.state.resume) {
    draft.decision.dropped = 1;
    return;
  }
  draft.add(body.agent, frame_origin(draft, frame));
  open_next(draft);
}

void on_frame(Draft& draft, const Frame& frame, const FrameSessionOpened& body) {
  const State& state = draft.state;
  if (state.exec.agent != AgentPhase::opening || body.method != state.exec.opening) {
    draft.decision.dropped = 1;
    return;
  }
  if (body.method == OpenMethod::fresh && body.agent_session_id.empty()) {
    fail_resume(draft, OpenFailure::other, "the agent gave no session id");
    return;
  }
  const bool other = body.method != OpenMethod::fresh && !body.agent_session_id.empty() &&
                     body.agent_session_id != state.context.agent_session_id;
  if (other) {
    // The agent created a new session and reported it as restored: treat it as new (X9).
    SIM_PROBE("agent answered with another session");
    draft.add(ContextAttempt{{body.method, OpenFailure::other_session,
                              "the agent answered with session " + body.agent_session_id}},
              draft.exec_origin());
    if (strict_forbids_loss(draft.state)) {
      fail_resume(draft, OpenFailure::other_session, strict_message);
    } else {
      add_boundary(draft, body, frame, Verified::none);
    }
    return;
  }
  if (body.method == OpenMethod::load && body.replayed_prompts == 0 && state.context.turns > 0) {
    SIM_PROBE("agent loaded an empty session");
    try_next_rung(draft, body.method, OpenFailure::not_restored,
                  "the agent replayed none of the earlier turns");
    return;
  }
  Verified verified = Verified::id_only;
  if (body.method == OpenMethod::load) {
    verified = body.replayed_prompts < state.context.prompts ? Verified::partial : Verified::full;
  }
  add_boundary(draft, body, frame, verified);
}

void on_frame(Draft& draft, const Frame&, const FrameOpenFailed& body) {
  const Execution& exec = draft.state.exec;
  if (exec.agent != AgentPhase::opening || body.method != exec.opening) {
    draft.decision.dropped = 1;
    return;
  }
  if (body.method != OpenMethod::fresh && allows_next_rung(body.failure)) {
    SIM_PROBE("ladder goes down a rung");
    try_next_rung(draft, body.method, body.failure, body.message);
  } else {
    SIM_PROBE("resume failed and kept the id");
    // "Not found" in reply to session/new refers to something else: it does not invalidate the id.
    const bool misplaced = body.failure == OpenFailure::session_unknown;
    fail_resume(draft, misplaced ? OpenFailure::other : body.failure, body.message);
  }
}

void on_frame(Draft& draft, const Frame& frame, const FrameContextChanged& body) {
  // Only boundaries within a session: the ladder sets the others.
  if (body.how != BoundaryHow::cleared && body.how != BoundaryHow::compacted) {
    draft.decision.dropped = 1;
    return;
  }
  ContextBoundary boundary;
  boundary.how = body.how;
  boundary.agent_session_id = draft.state.context.agent_session_id;
  boundary.cwd = draft.state.context.cwd;
  draft.add(std::move(boundary), frame_origin(draft, frame));
  deliver_next(draft);  // a prompt may wait for a history rendered for the previous boundary
}

}  // namespace perdure
