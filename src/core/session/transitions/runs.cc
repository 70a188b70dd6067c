// Runs: at most one open, exactly one end each (G4). Records before its end close what a run left
// open, so that no event of a run follows it.
#include <algorithm>

#include "base/check.h"
#include "base/probe.h"
#include "core/session/transitions/draft.h"
#include "core/session/transitions/repair.h"

namespace perdure {
namespace {

constexpr const char* continue_text = "Continue from where you were interrupted.";

bool concerns_open_run(const Draft& draft, RunId run) {
  return draft.state.run && draft.state.run->id == run;
}

bool is_interrupted(const EventBody& terminal) {
  return holds_alternative<RunInterrupted>(terminal);
}

// All that is left to record are the prompts that it did not take.
void end_late(Draft& draft, RunId run) {
  keep_untaken(draft, run);
  if (draft.decision.events.empty()) draft.decision.dropped = 1;
}

}  // namespace

Outcome on(Draft& draft, const CancelRun& command) {
  draft.decision.essential = true;
  if (!draft.state.run || (draft.state.run->cancelling && !command.force)) {
    draft.decision.reply.nothing_to_do = true;
    return std::move(draft.decision);
  }
  draft.decision.reply.run = draft.state.run->id;
  if (command.force) {
    SIM_PROBE("cancel forced ahead of the frames");
    end_run(draft, RunCancelled{.by = draft.input.by, .frames_pending = true});
    draft.effect(StopExecutor{draft.state.exec.id, draft.state.exec.gen});
  } else {
    request_cancel(draft);
  }
  draft.decision.reply.seq = draft.state.head;
  return std::move(draft.decision);
}

void request_cancel(Draft& draft) {
  CHECK(draft.state.run.has_value());
  if (draft.state.run->cancelling) return;
  draft.add(RunCancelling{draft.input.by}, draft.run_origin());
  // ACP: open questions of a cancelled turn are answered `cancelled`, never allowed (G7).
  close_waits(draft, {.run = draft.state.run->id,
                      .outcome = PermissionOutcome::cancelled,
                      .reason = "cancelled",
                      .tell_agent = true});
  draft.command(CancelPrompt{draft.state.run->id});
}

void end_run(Draft& draft, EventBody terminal, FrameNo frame) {
  const bool lost = is_interrupted(terminal);
  close_waits(draft, {.run = draft.state.run->id,
                      .outcome = lost ? PermissionOutcome::expired : PermissionOutcome::cancelled,
                      .reason = lost ? "interrupted" : "run_ended",
                      .tell_agent = !lost});
  for (const EventBody& repair : plan_repair(draft.state)) {
    // A message that streamed to a regular end needs no repair record.
    if (!lost && holds_alternative<RepairClosedMessage>(repair)) continue;
    draft.add(repair, draft.run_origin());
  }
  const RunId run = draft.state.run->id;
  const NotifyWhat what = holds_alternative<RunFailed>(terminal) ? NotifyWhat::failed
                          : lost                                 ? NotifyWhat::interrupted
                                                                 : NotifyWhat::finished;
  Origin origin = draft.run_origin();
  origin.frame = frame;
  draft.add(std::move(terminal), origin);
  draft.effect(Notify{what, run});
  draft.decision.essential = true;
}

void interrupt_run(Draft& draft, InterruptReason reason) {
  if (draft.state.run->cancelling) {
    SIM_PROBE("cancelled run ends with its agent");
    end_run(draft, RunCancelled{.by = draft.state.run->cancelled_by});
    return;
  }
  const bool was_waiting = std::ranges::any_of(draft.state.waits, [&](const auto& entry) {
    return entry.second.run == draft.state.run->id;
  });
  // An open tool call may have taken effect: never continue automatically after it (C11).
  const bool may_continue = draft.state.policy.auto_continue && !draft.state.auto_continued &&
                            draft.state.open_tools.empty() && !was_waiting;
  end_run(draft, RunInterrupted{was_waiting ? InterruptReason::wait_lost : reason});
  if (!may_continue) return;
  SIM_PROBE("auto_continue after an interruption");
  draft.add(QueueAdded{.message = draft.ids.next<MessageId>(),
                       .run = draft.ids.next<RunId>(),
                       .prompt = {.text = continue_text},
                       .by = "auto_continue",
                       .front = true});
}

void on_frame(Draft& draft, const Frame& frame, const FrameRunFinished& body) {
  if (!concerns_open_run(draft, body.run)) {
    SIM_PROBE("end of a run that has ended already");
    end_late(draft, body.run);
    return;
  }
  if (body.stop_reason == "cancelled") {
    const std::string by = draft.state.run->cancelling ? draft.state.run->cancelled_by : "agent";
    end_run(draft, RunCancelled{.by = by}, frame.number);
  } else {
    if (draft.state.run->cancelling) SIM_PROBE("cancel raced with the end of the turn");
    end_run(draft, RunCompleted{body.stop_reason}, frame.number);
  }
  deliver_next(draft);
}

void on_frame(Draft& draft, const Frame& frame, const FrameRunFailed& body) {
  if (!concerns_open_run(draft, body.run)) {
    end_late(draft, body.run);
    return;
  }
  if (draft.state.run->cancelling) {
    end_run(draft, RunCancelled{.by = draft.state.run->cancelled_by}, frame.number);
  } else {
    const bool tools_open = !draft.state.open_tools.empty();
    end_run(draft, body.failure, frame.number);
    if (body.failure.code == "rate_limited" && body.failure.reset_at) {
      wait_for_reset(draft, {body.run, *body.failure.reset_at, tools_open});
    }
  }
  deliver_next(draft);
}

void on_frame(Draft& draft, const Frame& frame, const FrameRunStalled& body) {
  if (!concerns_open_run(draft, body.run)) {
    draft.decision.dropped = 1;
    return;
  }
  SIM_PROBE("run said to be stalled");
  draft.add(RunStalled{body.quiet_ms}, frame_origin(draft, frame));
  draft.effect(Notify{NotifyWhat::stalled, body.run});
}

}  // namespace perdure
