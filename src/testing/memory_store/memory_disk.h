// The disk under a MemoryStore. It outlives the store, as a disk outlives a daemon: synced data is
// permanent, and crash() decides about a group that was written but not synced. Containers are
// ordered, so equal calls give equal states. For tests and the simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace perdure {

// The fate of the group that was written but not synced.
enum class CrashChoice { keep_tail, lose_tail };

class MemoryDisk {
 public:
  explicit MemoryDisk(std::string log_id = "memory") : log_id_(std::move(log_id)) {}
  MemoryDisk(const MemoryDisk&) = delete;
  MemoryDisk& operator=(const MemoryDisk&) = delete;

  // The machine stops: the unsynced group survives or is lost as a whole. Every store that is open
  // on this disk is dead afterwards (its steps do nothing and no Done of it runs).
  void crash(CrashChoice choice);

  // One of several daemons stops, identified by the epoch of its opening: the same for its unsynced
  // group; the other daemons continue.
  void crash_one(std::uint64_t epoch, CrashChoice choice);

  // Whether a group is written and not yet synced, so that crash() has a choice.
  bool has_unsynced_tail() const { return !tail_.empty(); }

  // Damages a synced record: reads that start at it or later return `damaged`, as do appends to its
  // session; other sessions are not affected. Returns false if the record does not exist.
  bool flip_bit(SessionId session, Seq seq);

  // Damages the stored snapshot, which is only a hint. Returns false if there is none.
  bool flip_snapshot_bit(SessionId session);

  // Loses the synced records after `last` and lowers the head, like a commit lost to bit rot.
  // Returns false if there are none.
  bool lose_behind(SessionId session, Seq last);

  // The bytes of a synced record, for checkers that must not copy; absent beyond the head. Damaged
  // records are returned as they are. Valid until the disk changes.
  std::optional<std::string_view> peek(SessionId session, Seq seq) const;

  // A session's synced state, also for checkers: its head (0: none), frame cursor and effects.
  Seq head(SessionId session) const;
  std::optional<FrameCursor> cursor(SessionId session) const;
  std::size_t outbox_size(SessionId session) const;
  bool is_open(SessionId session) const { return open_.contains(session); }
  bool has_open_sessions() const { return !open_.empty(); }
  // The node that leased the session last; empty: none.
  std::string owner(SessionId session) const;

  // The number of groups synced so far.
  std::uint64_t groups_synced() const { return groups_synced_; }

 private:
  friend class MemoryStore;

  struct Record {
    std::string bytes;
    std::uint64_t position = 0;  // among all commits
  };
  struct Session {
    std::vector<Record> records;
    std::optional<FrameCursor> cursor;
    std::map<std::uint64_t, std::string> outbox;
    std::uint64_t outbox_last = 0;
    std::set<std::string> refs;
    std::set<Hash> blobs;
    std::optional<StoredSnapshot> snapshot;
    Listing listing;
    std::optional<Seq> damaged_at;  // the first damaged record

    Seq head() const { return records.size(); }
  };

  // A daemon of a shared disk.
  struct Node {
    std::uint64_t epoch = 0;  // of its latest opening
    std::string home;
    std::int64_t heard_ms = 0;
  };
  struct LeaseRow {
    std::string node;
    std::uint64_t epoch = 0;
    std::string offered;  // to daemons of this home
  };

  struct StoredBlob {
    std::string bytes;
    std::size_t sessions = 0;  // that refer to it; it is deleted with the last of them
  };

  const Session* find(SessionId session) const;
  // Makes the whole tail durable, or nothing if a crash came first.
  void sync();
  void apply(Append batch);
  void apply_records(Session& session, Append& batch);
  void remove(SessionId session);
  Result<> redact(Redaction redaction);

  std::string log_id_;
  std::uint64_t epoch_ = 0;  // of the latest opening, or of a lease taken since
  std::uint64_t life_ = 0;   // counts crashes
  std::uint64_t position_ = 0;
  std::uint64_t groups_synced_ = 0;
  std::map<SessionId, Session> sessions_;
  std::set<SessionId> open_;
  std::map<std::string, StoredAnswer, std::less<>> answers_;
  std::map<std::string, SessionId, std::less<>> refs_;
  std::map<Hash, StoredBlob> blobs_;
  std::vector<Append> tail_;      // one group, validated
  std::uint64_t tail_epoch_ = 0;  // the epoch of its writer
  std::set<std::uint64_t> crashed_;
  std::map<std::string, Node, std::less<>> nodes_;
  std::map<SessionId, LeaseRow> leases_;
};

}  // namespace perdure
