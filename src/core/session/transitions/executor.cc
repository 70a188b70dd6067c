// Executions, one after the other. A new one starts only after the previous one is proved gone
// (PROC3), so every path that needs an agent goes through ensure_agent().
#include "base/check.h"
#include "base/limits.h"
#include "base/probe.h"
#include "base/text.h"
#include "core/session/transitions/draft.h"

namespace perdure {
namespace {

bool is_present(const State& state, ExecId exec, Gen gen) {
  return execution_may_live(state) && state.exec.id == exec && state.exec.gen == gen;
}

void start_executor(Draft& draft) {
  const ExecId exec = draft.ids.next<ExecId>();
  const Gen gen = draft.state.exec.gen + 1;
  draft.add(ExecutorStarting{draft.input.boot, draft.input.now.host_boot, draft.state.runtime,
                             Deadline::after(draft.input.now, executor_ready_ms), draft.input.home},
            {.exec = exec, .gen = gen});
  draft.effect(StartExecutor{exec, gen});
}

// A resume that this execution serves. One that waits for its end is served by the next (K18).
bool serves_resume(const State& state) { return state.resume && !state.exec.stop_requested; }

void fail_executor(Draft& draft, const std::string& code, const std::string& message) {
  const bool resume_fails = serves_resume(draft.state);
  draft.add(ExecutorError{code, message}, draft.exec_origin());
  draft.effect(StopExecutor{draft.state.exec.id, draft.state.exec.gen});
  if (resume_fails) fail_resume(draft, OpenFailure::startup, message);
}

// The last non-empty line: programs print their reason last.
std::string_view last_line(std::string_view text) {
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  const auto line = text.find_last_of('\n');
  if (line != std::string_view::npos) text.remove_prefix(line + 1);
  return utf8_prefix(text, 300);
}

// Why no session was opened, for readers of only the failure, not of the events before it.
std::string early_end_words(const AgentExited& exit) {
  std::string words = "the agent ended";
  if (exit.why == "not_started") {
    words = "the agent could not be started";
  } else if (exit.signal) {
    words += " by signal " + std::to_string(*exit.signal) + " before its session was open";
  } else if (exit.exit_code) {
    words += " with code " + std::to_string(*exit.exit_code) + " before its session was open";
  } else {
    words += " before its session was open";
  }
  const std::string_view reason = last_line(exit.stderr_tail);
  if (!reason.empty()) words.append(": ").append(reason);
  return words;
}

// The proved end of an execution. Closes what it left open, and continues if a request waits.
struct Burial {
  std::string proof;
  std::string code = {};  // the reason, if it has a code
};
void bury_execution(Draft& draft, const Burial& burial) {
  const bool asked_for = draft.state.exec.stop_requested;
  const bool declared = holds_alternative<DeclareDead>(draft.input.body);
  if (declared) give_up_steering(draft);
  if (draft.state.run) {
    const bool same_boot = draft.state.run->boot == draft.input.boot;
    interrupt_run(draft,
                  same_boot ? InterruptReason::process_exit : InterruptReason::process_restart);
  }
  close_waits(draft, {.outcome = PermissionOutcome::expired, .reason = "interrupted"});
  const char* const reason = declared ? "declared_dead" : asked_for ? "stopped" : "lost";
  const std::string code = asked_for ? "" : burial.code;
  draft.add(ExecutorStopped{reason, burial.proof, code}, draft.exec_origin());
  draft.decision.essential = true;
  if (draft.state.resume && !asked_for) {
    // A cause with its own code needs no prefix.
    const char* const before = "the agentctl ended before the agent was ready: ";
    draft.add(ResumeFailed{.failure = OpenFailure::transport,
                           .message = (code.empty() ? before : "") + burial.proof,
                           .attempts = draft.state.exec.attempts,
                           .at_boot = draft.state.resume->at_boot,
                           .code = code},
              draft.exec_origin());
  }
  if (draft.state.resume) {
    SIM_PROBE("new life after a stop with a waiting caller");
    start_executor(draft);
  } else {
    deliver_next(draft);
  }
}

}  // namespace

void ensure_agent(Draft& draft, const ResumeRequested& order) {
  if (draft.state.resume) return;  // in progress: the new request joins it (R11)
  draft.add(order);
  if (!execution_may_live(draft.state)) {
    start_executor(draft);
  } else if (draft.state.exec.stop_requested) {
    // bury_execution() continues. For a handover, the execution has to end here.
    draft.effect(StopExecutor{draft.state.exec.id, draft.state.exec.gen});
  } else if (draft.state.exec.agent == AgentPhase::starting) {
    draft.command(StartAgent{});
  }  // otherwise the executor is starting, and continues when ready
}

void on_frame(Draft& draft, const Frame& frame, const FrameExecutorReady& body) {
  if (draft.state.exec.status != ExecutorStatus::starting) {
    draft.decision.dropped = 1;
    return;
  }
  draft.add(body.ready, frame_origin(draft, frame));
  if (draft.state.exec.agent == AgentPhase::starting) draft.command(StartAgent{});
}

void on_frame(Draft& draft, const Frame&, const FrameExecutorFailed& body) {
  if (draft.state.exec.status != ExecutorStatus::starting) {
    draft.decision.dropped = 1;
    return;
  }
  fail_executor(draft, body.code, body.message);
}

Outcome on(Draft& draft, const ReadyDeadlinePassed& input) {
  const bool late = is_present(draft.state, input.exec, input.gen) &&
                    draft.state.exec.status == ExecutorStatus::starting;
  if (late) {
    SIM_PROBE("executor was not ready in time");
    fail_executor(draft, "executor_timeout", "the agentctl was not ready within 60 seconds");
  }
  return std::move(draft.decision);
}

void on_frame(Draft& draft, const Frame& frame, const FrameAgentExited& body) {
  draft.add(body.exit, frame_origin(draft, frame));
  if (draft.state.run) {
    const bool clean = body.exit.exit_code == 0 && !draft.state.run->cancelling;
    if (clean && draft.state.waits.empty()) {
      end_run(draft, RunFailed{"agent_exited", "the agent ended without an answer (exit code 0)"});
    } else {
      interrupt_run(draft, InterruptReason::process_exit);
    }
  }
  close_waits(draft, {.outcome = PermissionOutcome::expired, .reason = "interrupted"});
  if (serves_resume(draft.state)) {
    fail_resume(draft, OpenFailure::startup, early_end_words(body.exit));
  }
  deliver_next(draft);
}

Outcome on(Draft& draft, const ExecutorAttached& input) {
  if (!is_present(draft.state, input.exec, input.gen)) return std::move(draft.decision);
  // Prompts may wait even if this daemon started it: a daemon without a link to it took them.
  const bool is_waited_for = agent_ready(draft.state) && has_next(draft);
  if (draft.state.exec.boot != draft.input.boot || is_waited_for) {
    SIM_PROBE("execution reattached by a new daemon");
    draft.add(ExecutorReattached{draft.input.boot}, draft.exec_origin());
    if (agent_ready(draft.state)) deliver_next(draft);  // prompts that waited for it
  }
  return std::move(draft.decision);
}

Outcome on(Draft& draft, const ExecutorGone& input) {
  if (is_present(draft.state, input.exec, input.gen))
    bury_execution(draft, {input.proof, input.code});
  return std::move(draft.decision);
}

Outcome on(Draft& draft, const StartWorkspace& command) {
  if (draft.state.archived) {
    return fail(Code::session_archived, "the session is archived; unarchive it first");
  }
  if (execution_may_live(draft.state)) {
    draft.decision.reply.already_running = !draft.state.exec.stop_requested;
    if (draft.state.exec.stop_requested) {
      return fail(Code::conflict, "the session is stopping; try again when it has stopped");
    }
    return std::move(draft.decision);
  }
  if (!command.workspace_exists)
    return fail(Code::workspace_missing, workspace_missing_text(draft.state));
  start_executor(draft);
  draft.decision.reply.seq = draft.state.head;
  return std::move(draft.decision);
}

Outcome on(Draft& draft, const DeclareDead& command) {
  if (!execution_may_live(draft.state))
    return fail(Code::conflict, "the execution has ended already");
  if (command.reachable) return fail(Code::conflict, "the execution answers; stop it instead");
  bury_execution(draft, {"declared by " + draft.input.by});
  draft.decision.reply.seq = draft.state.head;
  return std::move(draft.decision);
}

}  // namespace perdure
