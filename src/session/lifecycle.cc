// A session as a whole: made, named, configured, stopped, archived, repaired.
#include "base/limits.h"
#include "base/text.h"
#include "session/draft.h"
#include "session/repair.h"

namespace perdure {
namespace {

Decision nothing_to_do(Draft& draft) {
  draft.decision.reply.nothing_to_do = true;
  return std::move(draft.decision);
}

// Ends whatever lives. The agent's last frames come after its run has ended, as late ones.
void stop_everything(Draft& draft, const std::string& reason) {
  close_waits(draft, {.outcome = PermissionOutcome::cancelled, .reason = "stopped"});
  if (draft.state.run) {
    end_run(draft, RunCancelled{.by = draft.input.by, .frames_pending = true});
  }
  draft.add(SessionStopped{.reason = reason, .by = draft.input.by});
  if (execution_may_live(draft.state)) {
    draft.effect(StopExecutor{draft.state.exec.id, draft.state.exec.gen});
  }
  draft.decision.essential = true;
}

bool something_lives(const State& state) {
  return state.run || execution_may_live(state) || state.resume || !state.waits.empty() ||
         state.limit;
}

// Stopped, or on its way there: nothing is left to end, and the reason is on record.
bool stops_already(const State& state) {
  const bool stopping =
      state.exec.stop_requested && !state.run && !state.resume && state.waits.empty();
  return (stopping || !something_lives(state)) && !state.stop_reason.empty();
}

// What waits to be observed is kept in the state: it has to fit into it.
Result<> check_options(const State& state, const std::map<std::string, std::string>& options) {
  std::size_t added = 0;
  for (const auto& [name, value] : options) {
    if (!option_fits(name, value)) {
      return fail(Code::limit_reached, "the name or value of an option is too long");
    }
    added += state.requested.contains(name) ? 0 : 1;
  }
  if (added == 0 || state.requested.size() + added <= options_kept_max) return {};
  return fail(Code::limit_reached,
              "more than " + std::to_string(options_kept_max) +
                  " options would wait for the agent to show that it knows them");
}

}  // namespace

Outcome on(Draft& draft, const CreateSession& command) {
  if (draft.state.head != 0) return fail(Code::conflict, "the session exists already");
  if (!command.what.session) return fail(Code::invalid_argument, "a session needs an id");
  if (command.what.agent.name.empty())
    return fail(Code::invalid_argument, "a session needs an agent");
  if (command.what.workspace.cwd.empty())
    return fail(Code::invalid_argument, "a session needs a folder");
  TRY_VOID(check_given("mcp_servers", command.what.mcp_servers));
  const bool prompted = command.prompt && !is_empty(*command.prompt);  // K26: empty: boots idle
  if (prompted) TRY_VOID(check_prompt(draft.state, *command.prompt));
  SessionCreated what = command.what;
  what.title = utf8_prefix(what.title, title_bytes_max);
  what.by = draft.input.by;
  what.parent = session_behind(draft.input.by);
  draft.add(std::move(what));
  draft.decision.reply.seq = draft.state.head;
  if (prompted) accept_when_idle(draft, *command.prompt, command.key);
  draft.decision.reply.session = command.what.session;
  return std::move(draft.decision);
}

Outcome on(Draft& draft, const RenameSession& command) {
  const std::string title(utf8_prefix(command.title, title_bytes_max));
  if (title == draft.state.title) return nothing_to_do(draft);
  draft.add(SessionRenamed{title});
  draft.decision.reply.seq = draft.state.head;
  return std::move(draft.decision);
}

Outcome on(Draft& draft, const ConfigureSession& command) {
  const SessionConfigured& what = command.what;
  if (what == SessionConfigured{}) return nothing_to_do(draft);
  if (what.workspace && execution_may_live(draft.state)) {
    return fail(Code::conflict, "stop the session before you give it another folder");
  }
  TRY_VOID(check_given("mcp_servers", what.mcp_servers));
  TRY_VOID(check_options(draft.state, what.options));
  draft.add(what);
  draft.decision.reply.seq = draft.state.head;
  // While the agent's session opens, its options are on their way already: these follow them.
  const bool opening = execution_may_live(draft.state) && !draft.state.exec.stop_requested &&
                       draft.state.exec.agent == AgentPhase::opening;
  if (!what.options.empty() && (opening || agent_ready(draft.state))) {
    draft.command(SetOptions{what.options});
  }
  return std::move(draft.decision);
}

Outcome on(Draft& draft, const StopSession& command) {
  if (stops_already(draft.state)) return nothing_to_do(draft);
  stop_everything(draft, command.reason.empty() ? "stopped_by_user" : command.reason);
  draft.decision.reply.seq = draft.state.head;
  return std::move(draft.decision);
}

Outcome on(Draft& draft, const ArchiveSession&) {
  if (draft.state.archived) return nothing_to_do(draft);
  if (something_lives(draft.state)) stop_everything(draft, "stopped_by_user");
  draft.add(SessionArchived{draft.input.by});
  draft.decision.reply.seq = draft.state.head;
  return std::move(draft.decision);
}

Outcome on(Draft& draft, const UnarchiveSession&) {
  if (!draft.state.archived) return nothing_to_do(draft);
  draft.add(SessionUnarchived{draft.input.by});
  draft.decision.reply.seq = draft.state.head;
  return std::move(draft.decision);
}

Outcome on(Draft& draft, const RepairSession&) {
  // An open run with a living agent is not broken: its end will close what is open.
  if (draft.state.run && execution_may_live(draft.state)) {
    return fail(Code::conflict, "the session is running; there is nothing to repair");
  }
  if (draft.state.run) {
    interrupt_run(draft, InterruptReason::process_restart);
  } else {
    const std::vector<EventBody> plan = plan_repair(draft.state);
    if (plan.empty()) return nothing_to_do(draft);
    for (const EventBody& repair : plan) draft.add(repair);
  }
  draft.decision.essential = true;
  draft.decision.reply.seq = draft.state.head;
  return std::move(draft.decision);
}

Outcome on(Draft& draft, const NameFork& command) {
  if (!command.to || command.to == draft.state.id) {
    return fail(Code::invalid_argument, "a fork needs an id of its own");
  }
  draft.decision.reply.session = command.to;
  return std::move(draft.decision);
}

// O12, O37: a run of the format before has no execution whose end would end it. What has one is
// ended by that, with proof (C19).
Outcome on(Draft& draft, const DaemonBooted&) {
  if (draft.state.run && draft.state.exec.status == ExecutorStatus::none) {
    interrupt_run(draft, InterruptReason::process_restart);
  }
  return std::move(draft.decision);
}

}  // namespace perdure
