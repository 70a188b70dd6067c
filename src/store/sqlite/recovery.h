// The steps of opening a store: check the files before SQLite touches them, create or identify the
// database, and read the log after the index's watermark.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/sqlite/index/session_index.h"
#include "store/sqlite/sqlite_db.h"
#include "store/sqlite/sqlite_store.h"

namespace perdure {

struct OpenedFile {
  Db db;
  std::uint64_t epoch = 0;
  std::string log_id;
};

// The writer's connection to a file that is ours, with the next epoch committed. Errors: see
// SqliteStore::open.
Result<OpenedFile> open_file(const SqliteOptions& options);

struct TailScan {
  std::uint64_t next_pos = 1;      // where the next block goes
  std::uint64_t bytes = 0;         // scanned
  std::vector<std::string> notes;  // damage that belongs to no known session
};

struct ScanRange {
  std::uint64_t from = 1;
  std::uint64_t bytes_max = UINT64_MAX;  // stop after the block that reaches this
};

// Adds the log from a given row on to the index. `next_pos` is the position after the last block
// read. Skips records that are already in the extents, and entries of removed sessions.
Result<TailScan> scan_tail(Db& db, SessionIndex& index, const ScanRange& range);

// The position after the last row that the log is known to have held.
Result<std::uint64_t> end_of_log(Db& db);

}  // namespace perdure
