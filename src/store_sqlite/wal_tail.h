// What a refused transaction leaves behind the last commit in the write-ahead log. A commit that
// failed for want of space may be whole there all the same: when the page that could not be written
// equals the stale bytes in its place, the frame's checksum is right. The next life would take it
// for a commit, and what was refused would be there. So the log is cut before anybody is told.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "store_sqlite/sqlite_db.h"

namespace perdure {

// How many frames of the log SQLite has taken, up to the last commit: as all connections see it.
// The connection must have read something.
Result<std::uint32_t> committed_frames(Db& db);

// Cuts the log behind its last commit and syncs it. Between transactions of the writer only: the
// connection must hold none. An error means that nobody knows what the next life will see.
Result<> cut_wal_tail(Db& db);

}  // namespace perdure
