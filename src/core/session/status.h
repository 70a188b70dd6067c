// The only place that derives a session's status (O9, O10). It is never stored as authority: a
// cached value is a hint, and status.derived records what was shown.
#pragma once

#include "base/time.h"
#include "core/session/state.h"

namespace perdure {

// Lowest precedence first.
enum class Status { idle, running, waiting, interrupted_waiting, interrupted_startup };
ENUM_TEXT(Status, "idle", "running", "waiting", "interrupted_waiting", "interrupted_startup");

// Facts that the journal does not hold.
struct World {
  Liveness liveness = Liveness::unknown;  // of the session's execution; unknown is not dead (C19)
  BootId boot;                            // this daemon's boot
  Moment now;
};

Status derive_status(const State& state, const World& world);

}  // namespace perdure
