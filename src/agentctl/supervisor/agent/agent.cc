// The life of the process: spawn, initialize, end. Ending an agent never relies on its cooperation.
// The end is reported once, after all of its output.
#include "agentctl/supervisor/agent/agent.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/check.h"
#include "base/failpoint.h"
#include "base/limits.h"
#include "base/probe.h"
#include "base/text.h"

namespace perdure {
namespace {

constexpr std::int64_t sweep_again_ms = 50;
// Bytes of output dispatched at once: short lines become many events.
constexpr std::size_t slice_bytes = 16UL << 10;
constexpr std::size_t events_kept = 64;  // more capacity is freed

// P1: states no more than the evidence supports.
std::string_view oom_text(OomEvidence evidence) {
  switch (evidence) {
    case OomEvidence::none: return "";
    case OomEvidence::machine:
      return "\n[perdure] perhaps out of memory: ended by a SIGKILL from elsewhere, while the "
             "kernel "
             "ended a process of this machine for want of memory";
    case OomEvidence::group:
      return "\n[perdure] probably out of memory: ended by a SIGKILL from elsewhere, while the "
             "kernel "
             "ended a process of its memory group for want of memory";
  }
  CHECK(false, "evidence without a text");
}

}  // namespace

Agent::Agent(AgentPorts ports, AgentSetup setup) : ports_(ports), setup_(std::move(setup)) {
  if (setup_.launch.protocol_version >= 2) normaliser_.expect_whole_messages();
}

Agent::~Agent() {
  disarm(phase_timer_);
  disarm(ladder_timer_);
  disarm(stall_timer_);
  disarm(hold_timer_);
  disarm(length_timer_);
}

std::string_view Agent::phase_text() const {
  if (turn_) return "busy";
  switch (phase_) {
    case Phase::none: return "none";
    case Phase::starting:
    case Phase::opening: return "starting";
    case Phase::ready:
    case Phase::open: return "ready";
    case Phase::stopping: return "stopping";
  }
  CHECK(false, "a phase without a name");
}

void Agent::arm(Loop::TimerId& timer, std::int64_t delay_ms, void (Agent::*then)()) {
  disarm(timer);
  timer = ports_.loop.after_ms(delay_ms, [this, &timer, then] {
    timer = 0;
    (this->*then)();
  });
}

void Agent::disarm(Loop::TimerId& timer) {
  if (timer != 0) ports_.loop.cancel(std::exchange(timer, 0));
}

void Agent::act(const StartAgent&) {
  if (stopped_) return;  // the whole execution is ending
  if (process_ || phase_ == Phase::stopping) {
    // One agent at a time: kill the remains of the earlier one, without waiting.
    SIM_PROBE("agent started again over a living one");
    restart_ = true;
    phase_ = Phase::stopping;
    disarm(phase_timer_);
    kill();
    return;
  }
  begin_again();
}

// P14: restarts an agent that repeatedly dies early with increasing delays.
void Agent::begin_again() {
  if (early_deaths_ == 0) return spawn();
  if (early_deaths_ >= early_deaths_max) {
    SIM_PROBE("agent died early too often");
    early_deaths_ = 0;  // the next request starts the count again
    ports_.frames.write({}, FrameAgentExited{{.why = "crash_loop", .stderr_tail = stderr_told()}});
    return;
  }
  SIM_PROBE("agent started again after an early death");
  std::int64_t delay_ms = setup_.launch.times.backoff_ms << (early_deaths_ - 1);
  if (delay_ms > start_backoff_ms_max) delay_ms = start_backoff_ms_max;
  phase_ = Phase::starting;
  arm(phase_timer_, delay_ms, &Agent::spawn);
}

void Agent::spawn() {
  SpawnSpec spec{
      .command = setup_.launch.command, .environment = setup_.environment, .cwd = setup_.cwd};
  for (const auto& [name, value] : setup_.launch.environment) {
    spec.environment.push_back(name + "=" + value);
  }
  spec.environment.push_back(setup_.mark);
  stderr_tail_.clear();
  ending_.clear();
  draining_ = false;
  Result<std::unique_ptr<Process>> spawned = ports_.processes.spawn(spec, *this);
  if (!spawned) {
    SIM_PROBE("agent could not be spawned");
    phase_ = Phase::none;
    ports_.frames.write(
        {}, FrameAgentExited{{.why = "not_started", .stderr_tail = spawned.error().message()}});
    return;
  }
  FAILPOINT("agentctl.after_spawn");
  process_ = std::move(*spawned);
  if (paused_) process_->pause_output();
  phase_ = Phase::starting;
  acp::ClientSetup setup{.protocol_version = setup_.launch.protocol_version};
  setup.fs = setup_.launch.fs;
  setup.terminal = setup_.launch.terminal;
  client_.emplace(std::move(setup));
  normaliser_.forget_options();
  std::string out;
  client_->initialize(out);
  send(out);
  arm(phase_timer_, setup_.launch.times.initialize_ms, &Agent::initialize_timed_out);
}

void Agent::send(const std::string& bytes) {
  if (!process_ || bytes.empty()) return;
  if (process_->unwritten_bytes() + bytes.size() > agent_unread_bytes_max) {
    end_by("the agent does not read its input");
    return;
  }
  process_->write(bytes);
}

void Agent::initialize_timed_out() {
  if (paused_) {  // its answer may still be in the pipe
    return arm(phase_timer_, setup_.launch.times.initialize_ms, &Agent::initialize_timed_out);
  }
  SIM_PROBE("agent never answered initialize");
  end_by("no answer to initialize");
}

// Ends the agent because of its behaviour.
void Agent::end_by(std::string why) {
  if (!process_ || phase_ == Phase::stopping) return;
  ending_ = std::move(why);
  phase_ = Phase::stopping;
  disarm(phase_timer_);
  terminate();
}

void Agent::stop(std::move_only_function<void()> stopped) {
  stopped_ = std::move(stopped);
  restart_ = false;
  disarm(phase_timer_);
  disarm(stall_timer_);
  if (!process_) {
    phase_ = Phase::stopping;
    sweep();
    return;
  }
  if (ending_.empty()) ending_ = "stopped";
  if (phase_ == Phase::stopping) return;  // it is already being ended
  if (turn_ && !turn_->cancelling) {
    SIM_PROBE("execution stopped in the middle of a turn");
    std::string out;
    client_->cancel(out, session_id_);
    send(out);
    cancel_permissions();
  }
  phase_ = Phase::stopping;
  process_->close_input();
  arm(ladder_timer_, setup_.launch.times.stop_grace_ms, &Agent::terminate);
}

void Agent::terminate() {
  if (!process_) return;
  process_->signal(SIGTERM);
  arm(ladder_timer_, setup_.launch.times.term_grace_ms, &Agent::kill);
}

void Agent::kill() {
  if (!process_) return;
  SIM_PROBE("agent ended by SIGKILL");
  process_->signal(SIGKILL);
  // At most a pipe's worth of output is left. The end is reported after it, and must not wait for
  // an ack that may never come.
  draining_ = true;
  process_->resume_output();
}

void Agent::pause() {
  paused_ = true;
  if (process_ && !draining_) process_->pause_output();
}

void Agent::resume() {
  paused_ = false;
  last_sign_ms_ = ports_.clock.now().since_boot.ms;  // we did not read until now
  late_replay_ms_ = last_sign_ms_;                   // a replay may have waited in the pipe
  if (process_) process_->resume_output();
}

void Agent::on_error_output(std::string_view bytes) {
  if (bytes.size() > stderr_tail_bytes) bytes.remove_prefix(bytes.size() - stderr_tail_bytes);
  stderr_tail_ += bytes;
  // Trim rarely, so that a flood of short lines does not move the whole tail for each line.
  if (stderr_tail_.size() > 2 * stderr_tail_bytes) {
    stderr_tail_.erase(0, stderr_tail_.size() - stderr_tail_bytes);
  }
}

std::string Agent::stderr_told() const {
  std::string_view tail = stderr_tail_;
  if (tail.size() > stderr_tail_bytes) tail.remove_prefix(tail.size() - stderr_tail_bytes);
  return utf8_scrub(tail);
}

void Agent::on_output(std::string_view bytes) {
  last_sign_ms_ = ports_.clock.now().since_boot.ms;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), slice_bytes))) {
    client_->feed(bytes.substr(0, slice_bytes), events_);
    dispatch_all();
  }
}

