// Removes a session, or one of its records. First, one transaction deletes everything by which it
// could be found. Then bounded slices erase its records in the log: bytes are overwritten with
// zeros if the block also holds other sessions' entries, and a block's rows are deleted once all
// its entries are erased.
#pragma once

#include <cstdint>
#include <vector>

#include "store/sqlite/index/index_flush.h"
#include "store/sqlite/index/search.h"
#include "store/sqlite/log/log_reader.h"
#include "store/sqlite/sqlite_db.h"

namespace perdure {

class Eraser {
 public:
  static Result<Eraser> create(Db& db);

  // Inside an open transaction. The session's index must be flushed.
  Result<> doom(std::uint64_t sid);

  // Inside an open transaction, for a session whose index is flushed: zeros the record and stores
  // its replacement separately.
  Result<> redact(std::uint64_t sid, const Redaction& what, SearchProjection& search);

  // Whether a removed session is still to be erased.
  bool behind() const { return behind_; }
  // Inside an open transaction: erases some entries of one session. `indexed` is the index's
  // watermark: rows after it are never deleted.
  Result<> slice(SearchProjection& search, std::uint64_t indexed);

 private:
  Result<> forget_redactions(std::uint64_t sid);
  Eraser(Db& db, LogReader log) : db_(&db), log_(std::move(log)) {}

  Result<> erase(const EntryRef& ref, std::uint64_t sid, std::vector<std::uint64_t>& blocks);
  struct Found {
    EntryRef ref;
    std::size_t index = 0;
  };
  Result<Found> find(std::uint64_t sid, Seq seq);
  Result<> drop_blobs(const std::vector<Hash>& blobs);
  Result<> overwrite(const EntryRef& ref, std::string_view bytes);
  Result<> drop_if_empty(std::uint64_t block_pos, std::uint64_t indexed);

  Db* db_;
  LogReader log_;
  bool behind_ = true;  // until the first look
  Statement next_doomed_, first_extent_, delete_extent_, put_extent_, undoom_, read_row_,
      write_row_, delete_rows_;
};

}  // namespace perdure
