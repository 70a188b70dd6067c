// Removes what a failed transaction left after the last commit in the write-ahead log. A commit
// that failed for lack of space may still be complete there: if the page that could not be written
// equals the stale bytes in its place, the frame's checksum is right. The next open would take it
// for a commit and restore refused data. So the log is cut before the failure is reported.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "store/sqlite/sqlite_db.h"

namespace perdure {

// How many frames of the log SQLite has accepted, up to the last commit, as all connections see it.
// The connection must have read something.
Result<std::uint32_t> committed_frames(Db& db);

// Cuts the log after its last commit and syncs it. Only between transactions of the writer: the
// connection must hold none. An error means that it is unknown what the next open will see.
Result<> cut_wal_tail(Db& db);

}  // namespace perdure
