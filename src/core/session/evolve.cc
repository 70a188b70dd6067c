// evolve(): the fold. One apply() per kind of event, each small enough to verify by reading. Total:
// it accepts every sequence of events, so that a journal of any origin can be opened.
#include <algorithm>

#include "base/bytes/hash.h"
#include "base/json/fields_json.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/session/transitions/draft.h"

namespace perdure {
namespace {

// An id must not be cut: the remainder would be a different id.
std::string id_kept(const std::string& id) {
  return id.size() <= agent_id_bytes_max ? id : std::string();
}

std::string title_kept(const std::string& title) {
  return std::string(utf8_prefix(title, title_bytes_max));
}

// Entries beyond the capacity are ignored.
void keep_option(std::map<std::string, std::string>& options, const std::string& name,
                 const std::string& value) {
  if (const auto known = options.find(name); known != options.end()) {
    known->second = value;
  } else if (options.size() < options_kept_max) {
    options.emplace(name, value);
  }
}

struct Fold {
  State& state;
  const Event& event;

  const Origin& origin() const { return event.origin; }
  bool in_open_run() const { return state.run && origin().run && state.run->id == origin().run; }

  void hold_queue(bool held) const {
    for (QueuedPrompt& item : state.queue) item.held = held;
    state.queue_held = held && !state.queue.empty();
  }
  void refresh_held() const {
    state.queue_held = std::ranges::any_of(state.queue, &QueuedPrompt::held);
  }

  // An agentctl reports in order: what it has not reported by now did not happen.
  void end_steering() const {
    for (QueuedPrompt& item : state.queue) item.steering = false;
  }

  void end_run(EndedRun ended) const {
    const RunEnd end = ended.end;
    if (origin().frame != 0) end_steering();
    state.last_run = std::move(ended);
    state.last_run->id = origin().run;
    state.last_run->ended = event.at;
    state.run.reset();
    state.message_open = false;
    state.open_tools.clear();
    // A good end releases nothing: held prompts wait for a person, not for another run (C23).
    if (end == RunEnd::failed || end == RunEnd::interrupted) hold_queue(true);
  }

  void ask_to_stop() const {
    if (!execution_may_live(state)) return;
    state.exec.stop_requested = true;
    state.exec.agent = AgentPhase::none;
  }

  void close_token(WaitTokenId token, TokenStatus status, const std::string& by) const {
    const auto at = state.waits.find(token);
    if (at == state.waits.end()) return;
    const Wait& wait = at->second;
    state.closed_waits.push_back({.token = token,
                                  .permission = wait.permission,
                                  .run = wait.run,
                                  .kind = wait.kind,
                                  .secret_hash = wait.secret_hash,
                                  .status = status,
                                  .outcome = status == TokenStatus::consumed
                                                 ? PermissionOutcome::selected
                                                 : PermissionOutcome::cancelled,
                                  .by = by});
    state.waits.erase(at);
    if (state.closed_waits.size() > waits_closed_kept) state.closed_waits.pop_front();
  }

  void note_tool(const std::string& id, const std::string& title, const std::string& status) const {
    if (!in_open_run()) return;
    // An update without a status does not imply that the call is open: it may follow the end.
    const bool is_update = holds_alternative<ToolUpdate>(event.body);
    if (is_update && status.empty() && !state.open_tools.contains(id)) return;
    if (status == "completed" || status == "failed" || status == "cancelled") {
      state.open_tools.erase(id);
      return;
    }
    const bool has_room =
        state.open_tools.size() < tools_open_max && id.size() <= agent_id_bytes_max;
    if (!has_room && !state.open_tools.contains(id)) return;
    std::string& known = state.open_tools[id];
    if (!title.empty()) known = title_kept(title);
  }

