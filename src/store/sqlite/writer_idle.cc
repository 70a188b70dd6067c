// The writer's background work: index flush, checkpoint, search, erasing and backup.
#include <algorithm>

#include "base/failpoint.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/writer.h"

namespace perdure {
namespace {

constexpr int busy_wait_ms = 2'000;  // as set when the connection was opened

constexpr std::size_t flush_bytes_per_session = 32UL << 10;
constexpr std::size_t search_slice_bytes = 256UL << 10;
// Steps without anything new, after which unfinished messages are indexed as they are.
constexpr int quiet_steps_min = 20;
constexpr int backup_pages_per_step = 256;

}  // namespace

// The work that a threshold requires after a commit. An error here no longer concerns the appends:
// the next append finds a full disk, and other errors have called the fatal hook.
void Writer::maintain() {
  if (failed_) return;
  if (flush_before_ == 0 && flush_due()) {
    flush_before_ = next_pos_;
    bytes_since_flush_ = 0;
  }
  if (flush_before_ != 0) (void)flush_slice();
  const std::uint64_t wal_bytes = wal_frames_ * page_bytes;
  const std::uint64_t tried_bytes = wal_frames_tried_ * page_bytes;
  if (wal_bytes >= options_.checkpoint_bytes &&
      wal_bytes >= tried_bytes + options_.checkpoint_bytes / 4) {
    checkpoint(SQLITE_CHECKPOINT_PASSIVE);
  }
}

bool Writer::flush_due() {
  const std::size_t limit = std::clamp(flush_bytes_per_session * index_.dirty_count(),
                                       options_.flush_bytes_min, options_.flush_bytes_max);
  return unindexed_bytes_ > limit;
}

// Runs one slice of the current flush; true if more remain.
Result<bool> Writer::flush_slice() {
  bool wrote = false;
  const Result<> done = transact([&]() -> Result<> {
    wrote = TRY(flush_->write({.before = flush_before_, .next_pos = next_pos_}));
    return {};
  });
  const bool is_damaged = !done && done.error().code() == Code::damaged;
  if (const Result<> outcome = is_damaged ? flush_around_damage() : done; !outcome) {
    if (outcome.error().code() == Code::disk_full) commits_.set_full();
    flush_before_ = 0;
    return std::unexpected(outcome.error());
  }
  if (done && wrote) flush_->committed();
  if (!is_damaged && !index_.oldest_dirty(flush_before_, 1).empty()) return true;
  flush_before_ = 0;
  unindexed_bytes_ = bytes_since_flush_;
  stats_.flushes += 1;
  return false;
}

// A page of the tables cannot be read: sessions on other pages must still be flushed, or the log
// after the watermark would grow without limit.
Result<> Writer::flush_around_damage() {
  for (const auto& [sid, good] : index_.unsaved_damage()) {
    const Result<> saved = transact([&] { return flush_->write_good(sid, good); });
    if (!saved && saved.error().code() != Code::damaged) return saved;
    if (saved) index_.damage_saved({{sid, good}});
  }
  TRY_VOID(flush_halves(index_.oldest_dirty(flush_before_, SIZE_MAX)));
  return transact([&] { return flush_->write_watermark(next_pos_); });
}

Result<> Writer::flush_halves(std::span<IndexedSession* const> states) {
  if (states.empty()) return {};
  const Result<> done = transact([&]() -> Result<> {
    for (const IndexedSession* state : states) TRY_VOID(flush_->write_session(*state));
    return {};
  });
  if (done) {
    index_.flushed({states.begin(), states.end()});
    return {};
  }
  if (done.error().code() != Code::damaged) return done;
  if (states.size() == 1) return quarantine(*states.front());
  TRY_VOID(flush_halves(states.first(states.size() / 2)));
  return flush_halves(states.subspan(states.size() / 2));
}

// Only a rebuild of the index can find what is not in the extents. If even this note cannot be
// written, the session stays dirty, and the next open reads the log from there.
Result<> Writer::quarantine(IndexedSession& state) {
  const Seq good = index_.mark_damaged(state.id, state.flushed);
  const Result<> noted = transact([&]() -> Result<> {
    TRY_VOID(flush_->write_head(state));
    return flush_->write_good(state.sid, good);
  });
  if (!noted && noted.error().code() != Code::damaged) return noted;
  if (!noted) return {};
  index_.damage_saved({{state.sid, good}});
  index_.flushed({&state});
  return {};
}

Result<> Writer::flush_all() {
  flush_before_ = next_pos_;
  bytes_since_flush_ = 0;
  while (TRY(flush_slice())) {}
  return {};
}

bool Writer::checkpoint(int mode) {
  if (failed_) return false;  // in the same step; it would sync once more (DISK1)
  int frames = 0;
  int moved = 0;
  FAILPOINT("checkpoint.before");
  const int result = sqlite3_wal_checkpoint_v2(db_.handle(), "main", mode, &frames, &moved);
  if ((result & 0xff) == SQLITE_BUSY || (result & 0xff) == SQLITE_LOCKED) return false;
  if ((result & 0xff) == SQLITE_FULL) {
    commits_.set_full();
    return false;
  }
  if (result != SQLITE_OK) {
    fail_forever(sqlite_error(result, "checkpoint"));
    return false;
  }
  FAILPOINT("checkpoint.after");
  stats_.checkpoints += 1;
  const bool complete = frames == moved;
  wal_frames_ = complete ? 0 : static_cast<std::uint64_t>(std::max(frames, 0));
  wal_frames_tried_ = wal_frames_;
  return complete;
}

bool Writer::idle_step() {
  std::optional<BackupJob> ended;
  Result<> outcome;
  bool worked = false;
  {
    const std::scoped_lock lock(write_mutex_);
    if (failed_ || (options_.is_there && !options_.is_there())) return false;
    if (backup_) {  // writes elsewhere: not delayed by a full disk
      const Result<bool> more = backup_->step(backup_pages_per_step);
      worked = true;
      if (!more) outcome = std::unexpected(more.error());
      if (!more || !*more) {
        ended.emplace(*std::move(backup_));
        backup_.reset();
      }
    } else if (commits_.is_full() && !commits_.probe_space()) {
      return false;
    } else if (idle_erase() || idle_scrub() || idle_search()) {
      worked = true;
    } else if (unindexed_bytes_ > options_.flush_idle_bytes || flush_before_ != 0) {
      if (flush_before_ == 0) {
        flush_before_ = next_pos_;
        bytes_since_flush_ = 0;
      }
      worked = flush_slice().has_value();
    } else if (wal_frames_ * page_bytes > options_.checkpoint_idle_bytes) {
      worked = checkpoint(SQLITE_CHECKPOINT_PASSIVE);
    }
  }
  if (ended) ended->finish(std::move(outcome));
  return worked && !failed_;
}

bool Writer::idle_erase() {
  if (!eraser_->behind()) return false;
  // Rows are deleted only before the index's watermark, so flush first.
  if (unindexed_bytes_ > 0 && !flush_all()) return false;
  const Result<> done = transact([&]() -> Result<> {
    TRY_VOID(eraser_->slice(*search_, next_pos_));
    return eraser_->behind() ? set_meta(db_, meta::scrub_due, 1) : Result<>();
  });
  if (!done || !eraser_->behind()) return false;
  scrub_due_ = true;
  return true;
}

// The WAL keeps old pages until it is emptied, which requires that no reader is active. Only then
// is the note deleted that makes the next open retry.
bool Writer::idle_scrub() {
  if (!scrub_due_) return false;
  // Commits wait for this: do not wait for a reader; retry later instead.
  sqlite3_busy_timeout(db_.handle(), 0);
  const bool is_empty = checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
  sqlite3_busy_timeout(db_.handle(), busy_wait_ms);
  if (!is_empty) return false;
  if (!transact([&] { return set_meta(db_, meta::scrub_due, 0); })) return false;
  scrub_due_ = false;
  return true;
}

bool Writer::idle_search() {
  if (search_stopped_) return false;
  if (!search_->behind(next_pos_)) {
    if (!search_->has_unwritten() || ++quiet_steps_ < quiet_steps_min) return false;
    quiet_steps_ = 0;
    return transact([&] { return search_->write_open(); }).has_value();
  }
  quiet_steps_ = 0;
  const Result<> done = transact([&] { return search_->slice(next_pos_, search_slice_bytes); });
  if (done || failed_) return done.has_value();
  if (!search_->reload()) search_stopped_ = true;
  if (done.error().code() == Code::disk_full) {
    commits_.set_full();
    return false;
  }
  // The search index is a projection: if it is damaged, it is dropped and rebuilt (S7).
  if (transact([&] { return search_->clear(); })) return true;
  search_stopped_ = true;
  return false;
}

Result<> Writer::shut_down() {
  const std::scoped_lock lock(write_mutex_);
  if (failed_) return fail(Code::storage_unknown, "the store has failed");
  TRY_VOID(flush_all());
  const bool is_empty = checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
  if (failed_) return fail(Code::storage_unknown, "the last checkpoint failed");
  if (is_empty) return {};
  const bool is_full = commits_.is_full();
  return fail(is_full ? Code::disk_full : Code::unavailable,
              std::string("commits are still in the -wal beside the journal, ") +
                  (is_full ? "because the disk is full" : "because readers are using them"));
}

Result<> Writer::backup(std::string path, Store::Done done) {
  const std::scoped_lock lock(write_mutex_);
  if (failed_) return fail(Code::storage_unknown, "the store has failed");
  if (backup_) return fail(Code::conflict, "another backup is running");
  backup_.emplace(TRY(BackupJob::start(db_,
                                       {.path = std::move(path),
                                        .vfs = options_.vfs,
                                        .flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE},
                                       std::move(done))));
  return {};
}

Result<> Writer::rebuild_search() {
  const std::scoped_lock lock(write_mutex_);
  const Result<> cleared = transact([&] { return search_->clear(); });
  if (!cleared && !failed_) TRY_VOID(search_->reload());
  return cleared;
}

}  // namespace perdure
