// Reads the log through one connection: single entries at their indexed positions, or whole blocks
// in order. Everything is checked; damage is reported with as much as is still known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/sqlite/index/block.h"
#include "store/sqlite/sqlite_db.h"

namespace perdure {

struct ScannedEntry {
  EntryRef ref;
  std::size_t offset = 0;  // in the block's bytes
  std::size_t length = 0;
  EntryHead head;  // of a damaged entry: from the directory
  bool damaged = false;
};

struct ScannedBlock {
  std::uint64_t pos = 0;
  std::uint64_t next_pos = 0;
  std::string bytes;
  std::vector<ScannedEntry> entries;
  // The header was damaged: the losses between the found entries are unknown.
  bool uncertain = false;
};

class LogReader {
 public:
  static Result<LogReader> create(Db& db);

  // The entry at `ref`, checked; a count of 0 matches any. Its records are valid until the next
  // call. `damaged` if it cannot be read.
  Result<Entry> entry(const EntryRef& ref);
  // The bytes of the entry last read.
  std::string_view entry_bytes() const { return entry_; }

  // The first block at or after `pos` that starts before `end`, if any.
  Result<std::optional<ScannedBlock>> block(std::uint64_t pos, std::uint64_t end);

  // Rows may have changed: call this when a new read transaction begins.
  void forget() { row_pos_ = 0; }

 private:
  LogReader(Statement row, Statement next) : row_(std::move(row)), next_(std::move(next)) {}

  // A row's bytes, valid until the next call; absent if the row is missing or unreadable.
  Result<std::optional<std::string_view>> row(std::uint64_t pos);
  Result<std::optional<std::uint64_t>> first_pos(std::uint64_t pos, std::uint64_t end);
  Result<> gather(ScannedBlock& block, std::uint64_t rows);

  Statement row_;
  Statement next_;
  std::uint64_t row_pos_ = 0;
  std::string row_bytes_;
  std::string entry_;
};

}  // namespace perdure