  void apply(const SessionCreated& e) const {
    state.id = e.session;
    state.task = e.task;
    state.title = e.title;
    state.agent = e.agent;
    state.workspace = e.workspace;
    state.policy = e.policy;
    state.runtime = e.runtime;
    state.image = e.image;
    state.remote = e.remote;
    state.mcp_servers = e.mcp_servers;
    state.parent = e.parent;
    state.created = event.at;
  }
  void apply(const SessionRenamed& e) const { state.title = e.title; }
  void apply(const SessionConfigured& e) const {
    if (e.policy) state.policy = *e.policy;
    if (e.workspace) state.workspace = *e.workspace;
    if (e.task) state.task = *e.task;
    if (!e.mcp_servers.text.empty()) state.mcp_servers = e.mcp_servers;
    for (const auto& [name, value] : e.options) {
      if (option_fits(name, value)) keep_option(state.requested, name, value);
    }
  }
  void apply(const SessionStopped& e) const {
    state.stop_reason = e.reason;
    state.resume.reset();
    state.limit.reset();  // stopping a session also cancels its automatic continuation
    ask_to_stop();
    hold_queue(true);
  }
  void apply(const SessionArchived&) const {
    state.archived = true;
    state.limit.reset();
  }
  void apply(const SessionAdopted&) const {}
  void apply(const SessionUnarchived&) const { state.archived = false; }

  void apply(const ExecutorStarting& e) const {
    state.exec = Execution{.id = origin().exec,
                           .gen = origin().gen,
                           .status = ExecutorStatus::starting,
                           .boot = e.boot,
                           .host_boot = e.host_boot,
                           .home = e.home,
                           .ready_by = e.ready_by,
                           .runtime = e.runtime,
                           .last_seen = event.at};
    state.last_boot = e.boot;
  }
  void apply(const ExecutorReady& e) const {
    Execution& exec = state.exec;
    exec.status = ExecutorStatus::ready;
    exec.url = e.url;
    exec.instance = e.instance;
    exec.pid = e.pid;
    exec.pid_started = e.pid_started;
    exec.container_id = e.container_id;
    exec.supports_workspace_only = e.supports_workspace_only;
    exec.tells_steered = e.tells_steered;
    exec.confinement = e.confinement;
    exec.confinement_reason = e.confinement_reason;
    exec.last_seen = event.at;
    if (state.resume && !exec.stop_requested) exec.agent = AgentPhase::starting;
  }
  void apply(const ExecutorReattached& e) const {
    state.exec.boot = e.boot;
    state.exec.last_seen = event.at;
    state.last_boot = e.boot;
  }
  void apply(const ExecutorError& e) const {
    state.exec.status = ExecutorStatus::error;
    state.exec.error_code = e.code;
    state.exec.error_message = e.message;
    ask_to_stop();
  }
  void apply(const ExecutorStopped& e) const {
    Execution& exec = state.exec;
    end_steering();
    exec.gone = true;
    exec.agent = AgentPhase::none;
    if (!e.code.empty() && exec.error_code.empty()) {
      exec.error_code = e.code;
      exec.error_message = e.proof;
    }
    if (exec.status != ExecutorStatus::error) exec.status = ExecutorStatus::stopped;
    if (e.reason == "lost" && state.stop_reason.empty()) state.stop_reason = "interrupted";
  }
  void apply(const AgentStarted& e) const {
    state.exec.abilities = e.abilities;
    state.exec.agent = AgentPhase::opening;
    state.exec.attempts.clear();
    state.exec.opening = next_method(state);
  }
  void apply(const AgentExited& e) const {
    end_steering();
    state.exec.agent = AgentPhase::none;
    const bool clean = e.why == "stopped" || (e.exit_code && *e.exit_code == 0);
    // An agent that dies because we stop it has not crashed, whichever signal ended it (C3).
    if (!clean && !state.exec.stop_requested) state.stop_reason = "agent_crashed";
  }

