// Writes the in-memory ends of sessions' indexes to the tables heads and extents, oldest first, in
// slices. A later open need not scan the log before the watermark.
#pragma once

#include <cstdint>
#include <vector>

#include "store/sqlite/index/session_index.h"
#include "store/sqlite/sqlite_db.h"

namespace perdure {

class IndexFlush {
 public:
  static Result<IndexFlush> create(Db& db, SessionIndex& index);

  struct Slice {
    std::uint64_t before = 0;    // sessions with unflushed rows before this
    std::uint64_t next_pos = 0;  // the position after the log
    std::size_t sessions_max = 1024;
  };
  // In an open transaction. Returns whether it wrote; the caller then commits, calls committed().
  Result<bool> write(const Slice& slice);
  void committed();

  // Writes one session's end, dirty or not; used before the session is removed.
  Result<> write_session(const IndexedSession& state);

  // The same without its extents, which cannot be written.
  Result<> write_head(const IndexedSession& state);
  // How many records of a damaged session may be served.
  Result<> write_good(std::uint64_t sid, Seq good);
  // How far the tables cover the log.
  Result<> write_watermark(std::uint64_t next_pos);

 private:
  IndexFlush(Db& db, SessionIndex& index) : db_(&db), index_(&index) {}

  Result<> write_extents(const IndexedSession& state);
  Result<> write_extent(std::uint64_t sid, Seq first_seq, std::span<const EntryRef> refs);

  Db* db_;
  SessionIndex* index_;
  Statement last_extent_, put_extent_, put_head_, put_good_;
  std::vector<IndexedSession*> states_;
  std::vector<std::pair<std::uint64_t, Seq>> damage_;
};

}  // namespace perdure
