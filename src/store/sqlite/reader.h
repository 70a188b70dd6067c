// The read side: a few read-only connections, lent for one call at a time. Positions come from the
// session index first and rows from a transaction begun afterwards, so that every commit visible in
// the index is visible in the rows.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/sqlite/index/session_index.h"
#include "store/sqlite/log/log_reader.h"
#include "store/sqlite/sqlite_db.h"
#include "store/store.h"

namespace perdure {

// The state of one session for a reader, taken from the index under its lock.
struct IndexedView {
  std::uint64_t sid = 0;
  Seq head = 0;
  Seq flushed = 0;
  std::optional<Seq> good;
  std::optional<FrameCursor> cursor;
  Seq tail_first = 0;          // number of the first record in `tail`
  std::vector<EntryRef> tail;  // entries of the requested range that are not in the extents
};

// The wanted records of a session: after + 1 … last.
struct SeqRange {
  Seq after = 0;
  Seq last = 0;
};

// One connection with its statements.
class StoreReader {
 public:
  static Result<std::unique_ptr<StoreReader>> open(const DbOptions& options);

  Db db;
  std::optional<LogReader> log;
  // The replacement of a blank record; absent if the record was written blank. `damaged` if it
  // cannot be read.
  Result<std::optional<std::string>> redaction(std::uint64_t sid, Seq seq);
  // Inserts the replacements of redacted records.
  Result<> put_redactions(const IndexedView& view, RecordPage& page);

  Statement load_session, extents, session_of_sid, snapshot, outbox, answer, find_ref, blob,
      open_sessions, list, search, snippet;
  // Prepares the last two; false if there is nothing to search.
  Result<bool> prepare_search();
  bool has_search = false;

  // Reads the session's records in order and passes each to `take` until it returns false. Stops at
  // an unreadable entry: `damaged`, with the number of the last record before it in *good.
  template <class Take>
  Result<> records(const IndexedView& view, const SeqRange& range, Seq* good, Take&& take);

  // The positions of the entries that hold the range, and the first entry's first record number.
  struct Plan {
    Seq first = 0;
    std::vector<EntryRef> refs;
    bool is_broken = false;  // the index is damaged after them
  };
  Result<Plan> plan(const IndexedView& view, const SeqRange& range);

 private:
  // Plans the part that is in the extents.
  Result<> plan_flushed(const IndexedView& view, const SeqRange& range, Plan& out);
};

// A read transaction; ends with its scope.
class ReadTransaction {
 public:
  static Result<ReadTransaction> begin(StoreReader& reader);
  ReadTransaction(ReadTransaction&& other) noexcept
      : reader_(std::exchange(other.reader_, nullptr)) {}
  ~ReadTransaction();

 private:
  explicit ReadTransaction(StoreReader& reader) : reader_(&reader) {}
  StoreReader* reader_;
};

class ReaderPool {
 public:
  ReaderPool(DbOptions options, std::size_t readers_max)
      : options_(std::move(options)), readers_max_(readers_max) {}

  // Lends a reader and returns it when the lease ends. Blocks while all are lent.
  class Lease {
   public:
    Lease(ReaderPool& pool, std::unique_ptr<StoreReader> reader)
        : pool_(&pool), reader_(std::move(reader)) {}
    Lease(Lease&&) = default;
    ~Lease() {
      if (reader_) pool_->give_back(std::move(reader_));
    }
    StoreReader* operator->() { return reader_.get(); }
    StoreReader& operator*() { return *reader_; }

   private:
    ReaderPool* pool_;
    std::unique_ptr<StoreReader> reader_;
  };
  Result<Lease> lease();

 private:
  void give_back(std::unique_ptr<StoreReader> reader);

  DbOptions options_;
  std::size_t readers_max_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::size_t lent_ = 0;
  std::vector<std::unique_ptr<StoreReader>> idle_;
};

template <class Take>
Result<> StoreReader::records(const IndexedView& view, const SeqRange& range, Seq* good,
                              Take&& take) {
  const Plan entries = TRY(plan(view, range));
  Seq first = entries.first;
  for (const EntryRef& ref : entries.refs) {
    *good = first - 1;
    const Entry entry = TRY(log->entry(ref));
    if (entry.head.sid != view.sid || entry.head.first_seq != first) {
      return fail(Code::damaged, "the index points to another session's records");
    }
    if (entry.head.removed) return fail(Code::not_found, "the session was removed");
    for (const std::string_view record : entry.records) {
      const Seq seq = first++;
      if (seq <= range.after || seq > range.last) continue;
      if (!take(seq, record)) return {};
    }
  }
  if (!entries.is_broken) return {};
  *good = first - 1;
  return fail(Code::damaged, "the session's index is damaged; `perdure store salvage` rebuilds it");
}

}  // namespace perdure
