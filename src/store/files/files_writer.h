// The writer of a files store: commits appends in groups to the log, fills the session files from
// it, and saves sessions so that the log can be cut. Everything that changes the disk holds
// write_mutex_; readers' state changes under the contents' own lock, after the commit.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/files/backup_job.h"
#include "store/files/contents.h"
#include "store/files/files_store.h"
#include "store/files/log/commit_log.h"
#include "store/queue/group_commit.h"

namespace perdure {

class FilesWriter final : public GroupTarget {
 public:
  static Result<std::unique_ptr<FilesWriter>> open(FilesOptions options);

  // See FilesStore for these.
  void append(Append&& batch, Store::Done&& done);
  bool step();
  bool idle_step();
  bool wait_for_work(std::chrono::milliseconds timeout);
  void wake();
  Result<> shut_down();
  Result<> backup(std::string path, Store::Done done);
  Result<> forget_answers(Timestamp now);
  Result<> remove(SessionId session);
  Result<> redact(const Redaction& redaction);
  bool retry_space();
  EngineTotals totals();

  // The result of verify() for one session: rebuilds its index if that helps, and begins or ends
  // its quarantine.
  struct Verdict {
    std::optional<Seq> good;  // absent: intact
    std::uint64_t records = 0;
  };
  Result<Verdict> judge(SessionId session);
  Result<std::vector<SearchHit>> search(const SearchAsk& ask);
  // The runtime's snapshot from the session's file; absent if none is readable.
  Result<std::optional<StoredSnapshot>> saved_snapshot(SessionId session);

  Contents& contents() { return contents_; }
  RecordFiles& records() { return records_; }
  const FilesOptions& options() const { return options_; }
  std::uint64_t epoch() const { return epoch_; }
  const std::string& log_id() const { return log_id_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  // The changes that earlier batches of a group make for later ones.
  struct Staged {
    std::map<SessionId, Seq> heads;
    std::set<std::string, std::less<>> keys;
    std::set<Hash> given;  // their blobs
    std::set<Hash> blobs;  // the new ones among them, whose files were written
  };

  explicit FilesWriter(FilesOptions options);
  Result<> recover();
  Result<> open_identity();
  Result<> load_sessions();
  Result<> load_session(SessionId session);
  Result<> load_answers();
  Result<> mend_answers();
  Result<LogScan> replay();
  Result<> replay_change(LoggedChange change, const LoggedGroup& group);
  Result<> adopt_strays();
  Result<> collect_blobs();

  Result<> write_group(std::span<PendingAppend* const> group) override;
  Result<> admit(const Append& batch, const Staged& staged);
  Result<> write_blobs(const std::vector<PendingAppend*>& group, Staged& staged);
  Result<> make_reserve() override;
  Result<> release_reserve() override;
  Contents::Committed committed(std::uint64_t group) const;

  // True for errors that leave the store unchanged; any other is fatal.
  bool survives(const Error& error);
  void fail_forever(const Error& error) override;
  bool has_failed() const override { return failed_; }

  void maintain();
  Result<> maintain_log();
  Result<> fill(SessionId session);
  Result<bool> fill_all();
  Result<> save(const std::vector<SessionId>& sessions);
  Result<bool> save_old();
  Result<bool> save_quiet();
  Result<> save_answers();
  Result<> rewrite_answers();
  Result<> save_everything();
  bool has_unsaved_before(std::uint64_t segment) const;
  bool goes_on(const Result<>& result);
  Result<> drop_log();
  Result<> write_views(const StoredSession& session);
  Result<Verdict> end_quarantine(SessionId session, Verdict verdict);
  bool step_backup();
  Result<bool> backup_slice();
  Result<> apply_redaction(const Redaction& redaction, const Contents::Committed& at);
  // Call under the contents' lock.
  void drop_blobs(const Redaction& redaction, const Contents::Committed& at);
  Result<> remove_blobs(const std::vector<Hash>& blobs);
  Result<bool> has_file_of(const Blob& blob);

  const FilesOptions options_;
  JournalDisk& disk_;
  Contents contents_;
  RecordFiles records_;
  std::optional<CommitLog> log_;
  std::uint64_t epoch_ = 0;
  std::string log_id_;
  std::vector<std::string> notes_;
  std::set<SessionId> removed_;    // per the commit log: leftover files are expected
  std::set<Hash> redacted_blobs_;  // in the commit log, until it has been replayed
  bool has_lost_ = false;          // see StoreIdentity

  AppendQueue queue_;

  std::mutex write_mutex_;
  std::optional<FilesBackup> backup_;
  std::uint64_t answers_bytes_ = 0;  // of answers.jsonl
  std::uint64_t answers_dead_ = 0;   // its lines whose answers were deleted
  std::uint64_t answers_torn_ = 0;   // its lines that were unreadable at opening
  std::uint64_t idle_steps_ = 0;
  bool reserve_made_ = false;
  GroupCommit commits_{*this};
  std::atomic<bool> failed_ = false;
  EngineTotals totals_;
};

std::string blob_file(const Hash& hash);

}  // namespace perdure