  void apply(const ContextBoundary& e) const {
    Context& context = state.context;
    const bool in_place = e.how == BoundaryHow::cleared || e.how == BoundaryHow::compacted;
    context.how = e.how;
    context.boundary = state.head;
    context.verified = e.verified;
    if (e.how == BoundaryHow::cleared) {
      context.history_from = state.head;
      context.history_prompts = 0;
      context.turns = 0;
      context.inject_armed = false;  // history that a person cleared stays cleared (X26)
    }
    if (in_place) return;
    const bool restored = e.how == BoundaryHow::native_resume || e.how == BoundaryHow::native_load;
    if (!restored) {  // an agent may reuse the old session's id for a new one
      context.prompts = 0;
      context.turns = 0;
    }
    context.agent_session_id = e.agent_session_id;
    context.opened = event.at;
    context.rejected = false;
    context.cwd = e.cwd;
    context.inject_armed = e.inject;
    if (e.how == BoundaryHow::handover && state.resume && state.resume->with) {
      state.agent = *state.resume->with;
      state.limit.reset();  // it applied to the previous agent
    }
    if (execution_may_live(state)) state.exec.agent = AgentPhase::ready;  // a copy has none
    state.resume.reset();
    state.failure.reset();
  }
  void apply(const ContextInjected&) const { state.context.inject_armed = false; }
  void apply(const ContextAttempt& e) const {
    state.exec.attempts.push_back(e.attempt);
    state.exec.opening = next_method(state);
    if (e.attempt.failure == OpenFailure::session_unknown) state.context.rejected = true;
  }
  void apply(const ResumeFailed& e) const {
    state.resume.reset();
    if (execution_may_live(state)) state.exec.agent = AgentPhase::none;
    if (e.executor_stops) ask_to_stop();
    const bool rejected = e.failure == OpenFailure::session_unknown;
    if (rejected) state.context.rejected = true;
    const char* shown = rejected ? "" : e.at_boot ? "ERROR" : "FAILED";  // C22
    state.failure =
        Failure{shown, e.code.empty() ? std::string(enum_text(e.failure)) : e.code, e.message};
    hold_queue(true);
  }
  void apply(const ResumeRequested& e) const {
    state.resume = e;
    if (e.with) ask_to_stop();
    const bool can_start = execution_may_live(state) && !state.exec.stop_requested &&
                           state.exec.status == ExecutorStatus::ready &&
                           state.exec.agent == AgentPhase::none;
    if (can_start) state.exec.agent = AgentPhase::starting;
  }

  void apply(const RunStarted& e) const {
    state.run = Run{.id = origin().run,
                    .message = e.message,
                    .boot = e.boot,
                    .exec = origin().exec,
                    .gen = origin().gen,
                    .started = event.at};
    state.runs += 1;
    state.stop_reason.clear();
    state.last_boot = e.boot;
    state.auto_continued = e.trigger == "auto_continue";
    state.limit.reset();
    if (e.trigger == "prompt") state.limit_series.reset();
  }
  void apply(const RunRetried&) const {}
  void apply(const RunWaiting&) const {}
  void apply(const RunResumed&) const {}
  void apply(const RunCancelling& e) const {
    if (!in_open_run()) return;
    state.run->cancelling = true;
    state.run->cancelled_by = e.by;
  }
  void apply(const RunStalled&) const {}
  void apply(const RunCompleted&) const {
    end_run({.end = RunEnd::completed});
    state.context.turns += 1;
    state.limit_series.reset();
  }
  void apply(const RunFailed& e) const {
    end_run({.end = RunEnd::failed, .code = e.code, .message = e.message});
  }
  void apply(const RunCancelled& e) const {
    end_run({.end = RunEnd::cancelled});
    if (e.frames_pending) ask_to_stop();
  }
  void apply(const RunInterrupted& e) const {
    end_run({.end = RunEnd::interrupted, .interrupted = e.reason});
  }

  void apply(const LimitWaiting& e) const {
    state.limit = LimitWait{e.of, e.reset_at, e.until, e.tools_open};
    if (!state.limit_series) state.limit_series = LimitSeries{.since = event.at};
  }
  void apply(const LimitOver& e) const {
    state.limit.reset();
    if (e.outcome == LimitOutcome::continued && state.limit_series) {
      state.limit_series->continued += 1;
    }
  }

