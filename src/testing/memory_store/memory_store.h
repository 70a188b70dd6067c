// A Store in memory, deterministic and fast, that behaves like an engine on a disk: appends queue,
// step() commits one group, and the caller chooses when and how a commit fails. Reads only show
// what survives a crash.  Single-threaded: one thread calls append(), step() and the reads. A Done
// may append and read; it must not step or destroy the store.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/wire/search_text.h"
#include "store/store.h"
#include "testing/memory_store/memory_disk.h"

namespace perdure {

// The outcome of the next group that step() handles.
enum class CommitFault {
  none,
  // The group is written but its sync fails: no Done runs, on_fatal runs once, the store is dead.
  // MemoryDisk::crash() decides whether the group survives.
  eio_unknown,
  // Batches that are not essential fail with disk_full; essential ones are committed.
  disk_full,
  // All batches fail: the server of a server-based store is unreachable.
  unavailable,
  // The group is written and its sync is in progress: no Done runs yet. The next step() ends the
  // sync (it may be given eio_unknown); a crash before that decides the group's fate.
  slow_sync,
};

struct MemoryOptions {
  // Called once, by the step that hits eio_unknown. The process must exit.
  std::function<void(const Error&)> on_fatal;
  // Extracts the text that search() looks into; null: the record's bytes are the text.
  std::function<std::optional<SearchPiece>(std::string_view record)> search_piece;

  // If set: the name of one of several daemons on this disk. All of them have one, or none.
  std::string node = {};
  std::string home = {};
  std::int64_t lease_ms = 0;                  // after this silence others may take its sessions
  std::function<std::int64_t()> now_ms = {};  // the disk's clock
};

class MemoryStore final : public Store {
 public:
  // Recovers the disk's contents, with a higher epoch than every earlier opening. An unsynced group
  // survives if its store merely ended (no crash()), as in a page cache. The disk must outlive the
  // store. Another store open on this disk becomes a stale owner.
  static std::unique_ptr<MemoryStore> open(MemoryDisk& disk, MemoryOptions options = {});

  // Abandons everything queued or in flight, like kill -9: its Dones never run.
  ~MemoryStore() override = default;

  // Sets the fault for the next step that commits or syncs a group; afterwards it is none again.
  void inject(CommitFault fault) { fault_ = fault; }
  // Simulates a server that is unreachable at one of these calls.
  enum class Away {
    no,
    when_listed,
    when_paged,  // only list calls from the first session on succeed
    when_owned,
    when_offered,
    when_read,
    when_asked_for_a_key
  };
  void set_away(Away away) { away_ = away; }

  // Ends the sync in progress; otherwise commits everything queued as one group. Runs the Dones in
  // append order. Returns true if there was something to do.
  bool step();

  bool is_idle() const { return queue_.empty() && in_flight_.empty(); }
  // True after eio_unknown, and after a crash of the disk or of only this daemon.
  bool is_dead() const { return dead_ || life_ != disk_.life_ || disk_.crashed_.contains(epoch_); }
  // Sign of life of one of several daemons.
  void beat();

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
  // A plain, case-sensitive substring scan over all texts.
  Result<std::vector<SearchHit>> search(const SearchAsk& ask) override;
  // Durable when it returns. `unavailable` while a sync of that session is in progress.
  Result<> remove(SessionId session) override;
  // Durable when it returns.
  Result<> redact(Redaction redaction) override;
  bool is_shared() const override { return !options_.node.empty(); }
  Result<Lease> own(SessionId session) override;
  Result<std::vector<SessionId>> orphans(std::size_t limit) override;
  Result<std::vector<SessionId>> lost(std::span<const OwnedSession> owned) override;
  Result<> offer(const OwnedSession& owned, const std::string& home) override;
  std::uint64_t epoch() const override { return epoch_; }
  const std::string& log_id() const override { return disk_.log_id_; }

 private:
  struct Queued {
    Append batch;
    Done done;
  };
  struct InFlight {
    Done done;
    Result<> result;
  };
  // The changes that earlier batches of a group make for later ones.
  struct GroupView {
    std::map<SessionId, Seq> heads;
    std::map<SessionId, std::uint64_t> outbox_last;
    std::set<std::string, std::less<>> answer_keys;
    std::set<Hash> blobs;
  };

  MemoryStore(MemoryDisk& disk, MemoryOptions options);

  // Whether a later opening owns the disk (S8): then every batch fails.
  bool is_fenced() const;
  bool is_silent(const MemoryDisk::LeaseRow& lease) const;
  bool may_take(SessionId session) const;
  bool holds(const OwnedSession& owned) const;
  Result<> check_owner(const Append& batch) const;
  void write_group(CommitFault fault);
  void end_sync(CommitFault fault);
  std::vector<TextsInMemory::Text> texts_of(const MemoryDisk::Session& session) const;
  Result<> validate(const Append& batch, CommitFault fault, const GroupView& group) const;
  Result<> validate_rows(const Append& batch, const GroupView& group) const;

  MemoryDisk& disk_;
  MemoryOptions options_;
  std::uint64_t epoch_;
  std::uint64_t life_;
  CommitFault fault_ = CommitFault::none;
  Away away_ = Away::no;
  bool dead_ = false;
  std::vector<Queued> queue_;
  std::vector<InFlight> in_flight_;
};

}  // namespace perdure
