// A decision under construction. Each event is folded as it is added, so later steps of the same
// decision see the earlier ones. Used by the transition families only.
#pragma once

#include <string>
#include <utility>

#include "core/session/machine.h"

namespace perdure {

struct Draft {
  Draft(const State& before, const Input& from)
      : state(before), input(from), ids(from.now.wall, from.id_seed) {}

  State state;
  const Input& input;
  IdSource ids;
  Decision decision;

  // Adds an event; CHECKs that it is legal here (RUN1, RUN3, PROC2 …).
  void add(EventBody body, Origin origin = {});
  // Adds an effect. It belongs to the events of this decision, so at least one event must exist.
  void effect(Effect effect);
  // Adds a numbered command to the current execution.
  void command(CommandBody body);
  std::uint64_t next_effect_number() const;

  Origin exec_origin() const { return {.exec = state.exec.id, .gen = state.exec.gen}; }
  Origin run_origin() const;
};

using Outcome = Result<Decision>;

// The current execution may still have living processes.
inline bool execution_may_live(const State& state) {
  return state.exec.status != ExecutorStatus::none && !state.exec.gone;
}
// The agent can take a prompt.
inline bool agent_ready(const State& state) {
  return execution_may_live(state) && !state.exec.stop_requested &&
         state.exec.agent == AgentPhase::ready;
}

// lifecycle.cc
Outcome on(Draft& draft, const CreateSession& command);
Outcome on(Draft& draft, const RenameSession& command);
Outcome on(Draft& draft, const ConfigureSession& command);
Outcome on(Draft& draft, const StopSession& command);
Outcome on(Draft& draft, const ArchiveSession& command);
Outcome on(Draft& draft, const UnarchiveSession& command);
Outcome on(Draft& draft, const RepairSession& command);
Outcome on(Draft& draft, const NameFork& command);
Outcome on(Draft& draft, const DaemonBooted& input);

// prompts.cc
inline bool is_empty(const Prompt& prompt) {
  return prompt.text.empty() && prompt.blocks.text.empty();
}
// Whether the session may take this prompt.
Result<> check_prompt(const State& state, const Prompt& prompt);
Outcome on(Draft& draft, const SubmitPrompt& command);
Outcome on(Draft& draft, const EditQueued& command);
Outcome on(Draft& draft, const RemoveQueued& command);
Outcome on(Draft& draft, const ReleaseQueue& command);
Outcome on(Draft& draft, const InjectionReady& input);
void on_frame(Draft& draft, const Frame& frame, const FrameSteerTaken& body);
// Prompts steered into this run that the agent had not taken when it ended the run wait for a turn
// of their own.
void keep_untaken(Draft& draft, RunId ended);
// Counts prompts on their way into a turn as delivered.
void give_up_steering(Draft& draft);
// Starts the next prompt that may start, or the step that must precede it.
void deliver_next(Draft& draft);
// Whether a queued prompt may start now.
bool has_next(Draft& draft);
// Accepts a prompt for a session that has no open run.
void accept_when_idle(Draft& draft, const Prompt& prompt, const std::string& key);

// runs.cc
Outcome on(Draft& draft, const CancelRun& command);
void on_frame(Draft& draft, const Frame& frame, const FrameRunFinished& body);
void on_frame(Draft& draft, const Frame& frame, const FrameRunFailed& body);
void on_frame(Draft& draft, const Frame& frame, const FrameRunStalled& body);
// Accepts a cancel of the open run: withdraws its questions and notifies the agent.
void request_cancel(Draft& draft);
// Closes what the open run left open, then ends the run with this terminal event, which arrived
// with the given frame (0: no frame).
void end_run(Draft& draft, EventBody terminal, FrameNo frame = 0);
// Ends the open run because its agent or its agentctl is gone.
void interrupt_run(Draft& draft, InterruptReason reason);

// waits.cc
Outcome on(Draft& draft, const AnswerPermission& command);
Outcome on(Draft& draft, const AnswerWait& command);
Outcome on(Draft& draft, const WaitDeadlinePassed& input);
void on_frame(Draft& draft, const Frame& frame, const FramePermission& body);
void on_frame(Draft& draft, const Frame& frame, const FramePermissionGone& body);
// Closes every open wait that matches: all of them, or those of one run.
struct CloseWaits {
  RunId run;  // null: all
  PermissionOutcome outcome = PermissionOutcome::cancelled;
  std::string reason;
  bool tell_agent = false;
};
void close_waits(Draft& draft, const CloseWaits& how);

// limits.cc
Outcome on(Draft& draft, const LimitResetPassed& input);
// Called after the end of a run that failed: the session waits for a limit whose reset is known.
struct LimitMet {
  RunId run;
  Timestamp reset_at;
  bool tools_open = false;
};
void wait_for_reset(Draft& draft, const LimitMet& met);

// executor.cc
Outcome on(Draft& draft, const ExecutorAttached& input);
Outcome on(Draft& draft, const ExecutorGone& input);
Outcome on(Draft& draft, const StartWorkspace& command);
Outcome on(Draft& draft, const DeclareDead& command);
Outcome on(Draft& draft, const ReadyDeadlinePassed& input);
void on_frame(Draft& draft, const Frame& frame, const FrameExecutorReady& body);
void on_frame(Draft& draft, const Frame& frame, const FrameExecutorFailed& body);
void on_frame(Draft& draft, const Frame& frame, const FrameAgentExited& body);
// Brings the agent up as the request specifies, from any state of the execution.
void ensure_agent(Draft& draft, const ResumeRequested& order);

// ladder.cc
Outcome on(Draft& draft, const ResumeSession& command);
void on_frame(Draft& draft, const Frame& frame, const FrameAgentStarted& body);
void on_frame(Draft& draft, const Frame& frame, const FrameSessionOpened& body);
void on_frame(Draft& draft, const Frame& frame, const FrameOpenFailed& body);
void on_frame(Draft& draft, const Frame& frame, const FrameContextChanged& body);
// The best rung not yet tried in this ladder. A function of the state alone.
OpenMethod next_method(const State& state);
// The instruction shown when the session's folder is missing (C13).
std::string workspace_missing_text(const State& state);
// Ends the ladder without an agent session.
void fail_resume(Draft& draft, OpenFailure failure, std::string message);

// conversation.cc: the frames that become events unchanged.
Origin frame_origin(const Draft& draft, const Frame& frame);
template <class Body>
void on_frame(Draft& draft, const Frame& frame, const Body& body) {
  draft.add(body, frame_origin(draft, frame));
}

}  // namespace perdure
