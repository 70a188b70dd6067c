#include "store/sqlite/writer.h"

#include <algorithm>

#include "base/check.h"
#include "store/sqlite/log/wal_tail.h"
#include "store/sqlite/schema.h"

namespace perdure {
namespace {

// Errors after which the disk's contents are unknown. All others leave it unchanged.
bool is_unknown(Code code) { return code == Code::storage_unknown || code == Code::unavailable; }

}  // namespace

Writer::Writer(const SqliteOptions& options, SessionIndex& index, OpenedFile file, Reserve reserve)
    : options_(options),
      index_(index),
      epoch_(file.epoch),
      log_id_(std::move(file.log_id)),
      queue_({.group_bytes_max = options.group_bytes_max}),
      db_(std::move(file.db)),
      reserve_(std::move(reserve)) {}

Result<std::unique_ptr<Writer>> Writer::open(const SqliteOptions& options, SessionIndex& index) {
  sqlite3_vfs* vfs = TRY(find_vfs(options.vfs));
  Reserve reserve({vfs, options.path + ".reserve", VfsFileKind::other}, options.reserve_bytes);
  Result<OpenedFile> file = open_file(options);
  bool full = false;
  if (!file && file.error().code() == Code::disk_full && TRY(reserve.release())) {
    full = true;
    file = open_file(options);
  }
  if (!file) return std::unexpected(std::move(file.error()).with_context("open the journal"));
  std::unique_ptr<Writer> writer(new Writer(options, index, *std::move(file), std::move(reserve)));
  if (full) writer->commits_.set_full();
  TRY_VOID(writer->prepare());
  return writer;
}

Result<> Writer::prepare() {
  sqlite3_wal_hook(db_.handle(), &Writer::on_wal, this);
  begin_ = TRY(db_.prepare("BEGIN IMMEDIATE"));
  commit_ = TRY(db_.prepare("COMMIT"));
  rollback_ = TRY(db_.prepare("ROLLBACK"));
  groups_.emplace(TRY(GroupWriter::create(db_, index_, epoch_)));
  flush_.emplace(TRY(IndexFlush::create(db_, index_)));
  search_.emplace(TRY(SearchProjection::create(db_, options_.search_piece)));
  eraser_.emplace(TRY(Eraser::create(db_)));
  const auto indexed = static_cast<std::uint64_t>(TRY(meta_int(db_, meta::indexed)));
  TailScan scan = TRY(scan_tail(db_, index_, {.from = indexed}));
  scrub_due_ = TRY(meta_int(db_, meta::scrub_due)) != 0;
  next_pos_ = scan.next_pos;
  unindexed_bytes_ = scan.bytes;
  notes_ = std::move(scan.notes);
  if (const Result<> made = reserve_.make(); !made) {
    if (made.error().code() != Code::disk_full) return made;
    commits_.set_full();
  }
  return {};
}

int Writer::on_wal(void* self, sqlite3* /*db*/, const char* /*name*/, int frames) {
  static_cast<Writer*>(self)->wal_frames_ = static_cast<std::uint64_t>(frames);
  return SQLITE_OK;
}

void Writer::append(Append&& batch, Store::Done&& done) {
  if (!failed_) queue_.push(std::move(batch), std::move(done));
}

bool Writer::wait_for_work(std::chrono::milliseconds timeout) { return queue_.wait(timeout); }

void Writer::wake() { queue_.wake(); }

bool Writer::step() {
  if (failed_) return false;
  std::vector<PendingAppend>& group = queue_.take();
  if (group.empty()) return false;
  {
    const std::scoped_lock lock(write_mutex_);
    const bool is_gone = options_.is_there && !options_.is_there();
    is_gone ? refuse_gone(group) : commits_.run(group);
  }
  if (failed_) return false;  // the outcome is unknown, so nothing is answered
  queue_.answer();
  const std::scoped_lock lock(write_mutex_);
  maintain();
  return true;
}

Result<> Writer::release_reserve() {
  TRY(reserve_.release());
  return {};
}

Result<> Writer::write_group(std::span<PendingAppend* const> group) {
  const Result<> written = transact([&] { return groups_->write(group, next_pos_); });
  if (!written) {
    if (!failed_) groups_->discarded();
    // A retry checks again what this attempt refused.
    for (PendingAppend* pending : group) pending->refused.reset();
    return written;
  }
  next_pos_ = groups_->published();
  unindexed_bytes_ += groups_->block_bytes();
  bytes_since_flush_ += groups_->block_bytes();
  stats_.commits += 1;
  stats_.appends += group.size();
  return {};
}

Result<> Writer::roll_back(Error error) {
  if (is_unknown(error.code())) {
    fail_forever(error);
  } else if (db_.in_transaction()) {
    if (const Result<> done = rollback_.run(); !done) fail_forever(done.error());
  }
  if (error.code() == Code::disk_full && !failed_) {
    if (const Result<> cut = cut_wal_tail(db_); !cut) fail_forever(cut.error());
  }
  return std::unexpected(std::move(error));
}

void Writer::fail_forever(const Error& error) {
  if (failed_.exchange(true)) return;
  stats_.failed = true;
  if (options_.on_fatal) options_.on_fatal(Error(error).with_context("the journal"));
}

Result<> Writer::remove(SessionId session) {
  const std::scoped_lock lock(write_mutex_);
  const Result<> removed = transact([&]() -> Result<> {
    SessionIndex::Pinned pinned = index_.pin(session, 0);
    std::optional<IndexedSession> state;
    if (pinned.state != nullptr) {
      state = *pinned.state;
    } else {
      Statement load = TRY(db_.prepare(load_session_sql));
      state = TRY(load_session(load, session));
    }
    if (!state) return fail(Code::not_found, "no such session: " + session.text());
    TRY_VOID(flush_->write_session(*state));
    return eraser_->doom(state->sid);
  });
  if (removed) {
    index_.erase(session);
  } else {
    index_.unpin(session);
  }
  return removed;
}

Result<bool> Writer::clear_damage(SessionId session) {
  const std::scoped_lock lock(write_mutex_);
  bool is_free = true;
  TRY_VOID(transact([&]() -> Result<> {
    Statement load = TRY(db_.prepare(load_session_sql));
    std::optional<IndexedSession> state = TRY(load_session(load, session));
    if (!state) return {};
    Statement clear = TRY(db_.prepare("UPDATE heads SET good = NULL WHERE sid = ?"));
    TRY_VOID(clear.bind_u64(1, state->sid).run());
    state = TRY(load_session(load, session));
    is_free = !state->good;
    return {};
  }));
  if (is_free) index_.clear_damage(session);
  return is_free;
}

Result<> Writer::forget_answers(Timestamp now) {
  const std::scoped_lock lock(write_mutex_);
  if (failed_ || (options_.is_there && !options_.is_there())) return {};
  Statement any = TRY(db_.prepare("SELECT 1 FROM answers WHERE expires < ? LIMIT 1"));
  if (!TRY(any.bind(1, now.ms).step())) return {};
  any.reset();
  return transact([&]() -> Result<> {
    Statement forget = TRY(db_.prepare("DELETE FROM answers WHERE expires < ?"));
    return forget.bind(1, now.ms).run();
  });
}

bool Writer::retry_space() {
  const std::scoped_lock lock(write_mutex_);
  return !failed_ && (!commits_.is_full() || commits_.probe_space());
}

SqliteStats Writer::stats() {
  const std::scoped_lock lock(write_mutex_);
  SqliteStats out = stats_;
  out.unindexed_bytes = unindexed_bytes_;
  out.wal_bytes = wal_frames_ * (page_bytes + 24);
  out.disk_full = commits_.is_full();
  return out;
}

}  // namespace perdure
