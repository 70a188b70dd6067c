// Turns run one at a time: agents differ in what they do with two (trap 6). A turn ends with the
// agent's answer or with its process, never by a guess.
#include <optional>
#include <string_view>
#include <utility>

#include "agentctl/supervisor/agent/agent.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/probe.h"
#include "core/acp/classify.h"
#include "core/wire/prompt_blocks.h"

namespace perdure {
namespace {

RunFailed run_failure(const acp::CallFailed& event, Timestamp now) {
  RunFailed failed{.code = "agent_error", .message = error_text(event.error)};
  if (event.failure == acp::Failure::auth) failed.code = "auth_needed";
  if (event.failure == acp::Failure::rate_limited) {
    failed.code = "rate_limited";
    failed.reset_at = event.reset_at;
    if (!failed.reset_at && event.retry_after_ms) {
      failed.reset_at = Timestamp{now.ms + *event.retry_after_ms};
    }
  }
  if (event.failure == acp::Failure::session_unknown) failed.code = "agent_session_lost";
  return failed;
}

}  // namespace

void Agent::act(const SendPrompt& command) {
  if (phase_ != Phase::open) {
    ports_.frames.write(command.run, FrameRunFailed{command.run,
                                                    {.code = "agent_not_ready",
                                                     .message = "the agent has no open session"}});
    return;
  }
  if (!has_room_for(command)) {
    ports_.frames.write(
        command.run,
        FrameRunFailed{command.run, {.code = "limit_reached", .message = "too many prompts wait"}});
    return;
  }
  if (turn_) SIM_PROBE("prompt waits for the turn before");
  waiting_.push_back(command);
  begin_next();
}

bool Agent::has_room_for(const SendPrompt& command) const {
  const auto bytes_of = [](const SendPrompt& one) {
    return one.prompt.text.size() + one.prompt.blocks.text.size() + one.context.size();
  };
  std::size_t bytes = bytes_of(command);
  for (const SendPrompt& one : waiting_) bytes += bytes_of(one);
  // The pipe to the agent limits a single prompt.
  return waiting_.empty() ||
         (waiting_.size() < queue_prompts_max && bytes <= agent_unread_bytes_max);
}

// Starts the first waiting prompt once nothing earlier is in progress.
void Agent::begin_next() {
  if (phase_ != Phase::open || turn_ || waiting_.empty() || commands_.is_ending()) return;
  if (const std::int64_t left_ms = replay_settles_ms(); left_ms > 0) {
    if (!held_since_ms_) held_since_ms_ = ports_.clock.now().since_boot.ms;
    return arm(hold_timer_, left_ms, &Agent::begin_next);
  }
  disarm(hold_timer_);
  held_since_ms_.reset();
  const SendPrompt next = std::move(waiting_.front());
  waiting_.pop_front();
  begin_turn(next);
}

// R4: how long to delay a prompt so that the rest of a load's replay is not taken for its answer.
// The limit for an agent that never goes quiet is the same as for an opening.
std::int64_t Agent::replay_settles_ms() const {
  if (!history_gate_) return 0;
  const std::int64_t now_ms = ports_.clock.now().since_boot.ms;
  if (held_since_ms_ && now_ms - *held_since_ms_ >= setup_.launch.times.open_quiet_ms) return 0;
  const std::int64_t settle_ms = setup_.launch.times.load_settle_ms;
  if (paused_) return settle_ms;  // we are not reading
  return late_replay_ms_ == 0 ? 0 : settle_ms - (now_ms - late_replay_ms_);
}

void Agent::begin_turn(const SendPrompt& command) {
  if (late_replay_ > 0) {
    write(AgentUpdate{own_note({"late_replay", "updates", std::exchange(late_replay_, 0)})});
  }
  commands_.begin(family());
  turn_ = Turn{.run = command.run};
  for (const std::string& clear : setup_.launch.clear_commands) {
    turn_->clears = turn_->clears || command.prompt.text == clear;
  }
  history_gate_ = false;
  last_sign_ms_ = ports_.clock.now().since_boot.ms;
  std::string out;
  client_->prompt(out, session_id_, prompt_blocks(command.prompt, command.context));
  send(out);
  if (const std::int64_t run_ms = setup_.launch.times.run_ms; run_ms > 0) {
    turn_->ends_ms = last_sign_ms_ + run_ms;
    arm(length_timer_, run_ms, &Agent::look_at_length);
  }
  if (setup_.launch.times.stall_ms > 0) {
    arm(stall_timer_, setup_.launch.times.stall_ms, &Agent::look_for_stall);
  }
}

// C23: report a steered prompt before giving it. An unreported one stays in the daemon's queue.
void Agent::act(const SteerPrompt& command) {
  if (!takes_steer(command.run)) {
    SIM_PROBE("steered prompt arrives after its turn");
    return;
  }
  // Write it to the spool first: if agentctl is killed in between, no steered prompt is unreported.
  // If the spool is full, the prompt is not given.
  if (!ports_.frames.write_now(command.run, FrameSteerTaken{command.message})) return;
  std::string out;
  turn_->prompts_open += client_->steer(out, session_id_, prompt_blocks(command.prompt, ""));
  send(out);
}

// A turn that is being ended takes no more prompts.
bool Agent::takes_steer(RunId run) const {
  return setup_.launch.steer && phase_ == Phase::open && turn_ && turn_->run == run &&
         !turn_->cancelling && !turn_->timed_out;
}

void Agent::act(const CancelPrompt& command) {
  for (auto prompt = waiting_.begin(); prompt != waiting_.end(); ++prompt) {
    if (prompt->run != command.run) continue;
    waiting_.erase(prompt);
    ports_.frames.write(command.run, FrameRunFinished{command.run, "cancelled"});
    return;
  }
  if (!turn_ || turn_->run != command.run || turn_->cancelling) return;  // N9: a different turn
  turn_->cancelling = true;
  std::string out;
  client_->cancel(out, session_id_);
  send(out);
  cancel_permissions();
  arm(ladder_timer_, setup_.launch.times.cancel_grace_ms, &Agent::cancel_ignored);
}

void Agent::cancel_permissions() {
  std::string out;
  for (const auto& [request, permission] : permissions_) {
    client_->answer_permission_cancelled(out, permission.id);
  }
  permissions_.clear();
  note_wait();
  send(out);
}

// X4: the agent ignores the cancel, so its process is ended.
void Agent::cancel_ignored() {
  SIM_PROBE("cancel ignored by the agent");
  end_by("the agent ignored a cancel");
}

void Agent::act(const AnswerRequest& command) {
  const auto found = permissions_.find(command.request);
  if (found == permissions_.end()) return;
  std::string out;
  if (command.option_id.empty()) {
    client_->answer_permission_cancelled(out, found->second.id);
  } else {
    client_->answer_permission(out, found->second.id, command.option_id);
  }
  permissions_.erase(found);
  note_wait();
  last_sign_ms_ = ports_.clock.now().since_boot.ms;  // until now it was waiting for us
  send(out);
}

void Agent::act(const SetOptions& command) {
  if (phase_ != Phase::open) return;
  const bool idle = setting_.empty();
  for (const auto& [name, value] : command.options) {
    if (setting_.size() < options_waiting_max) {
      setting_.push_back({name, value});
    } else {
      write(AgentUpdate{option_refused(too_many_requests())});
    }
  }
  if (idle) set_next_option();
}

void Agent::set_next_option() {
  while (!setting_.empty()) {
    std::string out;
    if (client_->set_option(out, session_id_, setting_.front())) return send(out);
    write(AgentUpdate{option_refused(no_such_option(setting_.front()))});
    setting_.pop_front();
  }
}

// Copilot ends a turn that its provider refused as successful, with the error as its only text:
// "Error: 429 Rate limit reached …". It counts as a failure only if the turn contains nothing else.
std::optional<RunFailed> Agent::failure_told_as_text() const {
  constexpr std::string_view begin = "Error: ";
  const std::string_view said = turn_->said;
  if (turn_->did_more || !said.starts_with(begin)) return std::nullopt;
  const std::string_view status = said.substr(begin.size());
  if (!status.starts_with("429 ") && !status.starts_with("401 ")) return std::nullopt;
  acp::CallFailed failed;
  failed.error = {.code = acp::rpc_code::internal_error, .message = turn_->said, .data = {}};
  const acp::Verdict verdict = acp::classify(acp::Call::prompt, failed.error);
  failed.failure = verdict.failure;
  failed.reset_at = verdict.reset_at;
  failed.retry_after_ms = verdict.retry_after_ms;
  return run_failure(failed, ports_.clock.now().wall);
}

void Agent::on(acp::TurnEnded event) {
  if (!turn_) return;
  if (!event.usage.text.empty()) {
    write(AgentUpdate{RawJson{"{\"usage\":" + event.usage.text + "}"}});
  }
  if (is_answered_in_part()) return;
  if (turn_->clears && event.stop_reason == "end_turn") {
    write(FrameContextChanged{BoundaryHow::cleared});
  }
  if (turn_->timed_out) return end_turn(FrameRunFailed{turn_->run, too_long()});
  if (event.stop_reason == "end_turn") {
    if (auto failed = failure_told_as_text()) {
      return end_turn(FrameRunFailed{turn_->run, std::move(*failed)});
    }
  }
  if (event.stop_reason == "cancelled" && ends_with_execution()) return leave_turn();
  if (event.stop_reason == "cancelled" || turn_->cancelling) end_commands();
  end_turn(FrameRunFinished{turn_->run, std::move(event.stop_reason)});
}

// C23: the turn continues with the prompt that was steered into it.
bool Agent::is_answered_in_part() {
  if (turn_->prompts_open == 1) return false;
  SIM_PROBE("turn goes on for a steered prompt");
  turn_->prompts_open -= 1;
  return true;
}

void Agent::fail_turn(const acp::CallFailed& event) {
  if (!turn_) return;
  if (is_answered_in_part()) return write(AgentUpdate{prompt_refused(event.error)});
  if (turn_->timed_out) return end_turn(FrameRunFailed{turn_->run, too_long()});
  if (event.failure == acp::Failure::cancelled && ends_with_execution()) return leave_turn();
  if (event.failure == acp::Failure::cancelled || turn_->cancelling) end_commands();
  if (event.failure == acp::Failure::cancelled) {
    return end_turn(FrameRunFinished{turn_->run, "cancelled"});
  }
  end_turn(FrameRunFailed{turn_->run, run_failure(event, ports_.clock.now().wall)});
}

// O26: this cancel is part of ending the whole execution; no client requested it. The run is not
// ended here: the daemon records it as interrupted.
bool Agent::ends_with_execution() const { return stopped_ && !turn_->cancelling; }

void Agent::leave_turn() {
  turn_.reset();
  normaliser_.end_turn();
  disarm(stall_timer_);
  disarm(length_timer_);
}

void Agent::end_turn(FrameBody end) {
  write(std::move(end));
  leave_turn();
  if (phase_ != Phase::open) return;  // the agent is already being ended
  disarm(ladder_timer_);
  begin_next();
}

// A tool that the agent left open may have a command that still runs: `cancelled` does not mean
// that it stopped. The next prompt waits until it has.
void Agent::end_commands() {
  if (phase_ != Phase::open || normaliser_.tools_in_flight() == 0) return;
  const auto ended = [this](std::size_t killed) {
    if (killed > 0) write(AgentUpdate{own_note({"commands_killed", "processes", killed})});
    begin_next();
  };
  const std::size_t found = commands_.end(family(), setup_.launch.times.term_grace_ms, ended);
  if (found > 0) write(AgentUpdate{own_note({"commands_ended", "processes", found})});
}

RunFailed Agent::too_long() const {
  return {.code = "run_time_limit",
          .message = "the run took longer than its limit of " +
                     std::to_string(setup_.launch.times.run_ms) + " ms and was ended"};
}

// Time spent waiting for a person's answer does not count.
void Agent::note_wait() {
  if (!turn_ || turn_->ends_ms == 0) return;
  const std::int64_t now_ms = ports_.clock.now().since_boot.ms;
  if (!permissions_.empty()) {
    if (turn_->asked_since_ms == 0) turn_->asked_since_ms = now_ms;
  } else if (turn_->asked_since_ms != 0) {
    turn_->ends_ms += now_ms - std::exchange(turn_->asked_since_ms, 0);
  }
}

// Cancels a turn that exceeds its time limit, with the same escalation as a person's cancel.
void Agent::look_at_length() {
  if (!turn_ || turn_->cancelling) return;
  const std::int64_t left_ms = turn_->ends_ms - ports_.clock.now().since_boot.ms;
  if (turn_->asked_since_ms != 0 || left_ms > 0) {
    const std::int64_t run_ms = setup_.launch.times.run_ms;
    return arm(length_timer_, left_ms > 0 ? left_ms : run_ms, &Agent::look_at_length);
  }
  turn_->timed_out = true;
  act(CancelPrompt{.run = turn_->run});
}

// P6: the agent is quiet although nothing is known to be in progress.
void Agent::look_for_stall() {
  if (!turn_) return;
  const std::int64_t quiet_ms = ports_.clock.now().since_boot.ms - last_sign_ms_;
  const std::int64_t left_ms = setup_.launch.times.stall_ms - quiet_ms;
  // An agent whose output we do not read is not stalled either.
  const bool waits = paused_ || normaliser_.tools_in_flight() > 0 || !permissions_.empty();
  if (left_ms > 0 || waits) {
    turn_->stalled_since_ms.reset();
  } else if (turn_->stalled_since_ms != last_sign_ms_) {
    turn_->stalled_since_ms = last_sign_ms_;
    SIM_PROBE("turn reported as stalled");
    write(FrameRunStalled{turn_->run, quiet_ms});
  }
  arm(stall_timer_, left_ms > 0 ? left_ms : setup_.launch.times.stall_ms, &Agent::look_for_stall);
}

}  // namespace perdure
