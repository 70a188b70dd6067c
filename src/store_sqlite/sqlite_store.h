// The embedded engine: one SQLite file in WAL mode, synchronous=FULL. All sessions' batches that
// are queued become one commit block, one transaction and one fsync.
// docs/decisions/0002-sqlite-journal.md says why it has this shape.
//
// Who runs it: one thread made by main loops
//     while (running) { if (store.wait_for_work(50ms)) store.step(); else store.idle_step(); }
// and calls idle_step() now and then under steady load too. There is no thread and no clock in
// here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/engine.h"
#include "wire/search_text.h"

namespace perdure {

struct SqliteOptions {
  std::string path;  // the database file; its folder must be there. New files get the umask's mode
  std::string vfs;   // empty: SQLite's default

  // Runs once, on the thread that met the error, when the outcome of a write is unknown: the
  // process has to end. Must not call the store.
  std::function<void(Error)> on_fatal;
  // What a record gives to the texts by which its session is found. Runs on the thread of
  // idle_step(). Without it there is no full-text search.
  std::function<std::optional<SearchPiece>(std::string_view record)> search_piece;

  // Asked before each group is written: false refuses it (disk_full), for a file that was taken
  // away under us would take it and lose it.
  std::function<bool()> is_there;

  bool create = true;  // false: a missing file is an error (main knows of other data that is there)
  bool salvage =
      false;  // repair a decayed WAL (after a copy to <path>-wal.damaged) instead of refusing
  std::string new_log_id;       // for a new store or a restored backup; empty: random
  std::uint64_t epoch_min = 0;  // the epoch is this or a later one

  std::size_t reserve_bytes = 4UL << 20;  // <path>.reserve, freed for essential appends; 0: none

  // Unindexed log is flushed to the extents when it exceeds 32 KiB a dirty session, within these.
  std::size_t flush_bytes_min = 8UL << 20;
  std::size_t flush_bytes_max = 128UL << 20;
  std::size_t flush_idle_bytes = 1UL << 20;   // idle_step() leaves less than this unindexed
  std::size_t checkpoint_bytes = 32UL << 20;  // WAL size at which step() checkpoints
  std::size_t checkpoint_idle_bytes = 2UL << 20;
  std::size_t group_bytes_max = 8UL << 20;  // a commit takes no more appends behind this
  std::size_t sessions_cached_max = 4096;   // clean sessions kept in memory
  std::size_t readers_max = 4;              // read-only connections
};

// Counters for /metrics and tests.
struct SqliteStats {
  std::uint64_t commits = 0;
  std::uint64_t appends = 0;
  std::uint64_t flushes = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t unindexed_bytes = 0;
  std::uint64_t wal_bytes = 0;
  bool disk_full = false;  // only essential appends are tried
  bool failed = false;     // the fatal hook has run
};

class SqliteStore final : public StoreEngine {
 public:
  // Opens or makes the store and recovers what an earlier life left. May block for as long as
  // reading the WAL and the unindexed end of the log takes; does not grow with the sessions stored.
  // Errors: format_too_new; invalid_argument for a foreign file; damaged for a file that SQLite
  // cannot open, or an empty one beside which other files of a store lie; unavailable for a missing
  // or read-only place; disk_full. After an error the files hold what they held.
  static Result<std::unique_ptr<SqliteStore>> open(SqliteOptions options);
  // Writes and syncs nothing: what was acknowledged is on disk already. Appends still queued are
  // dropped without their Done.
  ~SqliteStore() override;

  // Takes everything queued, commits it, runs the Dones; then flushes or checkpoints if a threshold
  // was passed. Says whether there was anything. Blocks for the fsync. One thread at a time.
  bool step() override;
  // A bounded slice of background work: backup pages, search, erasing, flush, checkpoint, a look
  // whether a full disk has room again. Says whether it did anything.
  bool idle_step() override;
  // Blocks until something is queued, wake() is called or the time is over; false for the last.
  bool wait_for_work(std::chrono::milliseconds timeout) override;
  void wake() override;

  // Flushes, checkpoints and empties the WAL, for an orderly end. May block. After an error commits
  // may still be in the WAL, where the next open finds them: the file alone is not the store.
  Result<> shut_down() override;

  // Starts copying the store to a new file while it goes on; idle_step() does the work, and `done`
  // runs there. The copy is the state at its end. When opened it gets a log_id of its own. conflict
  // when the file is there or another backup runs.
  Result<> backup(std::string path, Done done) override;

  // Drops the full-text index; idle_step() builds it anew.
  Result<> rebuild_search();
  // Of how many sessions heads or extents are damaged, for rebuild_index(); at least of how many,
  // where a page of them cannot be read. Reads no records.
  Result<std::uint64_t> damaged_indexes();
  // Builds heads and extents anew from the log. Blocks for as long as reading the log takes.
  Result<> rebuild_index();
  // Looks again whether the disk has room; true when appends are accepted.
  bool retry_space();
  // Forgets stored answers that expired before `now`.
  Result<> forget_answers(Timestamp now) override;

  using StoreEngine::verify;
  Result<VerifyReport> verify(const OnVerified& on_session) override;

  std::vector<std::string> notes() const override;
  EngineTotals totals() override;
  Result<SessionBelongings> belongings(SessionId session) override;
  Result<std::vector<StoredAnswer>> answers(std::string_view after, std::size_t limit) override;

  SqliteStats stats();

  void append(Append batch, Done done) override;
  Result<RecordPage> read(SessionId session, ReadRange range) override;
  Result<SessionHead> head(SessionId session) override;
  Result<std::optional<StoredSnapshot>> snapshot(SessionId session) override;
  Result<std::vector<OutboxRow>> outbox(SessionId session) override;
  Result<std::optional<StoredAnswer>> answer(std::string_view key) override;
  Result<std::optional<SessionId>> find_ref(std::string_view ref) override;
  Result<std::string> blob(const Hash& hash) override;
  Result<std::vector<SessionId>> open_sessions() override;
  Result<std::vector<ListedSession>> list(SessionId after, std::size_t limit) override;
  Result<std::vector<SearchHit>> search(const SearchAsk& ask) override;
  Result<> remove(SessionId session) override;
  Result<> redact(Redaction redaction) override;
  std::string bytes_kept() const override;
  std::uint64_t epoch() const override;
  const std::string& log_id() const override;

 private:
  struct Parts;
  explicit SqliteStore(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace perdure
