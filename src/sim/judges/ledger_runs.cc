// Runs, the queue and the conversation: one end each, in order, nothing after the end.
#include <algorithm>

#include "base/limits.h"
#include "sim/judges/ledger.h"

namespace perdure::sim {

void Ledger::accept(MessageId message, const std::string& key) {
  expect(!archived_ || copying_, "ACK1", "an archived session accepts a prompt");
  accepted_.insert(message);
  if (key.empty()) return;
  const auto [at, is_new] = keys_.emplace(key, message);
  expect(is_new || at->second == message, "ACK2", "two prompts were accepted under one key");
}

void Ledger::hold_queue(bool held) {
  for (Queued& item : queue_) item.held = held;
}

void Ledger::end_steering() {
  for (Queued& item : queue_) item.steering = false;
}

bool Ledger::wants_to_run() const { return !std::ranges::all_of(queue_, &Queued::held); }

void Ledger::see(const Event&, const QueueAdded& e) {
  if (e.by == "auto_continue") {
    expect(owed_.must_continue || copying_, "C11", "auto_continue where it is not allowed");
    owed_.must_continue = false;
    expect(e.front, "C11", "auto_continue behind others");
  } else if (e.by == "continue_at_reset") {
    expect(owed_.must_go_on || copying_, "P13", "it goes on and no limit's end says so");
    owed_.must_go_on = false;
    expect(e.front, "P13", "what goes on by itself stands behind others");
  } else {
    accept(e.message, e.key);
    if (!copying_) see_placement(e);
  }
  expect(std::ranges::find(queue_, e.message, &Queued::message) == queue_.end(), "ACK2",
         "queued twice");
  if (e.steer) {
    see_steer(e);
    queue_.insert(std::ranges::find_if_not(queue_, &Queued::steering),
                  {.message = e.message, .text = e.prompt.text, .steering = true, .by = e.by});
  } else if (e.front) {
    queue_.push_front({.message = e.message, .text = e.prompt.text, .by = e.by});
  } else {
    queue_.push_back({.message = e.message, .text = e.prompt.text, .by = e.by});
  }
}

// C23: it stays in the queue until an agentctl reports that the agent has it.
void Ledger::see_steer(const QueueAdded& e) {
  if (copying_) return;
  expect(run_ && !run_->cancelling && active_tokens_.empty(), "C23", "steered into no open turn");
  expect(agent_.steer && exec_ready_.tells_steered, "C23", "steered into an agent that cannot");
  owed_.steers.push_back(e.message);
}

// C23: where a prompt is placed, and whether it ends the open run.
void Ledger::see_placement(const QueueAdded& e) {
  const std::optional<PromptWhen> when = facts_.when_of(e.key);
  if (!when) return;
  const bool waiting = !active_tokens_.empty();
  const bool ends =
      run_ && (*when == PromptWhen::interrupt || (*when == PromptWhen::automatic && waiting));
  const bool front = ends || (run_ && *when == PromptWhen::steer);
  expect(e.front == front, "C23", "a prompt was put at the wrong end of the queue");
  const bool could_steer =
      run_ && agent_.steer && exec_ready_.tells_steered && !waiting && !run_->cancelling;
  expect(e.steer == (*when == PromptWhen::steer && could_steer), "C23",
         "a prompt could be steered and was only queued, or the other way round");
  owed_.must_cancel = ends && !run_->cancelling;
}

void Ledger::see(const Event&, const QueueEdited& e) {
  const auto at = std::ranges::find(queue_, e.message, &Queued::message);
  if (!expect(at != queue_.end(), "ACK4", "an edit of a prompt that is not queued")) return;
  at->text = e.prompt.text;
  at->steering = false;
}

void Ledger::see(const Event&, const QueueRemoved& e) {
  const auto gone = std::erase_if(queue_, [&](const Queued& q) { return q.message == e.message; });
  expect(gone == 1, "ACK4", "a prompt is taken out of the queue that is not in it");
}

void Ledger::see(const Event&, const QueueDelivered& e) {
  const auto next = std::ranges::find_if(queue_, [](const Queued& item) { return !item.held; });
  const auto at = std::ranges::find(queue_, e.message, &Queued::message);
  const bool is_next = next != queue_.end() && next->message == e.message;
  const bool steering = at != queue_.end() && at->steering;
  expect(is_next || steering, "ACK4", "delivered out of order, or while held");
  delivered_ = {e.message, is_next, steering, at == queue_.end() ? "" : at->by};
  std::erase_if(queue_, [&](const Queued& item) { return item.message == e.message; });
}

void Ledger::see(const Event&, const QueueReleased&) { hold_queue(false); }

void Ledger::see(const Event&, const QueueKept& e) {
  const auto at = std::ranges::find(queue_, e.message, &Queued::message);
  if (!expect(at != queue_.end() && at->steering, "C23", "kept, and was not on its way")) return;
  expect(!run_ || copying_, "C23", "kept while its turn may still get it");
  at->steering = false;
}

// Q1: everything that could begin has begun in the same decision. With several daemons, one that
// takes a session back waits for the link to its own earlier execution.
void Ledger::see_next_begun() {
  const auto next = std::ranges::find_if(queue_, [](const Queued& item) { return !item.held; });
  const bool is_free = !run_ && !archived_ && next != queue_.end() && !next->steering;
  const bool is_linked = exec_boot_ == facts_.boot() && !facts_.are_several();
  const bool can_begin = agent_ready_ && is_linked && !inject_armed_;
  expect(!is_free || !can_begin, "Q1", "a prompt waits, and nothing is in its way");
  const bool is_coming = agent_ready_ || resume_ || (may_live() && stop_requested_);
  expect(!is_free || is_coming, "Q1", "a prompt waits, and nobody brings an agent");
}

void Ledger::see(const Event& event, const RunStarted& e) {
  const RunId id = event.origin.run;
  expect(!run_, "RUN3", "a second run is open");
  expect(id && !ended_.contains(id), "RUN1", "a run starts again after its end");
  expect(!archived_ || copying_, "RUN3", "a run starts in an archived session");
  expect(agent_ready_ || copying_, "RUN3", "a run starts without an agent that is ready");
  expect(active_tokens_.empty() || copying_, "O17",
         "a run starts beside a question from before it");
  const std::string by = delivered_ ? delivered_->by : "";
  const bool by_itself = by == "auto_continue" || by == "continue_at_reset";
  expect(e.trigger == (by_itself ? by : "prompt") || copying_, "C11",
         "a run says that it was begun by " + e.trigger);
  auto_continued_ = e.trigger == "auto_continue";
  if (delivered_) {
    expect((delivered_->message == e.message && delivered_->is_next) || copying_, "ACK4",
           "another prompt started than was delivered");
    expect(!delivered_->steering || copying_, "RUN4", "begun while its turn may have got it");
    delivered_.reset();
  } else {
    expect(!wants_to_run(), "ACK4", "a prompt overtakes one that was accepted before");
  }
  const auto held = static_cast<std::uint64_t>(std::ranges::count_if(queue_, &Queued::held));
  expect(e.ahead_of == held, "ACK4", "run.started hides whom it overtook");
  run_ = OpenRun{.id = id,
                 .message = e.message,
                 .needs_injection = inject_armed_,
                 .auto_continued = e.trigger == "auto_continue",
                 .boot = e.boot};
  limit_.reset();
  if (e.trigger == "prompt") limit_series_.reset();
  last_end_.clear();
  runs_ += 1;
  stop_reason_.clear();
  last_boot_ = e.boot;
  if (!copying_) owed_.prompts.push_back(id);
}

void Ledger::see(const Event&, const RunWaiting& e) {
  const auto at = tokens_.find(e.token);
  expect(run_ && at != tokens_.end() && at->second.status == TokenStatus::active, "TOK3",
         "run.waiting without an open token");
  std::erase(owed_.waitings, e.token);
}

void Ledger::see(const Event&, const RunResumed& e) {
  const auto at = tokens_.find(e.token);
  expect(run_ && at != tokens_.end() && at->second.status != TokenStatus::active, "TOK3",
         "run.resumed while its token is open");
  std::erase(owed_.resumes, e.token);
}

void Ledger::see(const Event&, const RunCancelling&) {
  if (!expect(run_.has_value(), "RUN5", "a cancel without a run")) return;
  expect(!run_->cancelling, "RUN5", "a run is cancelled twice");
  run_->cancelling = true;
  owed_.must_cancel = false;
  if (!copying_) owed_.cancels.push_back(run_->id);
}

void Ledger::see(const Event& event, const RunStalled&) {
  expect(run_ && event.origin.run == run_->id, "RUN2", "a run that is not open is called stalled");
  if (!copying_) owed_.notes.push_back({NotifyWhat::stalled, event.origin.run});
}

void Ledger::end_run(const Event& event, const End& end) {
  if (!expect(run_ && event.origin.run == run_->id, "RUN1", "an end of a run that is not open"))
    return;
  expect(run_->tools.empty(), "RUN2", "a run ends with an open tool call");
  expect(!end.interrupted || !run_->message_open, "RUN2", "a run ends within a message");
  for (const WaitTokenId token : active_tokens_) {
    expect(tokens_.at(token).run != run_->id, "TOK3", "a run ends with an open question");
  }
  ended_.insert(run_->id);
  owed_.resumes.clear();
  owed_.wait_was_open = false;  // the batch's next run has its own
  owed_.tools_were_open = run_->tool_repaired;
  last_run_ = EndedRun{.id = run_->id,
                       .end = end.end,
                       .interrupted = end.why,
                       .code = end.code,
                       .message = end.message,
                       .ended = event.at};
  run_.reset();
  if (event.origin.frame != 0) end_steering();
  if (end.holds_queue) hold_queue(true);
  if (!copying_) owed_.notes.push_back({end.note, event.origin.run});
}

void Ledger::see(const Event& event, const RunCompleted& e) {
  const Frame* frame = frame_of(event.origin);
  const auto* said = frame ? get_if<FrameRunFinished>(&frame->body) : nullptr;
  expect(copying_ || (said && said->run == event.origin.run && said->stop_reason == e.stop_reason &&
                      e.stop_reason != "cancelled"),
         "RUN1", "run.completed without the agent's word");
  turns_ += 1;
  limit_series_.reset();
  last_end_.clear();
  end_run(event, {.note = NotifyWhat::finished, .end = RunEnd::completed});
}

void Ledger::see(const Event& event, const RunFailed& e) {
  const Frame* frame = frame_of(event.origin);
  const auto* said = frame ? get_if<FrameRunFailed>(&frame->body) : nullptr;
  const bool exited = e.code == "agent_exited" && run_ && run_->agent_exited;
  expect(copying_ || exited || (said && said->run == event.origin.run), "RUN1",
         "run.failed without a cause");
  expect(!run_ || !run_->cancelling, "RUN5", "a cancelled run is called failed");
  if (said && !copying_ && e.code == "rate_limited" && e.reset_at) {
    owed_.must_wait = e.reset_at->ms - event.at.ms <= limit_wait_ms_max;
  }
  last_end_.clear();
  end_run(event, {.note = NotifyWhat::failed,
                  .holds_queue = true,
                  .end = RunEnd::failed,
                  .code = e.code,
                  .message = e.message});
}

void Ledger::see(const Event& event, const RunCancelled& e) {
  const bool cancelling = run_ && run_->cancelling;
  const Frame* frame = frame_of(event.origin);
  const auto* said = frame ? get_if<FrameRunFinished>(&frame->body) : nullptr;
  const bool by_agent = said && said->run == event.origin.run && said->stop_reason == "cancelled";
  expect(copying_ || cancelling || e.frames_pending || by_agent, "RUN1",
         "run.cancelled and nobody asked for it");
  last_end_.clear();
  end_run(event, {.note = NotifyWhat::finished, .end = RunEnd::cancelled});
  if (e.frames_pending && may_live()) {
    ask_to_stop();
    owed_.stops = 1;
  }
}

void Ledger::see(const Event& event, const RunInterrupted& e) {
  expect(!run_ || !run_->cancelling || copying_, "RUN5", "a cancelled run is called interrupted");
  const bool by_death = e.reason == InterruptReason::process_exit ||
                        e.reason == InterruptReason::process_restart ||
                        e.reason == InterruptReason::wait_lost;
  if (by_death && !copying_ && run_) {
    const bool is_exit = run_->agent_exited || run_->boot == facts_.boot();
    const bool is_called_exit = e.reason == InterruptReason::process_exit;
    expect(e.reason == InterruptReason::wait_lost || is_exit == is_called_exit, "O12",
           "an exit is called a restart, or a restart an exit");
    expect((e.reason == InterruptReason::wait_lost) == owed_.wait_was_open, "C15",
           "a question was lost with its run, or was not");
    owed_.death_claimed = !run_->agent_exited;
    owed_.must_continue = e.reason != InterruptReason::wait_lost && policy_.auto_continue &&
                          !run_->auto_continued && !run_->tool_repaired;
  }
  if (e.reason == InterruptReason::wait_timeout && run_ && !copying_) {
    owed_.expired = {};
    owed_.cancels.push_back(run_->id);  // its agent waits for an answer
  }
  const bool waited =
      e.reason == InterruptReason::wait_timeout || e.reason == InterruptReason::wait_lost;
  last_end_ = e.reason == InterruptReason::forked ? ""
              : waited                            ? "interrupted_waiting"
                                                  : "interrupted_startup";
  end_run(event, {.note = NotifyWhat::interrupted,
                  .holds_queue = true,
                  .interrupted = true,
                  .end = RunEnd::interrupted,
                  .why = e.reason});
}

void Ledger::see(const Event& event, const MessageUser& e) {
  if (!e.steered) {
    if (!expect(run_ && run_->message == e.message && !run_->has_message, "RUN3",
                "a message without its run")) {
      return;
    }
    expect(!run_->needs_injection || run_->injected, "C12", "history was due and did not go along");
    run_->has_message = true;
    last_prompt_ = e.prompt.text;
    prompts_ += 1;
    history_prompts_ += 1;
  }
  if (e.steered) {
    const Frame* frame = frame_of(event.origin);
    const auto* taken = frame ? get_if<FrameSteerTaken>(&frame->body) : nullptr;
    // After a person declares an execution dead, its frames are not read.
    owed_.must_be_declared = !copying_ && event.origin.frame == 0;
    expect(copying_ || owed_.must_be_declared || (taken && taken->message == e.message), "C23",
           "told as steered, and no agentctl said that it was");
    expect(copying_ || (delivered_ && delivered_->message == e.message && delivered_->steering),
           "C23", "steered, and was not on its way");
    delivered_.reset();
    return;  // accepted when it was queued; the session may be archived since
  }
  if (e.by != "auto_continue" && e.by != "continue_at_reset") accept(e.message, e.key);
}

void Ledger::see(const Event& event, const MessageAgent& e) {
  if (!e.message.empty()) last_agent_message_ = e.message;
  if (run_ && event.origin.run) run_->message_open = true;
}

void Ledger::see(const Event& event, const MessageThought&) {
  if (run_ && event.origin.run) run_->message_open = true;
}

void Ledger::note_tool(const Origin& origin, const std::string& id, const std::string& status) {
  if (!run_ || origin.run != run_->id) return;
  const bool over = status == "completed" || status == "failed" || status == "cancelled";
  if (over) {
    run_->tools.erase(id);
  } else {
    run_->tools.insert(id);
  }
}

void Ledger::see(const Event& event, const ToolCall& e) {
  if (run_ && event.origin.run) run_->message_open = false;  // the previous message is complete
  note_tool(event.origin, e.tool_call_id, e.status);
}

void Ledger::see(const Event& event, const ToolUpdate& e) {
  if (e.status.empty() && run_ && !run_->tools.contains(e.tool_call_id)) return;
  note_tool(event.origin, e.tool_call_id, e.status);
}

void Ledger::see(const Event&, const RepairClosedMessage&) {
  expect(run_ && run_->message_open, "RUN2", "a repair of a message that is not open");
  if (run_) run_->message_open = false;
}

void Ledger::see(const Event&, const RepairClosedTool& e) {
  expect(run_ && run_->tools.erase(e.tool_call_id) == 1, "RUN2",
         "a repair of a tool that is not open");
  if (run_) run_->tool_repaired = true;
}

}  // namespace perdure::sim