void Agent::dispatch_all() {
  for (acp::Event& event : events_) dispatch(std::move(event));
  events_.clear();
  if (events_.capacity() > events_kept) events_ = {};
}

void Agent::on_output_end() {
  client_->feed_end(events_);
  dispatch_all();
  // An agent that can no longer write is useless, even if it lives on.
  if (phase_ != Phase::stopping)
    arm(ladder_timer_, setup_.launch.times.term_grace_ms, &Agent::kill);
}

std::string Agent::exit_reason(const ProcessExit& exit) const {
  if (exit.oom == OomEvidence::group) return "out_of_memory";
  if (!ending_.empty()) return ending_ == "stopped" ? "stopped" : "killed";
  return exit.signal || exit.code != 0 ? "crashed" : "exited";
}

void Agent::on_exit(const ProcessExit& exit) {
  const bool early = phase_ == Phase::starting || phase_ == Phase::opening;
  early_deaths_ = early ? early_deaths_ + 1 : 0;
  AgentExited told{.why = exit_reason(exit), .stderr_tail = stderr_told()};
  if (turn_) SIM_PROBE("agent ended in the middle of a turn");
  if (exit.code) told.exit_code = *exit.code;
  if (exit.signal) told.signal = *exit.signal;
  if (!ending_.empty() && ending_ != "stopped") told.stderr_tail += "\n[perdure] " + ending_;
  told.stderr_tail += oom_text(exit.oom);
  const RunId run = turn_ ? turn_->run : RunId{};
  const std::string met = ports_.processes.limits_met();
  if (!met.empty()) told.stderr_tail += "\n[perdure] it had reached " + met;
  if (const std::string work = normaliser_.work_left(); !work.empty()) {
    told.stderr_tail += "\n[perdure] lost with it, as it was said to be at work: " + work;
  }
  if (turn_ && turn_->timed_out) write(FrameRunFailed{run, too_long()});
  // Only the session's own limit fails the run; a machine out of memory interrupts it.
  if (turn_ && !turn_->timed_out && exit.oom == OomEvidence::group && !met.empty()) {
    write(
        FrameRunFailed{run, {.code = "out_of_memory", .message = "the agent was ended at " + met}});
  }
  disarm(length_timer_);
  disarm(phase_timer_);
  disarm(ladder_timer_);
  disarm(stall_timer_);
  disarm(hold_timer_);
  commands_.forget();
  held_since_ms_.reset();
  turn_.reset();
  waiting_.clear();
  opening_.reset();
  setting_.clear();
  permissions_.clear();
  asked_.clear();
  session_id_.clear();
  normaliser_.end_turn();
  normaliser_.forget_work();
  phase_ = Phase::stopping;
  if (!restart_) ports_.frames.write(run, FrameAgentExited{std::move(told)});
  // The process must not be destroyed inside its own callback.
  ports_.loop.post([this] {
    process_.reset();
    client_.reset();
    sweep();
  });
}

// Nothing of the agent is left running: processes outside its group are found by the mark (P4).
void Agent::sweep() {
  if (ports_.processes.kill_marked(setup_.mark) > 0) {
    SIM_PROBE("remains of an agent take their time");
    return arm(ladder_timer_, sweep_again_ms, &Agent::sweep);
  }
  if (stopped_) {
    phase_ = Phase::none;
    std::exchange(stopped_, nullptr)();
    return;
  }
  phase_ = Phase::none;
  if (std::exchange(restart_, false)) begin_again();
}

void Agent::write_all(std::vector<FrameBody>& bodies) {
  for (FrameBody& body : bodies) write(std::move(body));
  bodies.clear();
}

}  // namespace perdure
