// The one place where a session's status is derived (O9, O10). Never stored as authority: a cached
// value is only a hint, and status.derived records what was shown.
#pragma once

#include "base/time.h"
#include "session/state.h"

namespace perdure {

// Lowest precedence first.
enum class Status { idle, running, waiting, interrupted_waiting, interrupted_startup };
ENUM_TEXT(Status, "idle", "running", "waiting", "interrupted_waiting", "interrupted_startup");

// What is known beside the journal.
struct World {
  Liveness liveness = Liveness::unknown;  // of the session's execution; unknown is not dead (C19)
  BootId boot;                            // this daemon's life
  Moment now;
};

Status derive_status(const State& state, const World& world);

}  // namespace perdure
