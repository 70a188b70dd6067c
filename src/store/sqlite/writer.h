// The write side: the append queue, the group commit, and the policies around it: a full disk,
// errors with an unknown outcome, when to flush the index and checkpoint the WAL. Everything that
// writes holds write_mutex_; nothing else touches the connection.
//
// After an error with an unknown outcome nothing is ever written or synced again: after a failed
// fsync, the next one may report success for data that is lost (DISK1).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/queue/group_commit.h"
#include "store/sqlite/backup_job.h"
#include "store/sqlite/eraser.h"
#include "store/sqlite/group_writer.h"
#include "store/sqlite/index/index_flush.h"
#include "store/sqlite/index/search.h"
#include "store/sqlite/index/session_index.h"
#include "store/sqlite/log/reserve.h"
#include "store/sqlite/recovery.h"
#include "store/sqlite/sqlite_db.h"
#include "store/sqlite/sqlite_store.h"

namespace perdure {

class Writer final : public GroupTarget {
 public:
  static Result<std::unique_ptr<Writer>> open(const SqliteOptions& options, SessionIndex& index);

  // See SqliteStore for these.
  void append(Append&& batch, Store::Done&& done);
  bool step();
  bool idle_step();
  bool wait_for_work(std::chrono::milliseconds timeout);
  void wake();
  Result<> shut_down();
  Result<> backup(std::string path, Store::Done done);
  Result<> rebuild_search();
  Result<> rebuild_index();
  bool retry_space();
  Result<> forget_answers(Timestamp now);
  Result<> remove(SessionId session);
  Result<> redact(const Redaction& redaction);
  // The WAL may still hold erased bytes because a reader uses it.
  bool is_scrub_due() const { return scrub_due_; }
  SqliteStats stats();

  // verify() found the session's records intact: ends its quarantine. Returns false and keeps it if
  // the index shows that there were more records.
  Result<bool> clear_damage(SessionId session);

  std::uint64_t epoch() const { return epoch_; }
  const std::string& log_id() const { return log_id_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Writer(const SqliteOptions& options, SessionIndex& index, OpenedFile file, Reserve reserve);
  Result<> prepare();

  Result<> write_group(std::span<PendingAppend* const> group) override;
  Result<> make_reserve() override { return reserve_.make(); }
  Result<> release_reserve() override;

  // Runs body() in a transaction. A clean error is rolled back and returned; any other is fatal.
  template <class Body>
  Result<> transact(Body&& body);
  Result<> roll_back(Error error);
  void fail_forever(const Error& error) override;
  bool has_failed() const override { return failed_; }

  void maintain();
  bool flush_due();
  Result<bool> flush_slice();
  Result<> flush_around_damage();
  Result<> flush_halves(std::span<IndexedSession* const> states);
  Result<> quarantine(IndexedSession& state);
  Result<> flush_all();
  bool checkpoint(int mode);
  bool idle_erase();
  bool idle_search();
  bool idle_scrub();
  static int on_wal(void* self, sqlite3* db, const char* name, int frames);

  const SqliteOptions options_;
  SessionIndex& index_;
  const std::uint64_t epoch_;
  const std::string log_id_;
  std::vector<std::string> notes_;

  AppendQueue queue_;

  std::mutex write_mutex_;
  Db db_;
  Statement begin_, commit_, rollback_;
  Reserve reserve_;
  std::optional<GroupWriter> groups_;
  std::optional<IndexFlush> flush_;
  std::optional<SearchProjection> search_;
  std::optional<Eraser> eraser_;
  std::optional<BackupJob> backup_;

  std::uint64_t next_pos_ = 1;
  std::uint64_t unindexed_bytes_ = 0;
  std::uint64_t flush_before_ = 0;  // a flush continues until sessions dirty before this are done
  std::uint64_t bytes_since_flush_ = 0;  // written since that flush began
  std::uint64_t wal_frames_ = 0;
  std::uint64_t wal_frames_tried_ = 0;   // at the last checkpoint that could not complete
  std::atomic<bool> scrub_due_ = false;  // the WAL still holds redacted bytes
  int quiet_steps_ = 0;                  // idle steps since the search index had work
  bool search_stopped_ = false;          // its watermark is unreadable; a restart retries
  GroupCommit commits_{*this};
  std::atomic<bool> failed_ = false;
  SqliteStats stats_;
};

template <class Body>
Result<> Writer::transact(Body&& body) {
  if (failed_) return fail(Code::storage_unknown, "the store has failed");
  Result<> result = begin_.run();
  if (result) result = std::forward<Body>(body)();
  if (result) result = commit_.run();
  if (result) return {};
  return roll_back(std::move(result.error()));
}

}  // namespace perdure
