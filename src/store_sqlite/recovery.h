// What is done when a store is opened: look at the files before SQLite touches them, make or
// identify the database, and read the log behind the index's watermark.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store_sqlite/session_index.h"
#include "store_sqlite/sqlite_db.h"
#include "store_sqlite/sqlite_store.h"

namespace perdure {

struct OpenedFile {
  Db db;
  std::uint64_t epoch = 0;
  std::string log_id;
};

// The writer's connection to a file that is ours, with the next epoch committed. See
// SqliteStore::open for the errors.
Result<OpenedFile> open_file(const SqliteOptions& options);

struct TailScan {
  std::uint64_t next_pos = 1;      // where the next block goes
  std::uint64_t bytes = 0;         // scanned
  std::vector<std::string> notes;  // damage that belongs to no known session
};

struct ScanRange {
  std::uint64_t from = 1;
  std::uint64_t bytes_max = UINT64_MAX;  // stop behind the block that reaches this
};

// Puts what the log holds from a row on into the index. `next_pos` is behind the last block read.
// Records that are in the extents already are skipped, entries of removed sessions too.
Result<TailScan> scan_tail(Db& db, SessionIndex& index, const ScanRange& range);

// The row behind everything the log ever held as far as anybody may remember.
Result<std::uint64_t> end_of_log(Db& db);

}  // namespace perdure
