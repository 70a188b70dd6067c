// A Store in memory, deterministic and fast, that behaves like an engine on a disk: appends queue,
// step() commits one group, and the caller chooses when a commit fails and how. The one rule: what
// reads show is what a crash cannot take away.
//
// Single-threaded: append(), step() and the reads are called by one thread. A Done may append and
// read; it must not step or destroy the store.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/memory_disk.h"
#include "store/store.h"
#include "wire/search_text.h"

namespace perdure {

// What happens to the next group that step() handles.
enum class CommitFault {
  none,
  // The group is written, its sync fails: no Done runs, on_fatal runs once, the store is dead.
  // MemoryDisk::crash() decides whether the group is there afterwards.
  eio_unknown,
  // Batches that are not essential are refused with disk_full; essential ones are committed.
  disk_full,
  // All batches are refused: the server of a store that has one stayed away.
  unavailable,
  // The group is written, its sync is still under way: no Done runs yet. The next step() ends the
  // sync (it may be given eio_unknown); a crash before that decides the group's fate.
  slow_sync,
};

struct MemoryOptions {
  // Called once, by the step that hits eio_unknown. The process must end.
  std::function<void(const Error&)> on_fatal;
  // What a record gives to the texts that search() looks into; without it, its bytes are one.
  std::function<std::optional<SearchPiece>(std::string_view record)> search_piece;

  // Given: one of several daemons on this disk, under this name. All of them have one, or none.
  std::string node = {};
  std::string home = {};
  std::int64_t lease_ms = 0;                  // silent for longer: others may take what is its own
  std::function<std::int64_t()> now_ms = {};  // the disk's clock
};

class MemoryStore final : public Store {
 public:
  // Recovers what is on the disk, with a higher epoch than every opening before. An unsynced group
  // left by a store that merely ended (no crash() was called) is kept, as a page cache keeps it.
  // The disk must outlive the store. Another store that is open on this disk becomes a stale owner.
  static std::unique_ptr<MemoryStore> open(MemoryDisk& disk, MemoryOptions options = {});

  // What is queued or under way is abandoned as by kill -9: its Dones never run.
  ~MemoryStore() override = default;

  // Sets the fault for the next step that commits or syncs a group; then it is none again.
  void inject(CommitFault fault) { fault_ = fault; }
  // As when a server is away, at one of the moments at which it is asked.
  enum class Away {
    no,
    when_listed,
    when_paged,  // a list from the first session on is given, what lies behind one is not
    when_owned,
    when_offered,
    when_read,
    when_asked_for_a_key
  };
  void set_away(Away away) { away_ = away; }

  // Ends the sync that is under way, or else commits everything queued as one group, and runs the
  // Dones in the order of the appends. True when there was something to do.
  bool step();

  bool is_idle() const { return queue_.empty() && in_flight_.empty(); }
  // After eio_unknown, and after a crash of the disk or of this daemon alone.
  bool is_dead() const { return dead_ || life_ != disk_.life_ || disk_.crashed_.contains(epoch_); }
  // One of several daemons gives a sign of life.
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
  // Durable at once. `unavailable` while a sync of that session is under way.
  Result<> remove(SessionId session) override;
  // Durable at once.
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
  // What the batches before in the same group change for those behind them.
  struct GroupView {
    std::map<SessionId, Seq> heads;
    std::map<SessionId, std::uint64_t> outbox_last;
    std::set<std::string, std::less<>> answer_keys;
    std::set<Hash> blobs;
  };

  MemoryStore(MemoryDisk& disk, MemoryOptions options);

  // Whether a later opening owns the disk (S8): then every batch is refused.
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
