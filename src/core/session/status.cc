#include "core/session/status.h"

#include <algorithm>

namespace perdure {
namespace {

bool token_usable(const Wait& wait, const Moment& now) {
  return !wait.deadline || wait.deadline->remaining_ms(now) > 0;
}

bool any_usable(const State& state, const Moment& now) {
  return std::ranges::any_of(state.waits,
                             [&](const auto& entry) { return token_usable(entry.second, now); });
}

Status of_open_run(const State& state, const World& world) {
  if (world.liveness == Liveness::dead) return Status::interrupted_startup;
  if (state.waits.empty()) return Status::running;
  return any_usable(state, world.now) ? Status::waiting : Status::interrupted_waiting;
}

Status of_interruption(InterruptReason reason) {
  switch (reason) {
    case InterruptReason::process_exit:
    case InterruptReason::process_restart: return Status::interrupted_startup;
    case InterruptReason::wait_timeout:
    case InterruptReason::wait_lost: return Status::interrupted_waiting;
    case InterruptReason::forked: return Status::idle;
  }
  return Status::idle;
}

}  // namespace

Status derive_status(const State& state, const World& world) {
  if (state.run) return of_open_run(state, world);
  if (state.last_run && state.last_run->interrupted) {
    const Status interrupted = of_interruption(*state.last_run->interrupted);
    if (interrupted != Status::idle) return interrupted;
  }
  // A question asked outside any run still waits for a person until its deadline. A limit is waited
  // for until its reset.
  return state.waits.empty() && !state.limit ? Status::idle : Status::waiting;
}

}  // namespace perdure
