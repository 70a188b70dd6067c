// The claims of an agentctl before it does anything else, under its session's lock: its only start,
// then its spool. A late start of an execution that is over fails here: the daemon's own check is
// not enough, because the daemon may have slept between the check and the start.
#pragma once

#include "base/result.h"
#include "core/wire/agentctl/bootstrap.h"
#include "env/folder.h"

namespace perdure {

// Both require the session's lock; starts are recorded in the lock file. conflict: this execution
// was started before, even if nothing else is left of it.
Result<> check_start(Folder& run_folder, const Bootstrap& bootstrap);
// Call this when nothing else can refuse the start.
Result<> note_start(Folder& run_folder, const Bootstrap& bootstrap);

// conflict: the spool was used before, even if all of it was acked and removed.
Result<> claim_spool(Folder& folder);

}  // namespace perdure
