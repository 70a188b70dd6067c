// What an agentctl makes its own before it does anything: under its session's lock, its only start,
// and then its spool. Whoever starts an execution that is over, however late, is refused here, and
// not only by a daemon that may have slept between its look and its deed.
#pragma once

#include "base/result.h"
#include "env/folder.h"
#include "wire/bootstrap.h"

namespace perdure {

// Both for whoever holds the session's lock; starts are noted in its file.
// conflict: this execution was started before, also when nothing else is left of it.
Result<> check_start(Folder& run_folder, const Bootstrap& bootstrap);
// Once nothing is left that could refuse it.
Result<> note_start(Folder& run_folder, const Bootstrap& bootstrap);

// conflict: somebody wrote here before, also when all of it was acked and cut.
Result<> claim_spool(Folder& folder);

}  // namespace perdure