  void apply(const MessageUser& e) const {
    if (e.steered) return;
    state.context.prompts += 1;
    state.context.history_prompts += 1;
  }
  void apply(const MessageAgent& e) const {
    state.message_open = state.message_open || in_open_run();
    if (!e.message.empty()) state.context.last_agent_message_id = id_kept(e.message);
  }
  void apply(const MessageThought&) const {
    state.message_open = state.message_open || in_open_run();
  }
  void apply(const ToolCall& e) const {
    if (in_open_run()) state.message_open = false;  // the preceding message is complete
    note_tool(e.tool_call_id, e.title, e.status);
  }
  void apply(const ToolUpdate& e) const { note_tool(e.tool_call_id, e.title, e.status); }
  void apply(const Plan&) const {}
  void apply(const Usage&) const {}
  void apply(const Mode& e) const {
    if (e.imported) return;
    state.requested.erase(e.option);  // X14: the latest observation counts
    if (option_fits(e.option, e.value)) return keep_option(state.options, e.option, e.value);
    state.options.erase(e.option);  // the old value does not apply now
  }
  void apply(const Commands&) const {}
  void apply(const AgentUpdate&) const {}

  void apply(const PermissionRequested& e) const {
    auto options = options_offered(e.options);
    const std::uint64_t left_out = e.options.size() - options.size() + e.options_left_out;
    state.permissions[e.permission] = Permission{e.permission,
                                                 e.request,
                                                 origin().exec,
                                                 origin().gen,
                                                 id_kept(e.tool_call_id),
                                                 question_title(e.title),
                                                 std::move(options),
                                                 event.at,
                                                 left_out,
                                                 sha256(encode_fields(e)).hex()};
  }
  // Follows the end of its token, and records the decision for later queries.
  void apply(const PermissionResolved& e) const {
    state.permissions.erase(e.permission);
    const auto closed =
        std::ranges::find(state.closed_waits, e.permission, &ClosedWait::permission);
    if (closed == state.closed_waits.end()) return;
    closed->outcome = e.outcome;
    closed->option_id = e.option_id;
    closed->option_name = e.option_name;
    closed->by = e.by;
  }
  void apply(const TokenMinted& e) const {
    state.waits[e.token] = Wait{e.token,      e.secret_hash, e.wait,   origin().run,
                                e.permission, e.expires,     event.at, state.head};
  }
  void apply(const TokenConsumed& e) const { close_token(e.token, TokenStatus::consumed, e.by); }
  void apply(const TokenRevoked& e) const { close_token(e.token, TokenStatus::revoked, ""); }
  void apply(const TokenExpired& e) const { close_token(e.token, TokenStatus::expired, ""); }

  void apply(const QueueAdded& e) const {
    QueuedPrompt item{e.message, e.run, e.prompt, e.key, e.by};
    if (e.steer) {
      item.steering = true;
      // After prompts that were steered earlier.
      const auto at = std::ranges::find_if_not(state.queue, &QueuedPrompt::steering);
      state.queue.insert(at, std::move(item));
    } else if (e.front) {
      state.queue.push_front(std::move(item));
    } else {
      state.queue.push_back(std::move(item));
    }
  }
  void apply(const QueueEdited& e) const {
    const auto at = std::ranges::find(state.queue, e.message, &QueuedPrompt::message);
    if (at == state.queue.end()) return;
    at->prompt = e.prompt;
    at->steering = false;  // the agent may receive the old text
  }
  void apply(const QueueRemoved& e) const { take_from_queue(e.message); }
  void apply(const QueueDelivered& e) const { take_from_queue(e.message); }
  void apply(const QueueReleased&) const { hold_queue(false); }
  void apply(const QueueKept& e) const {
    const auto at = std::ranges::find(state.queue, e.message, &QueuedPrompt::message);
    if (at != state.queue.end()) at->steering = false;
  }

  void take_from_queue(MessageId message) const {
    std::erase_if(state.queue, [&](const QueuedPrompt& item) { return item.message == message; });
    refresh_held();
  }

  void apply(const RepairClosedMessage&) const { state.message_open = false; }
  void apply(const RepairClosedTool& e) const { state.open_tools.erase(e.tool_call_id); }
  void apply(const RepairTruncated&) const {}
  void apply(const StatusDerived& e) const { state.status = e.status; }
  void apply(const UnknownEvent&) const {}
};

}  // namespace

State evolve(State state, const Event& event) {
  state.head += 1;
  state.updated = event.at;
  const Fold fold{state, event};
  visit([&](const auto& body) { fold.apply(body); }, event.body);
  return state;
}

}  // namespace perdure
