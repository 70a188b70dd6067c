#include "store_sqlite/writer.h"

#include <algorithm>

#include "base/check.h"
#include "store_sqlite/schema.h"
#include "store_sqlite/wal_tail.h"

namespace perdure {
namespace {

constexpr std::uint64_t refusals_per_probe = 64;

// Errors after which nobody knows what the disk holds. All others leave it as it was.
bool is_unknown(Code code) { return code == Code::storage_unknown || code == Code::unavailable; }

std::size_t weight(const Append& batch) {
  std::size_t bytes = 64;
  for (const std::string& record : batch.records) bytes += record.size() + 32;
  for (const Blob& blob : batch.blobs) bytes += blob.bytes.size();
  if (batch.snapshot) bytes += batch.snapshot->size();
  return bytes;
}

}  // namespace

Writer::Writer(const SqliteOptions& options, SessionIndex& index, OpenedFile file, Reserve reserve)
    : options_(options),
      index_(index),
      epoch_(file.epoch),
      log_id_(std::move(file.log_id)),
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
  writer->full_ = full;
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
    full_ = true;
  }
  return {};
}

int Writer::on_wal(void* self, sqlite3* /*db*/, const char* /*name*/, int frames) {
  static_cast<Writer*>(self)->wal_frames_ = static_cast<std::uint64_t>(frames);
  return SQLITE_OK;
}

void Writer::append(Append&& batch, Store::Done&& done) {
  PendingAppend pending{.batch = std::move(batch), .done = std::move(done)};
  if (Result<> checked = check_batch(pending.batch); !checked) {
    pending.refused = std::move(checked.error());
  }
  pending.bytes = weight(pending.batch);
  if (failed_) return;
  bool notify = false;
  {
    const std::scoped_lock lock(queue_mutex_);
    queue_.push_back(std::move(pending));
    notify = queue_.size() == 1 || queue_.size() == last_group_;
  }
  if (notify) queued_.notify_one();
}

bool Writer::wait_for_work(std::chrono::milliseconds timeout) {
  std::unique_lock lock(queue_mutex_);
  const bool ready = queued_.wait_for(lock, timeout, [&] { return !queue_.empty() || woken_; });
  if (!queue_.empty() && !woken_ && options_.gather_window.count() > 0) {
    queued_.wait_for(lock, options_.gather_window,
                     [&] { return queue_.size() >= last_group_ || woken_; });
  }
  woken_ = false;
  return ready;
}

void Writer::wake() {
  {
    const std::scoped_lock lock(queue_mutex_);
    woken_ = true;
  }
  queued_.notify_one();
}

void Writer::take_queued() {
  const std::scoped_lock lock(queue_mutex_);
  std::size_t bytes = 0;
  std::size_t count = 0;
  while (count < queue_.size() && (count == 0 || bytes < options_.group_bytes_max)) {
    bytes += queue_[count++].bytes;
  }
  last_group_ = count;
  if (count == queue_.size()) return group_.swap(queue_);
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
  group_.assign(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
}

bool Writer::step() {
  if (failed_) return false;
  take_queued();
  if (group_.empty()) return false;
  {
    const std::scoped_lock lock(write_mutex_);
    commit_group(group_);
  }
  if (failed_) return false;  // nobody is answered: nobody knows
  for (PendingAppend& pending : group_) {
    if (pending.refused) {
      pending.done(std::unexpected(*std::move(pending.refused)));
    } else {
      pending.done({});
    }
  }
  group_.clear();
  const std::scoped_lock lock(write_mutex_);
  maintain();
  return true;
}

void Writer::commit_group(std::vector<PendingAppend>& group) {
  if (options_.is_there && !options_.is_there()) {
    for (PendingAppend& pending : group) {
      if (pending.refused) continue;
      pending.refused.emplace(Code::disk_full,
                              "the journal's file is gone from its place; nothing was recorded");
    }
    return;
  }
  if (full_) refuse_while_full(group);
  std::vector<PendingAppend*> all;
  all.reserve(group.size());
  for (PendingAppend& pending : group) {
    if (!pending.refused) all.push_back(&pending);
  }
  if (all.empty() || failed_) return;
  const Result<> written = attempt(all);
  if (written || failed_) return;
  if (written.error().code() == Code::disk_full) {
    retry_essential(all, written.error());
  } else {
    retry_each(all);
  }
}

// On success each append of the group is durable or refused for a reason of its own.
Result<> Writer::attempt(std::span<PendingAppend*> group) {
  const Result<> written = transact([&] { return groups_->write(group, next_pos_); });
  if (!written) {
    if (!failed_) groups_->discarded();
    // What was refused inside is checked again when it is tried again.
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

void Writer::refuse_while_full(std::vector<PendingAppend>& group) {
  for (PendingAppend& pending : group) {
    if (pending.refused || pending.batch.essential) continue;
    refusals_ += 1;
    if (refusals_ % refusals_per_probe == 0 && probe_space()) return;
    if (failed_) return;
    pending.refused.emplace(Code::disk_full, "the journal's disk is full; nothing was recorded");
  }
}

void Writer::retry_essential(std::vector<PendingAppend*>& group, const Error& full) {
  full_ = true;
  std::vector<PendingAppend*> essential;
  for (PendingAppend* pending : group) {
    if (pending->batch.essential) {
      essential.push_back(pending);
    } else {
      pending->refused.emplace(Code::disk_full, "nothing was recorded: " + full.message());
    }
  }
  if (essential.empty()) return;
  const Result<bool> released = reserve_.release();
  if (!released) return fail_forever(released.error());
  const Result<> written = attempt(essential);
  if (written || failed_) return;
  if (written.error().code() != Code::disk_full) return retry_each(essential);
  for (PendingAppend* pending : essential) {
    pending->refused.emplace(Code::disk_full, "nothing was recorded: " + written.error().message());
  }
}

// A damaged page concerns whoever needs it: the others must not suffer from being in one group.
void Writer::retry_each(std::vector<PendingAppend*>& group) {
  for (PendingAppend* pending : group) {
    PendingAppend* one[] = {pending};
    const Result<> written = attempt(one);
    if (failed_) return;
    if (!written) pending->refused = written.error();
  }
}

bool Writer::probe_space() {
  const Result<> made = reserve_.make();
  if (made) {
    full_ = false;
    return true;
  }
  if (made.error().code() != Code::disk_full) fail_forever(made.error());
  return false;
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
    if (!state) return fail(Code::not_found, "there is no session " + session.text());
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

Result<> Writer::clear_damage(SessionId session) {
  const std::scoped_lock lock(write_mutex_);
  return transact([&]() -> Result<> {
    Statement load = TRY(db_.prepare(load_session_sql));
    const std::optional<IndexedSession> state = TRY(load_session(load, session));
    if (!state) return {};
    Statement clear = TRY(db_.prepare("UPDATE heads SET good = NULL WHERE sid = ?"));
    TRY_VOID(clear.bind_u64(1, state->sid).run());
    index_.clear_damage(session);
    return {};
  });
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
  return !failed_ && (!full_ || probe_space());
}

SqliteStats Writer::stats() {
  const std::scoped_lock lock(write_mutex_);
  SqliteStats out = stats_;
  out.unindexed_bytes = unindexed_bytes_;
  out.wal_bytes = wal_frames_ * (page_bytes + 24);
  out.disk_full = full_;
  return out;
}

}  // namespace perdure
