// The embedded engine: one SQLite file in WAL mode, synchronous=FULL. The queued batches of all
// sessions become one commit block, one transaction and one fsync.
// docs/decisions/0002-sqlite-journal.md explains this design.
//
// Running it: main creates one thread that loops
//     while (running) { if (store.wait_for_work(50ms)) store.step(); else store.idle_step(); }
// and also calls idle_step() occasionally under steady load. This folder has no thread and no
// clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/wire/search_text.h"
#include "store/engine.h"

namespace perdure {

struct SqliteOptions {
  std::string path;  // the database file; its folder must exist. New files get the umask's mode
  std::string vfs;   // empty: SQLite's default

  // Runs once, on the thread that met the error, when the outcome of a write is unknown: the
  // process must exit. Must not call the store.
  std::function<void(Error)> on_fatal;
  // Extracts the text by which a record's session is found. Runs on the thread of idle_step().
  // Full-text search requires it.
  std::function<std::optional<SearchPiece>(std::string_view record)> search_piece;

  // Checked before each group is written; false refuses the group (disk_full): a write to a file
  // that was deleted while open would succeed and be lost.
  std::function<bool()> is_there;

  bool create = true;  // false: a missing file is an error (other data of this store exists)
  bool salvage =
      false;  // repair a decayed WAL (after a copy to <path>-wal.damaged) instead of refusing
  std::string new_log_id;       // for a new store or a restored backup; empty: random
  std::uint64_t epoch_min = 0;  // the epoch is at least this

  std::size_t reserve_bytes = 4UL << 20;  // <path>.reserve, freed for essential appends; 0: none

  // Unindexed log is flushed to the extents when it exceeds 32 KiB per dirty session, within these.
  std::size_t flush_bytes_min = 8UL << 20;
  std::size_t flush_bytes_max = 128UL << 20;
  std::size_t flush_idle_bytes = 1UL << 20;   // idle_step() leaves less than this unindexed
  std::size_t checkpoint_bytes = 32UL << 20;  // WAL size at which step() checkpoints
  std::size_t checkpoint_idle_bytes = 2UL << 20;
  std::size_t group_bytes_max = 8UL << 20;  // a commit takes no more appends after this
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
  // Opens or creates the store and recovers it. May block while it reads the WAL and the unindexed
  // end of the log, independent of the number of stored sessions. Errors: format_too_new;
  // invalid_argument for a foreign file; damaged for a file that SQLite cannot open, or an empty
  // one next to other files of a store; unavailable for a missing or read-only path; disk_full.
  // After an error the files are unchanged.
  static Result<std::unique_ptr<SqliteStore>> open(SqliteOptions options);
  // Writes and syncs nothing: everything acknowledged is on disk already. Drops queued appends
  // without calling their Done.
  ~SqliteStore() override;

  // Commits everything queued and runs the Dones; then flushes or checkpoints if a threshold was
  // passed. Returns whether there was anything. Blocks for the fsync. One thread at a time.
  bool step() override;
  // Does a bounded slice of background work: backup pages, search, erasing, flush, checkpoint,
  // checking a full disk for space. Returns whether there was any.
  bool idle_step() override;
  // Blocks until something is queued, wake() is called or the time expires; false in the last case.
  bool wait_for_work(std::chrono::milliseconds timeout) override;
  void wake() override;

  // Flushes, checkpoints and empties the WAL, for an orderly end. May block. After an error,
  // commits may remain in the WAL: the next open finds them, but the file alone is incomplete.
  Result<> shut_down() override;

  // Starts copying the store to a new file while it keeps running; idle_step() does the work and
  // runs `done`. The copy has the state at its end. When opened, it gets its own log_id. conflict:
  // the file exists or another backup runs.
  Result<> backup(std::string path, Done done) override;

  // Drops the full-text index; idle_step() rebuilds it.
  Result<> rebuild_search();
  // Counts the sessions whose heads or extents are damaged, for rebuild_index(); a lower bound if a
  // page of these tables cannot be read. Reads no records.
  Result<std::uint64_t> damaged_indexes();
  // Rebuilds heads and extents from the log. Blocks while it reads the log.
  Result<> rebuild_index();
  // Checks again whether the disk has space; true if appends are accepted.
  bool retry_space();
  // Deletes stored answers that expired before `now`.
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
