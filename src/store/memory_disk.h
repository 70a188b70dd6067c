// The disk under a MemoryStore. It outlives the store, as a disk outlives a daemon: what was synced
// is on it for good, the group that was written but not synced is decided by crash(). Everything
// is kept in ordered containers, so equal calls give equal states. For tests and the simulator.
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

// What becomes of the group that was written but not synced.
enum class CrashChoice { keep_tail, lose_tail };

class MemoryDisk {
 public:
  explicit MemoryDisk(std::string log_id = "memory") : log_id_(std::move(log_id)) {}
  MemoryDisk(const MemoryDisk&) = delete;
  MemoryDisk& operator=(const MemoryDisk&) = delete;

  // The machine stops: the unsynced group stays or goes as a whole, and every store that is open
  // on this disk is dead from now on (its steps do nothing, no Done of it runs).
  void crash(CrashChoice choice);

  // One of several daemons stops, by the epoch of its opening: the same for what it had under way,
  // and the others go on.
  void crash_one(std::uint64_t epoch, CrashChoice choice);

  // Whether a group is written and not yet synced, so that crash() has something to decide.
  bool has_unsynced_tail() const { return !tail_.empty(); }

  // Damages a synced record: reads that start at it or behind give `damaged`, appends to its
  // session too; other sessions are not affected. False when there is no such record.
  bool flip_bit(SessionId session, Seq seq);

  // Damages the stored snapshot, which is only a hint. False when there is none.
  bool flip_snapshot_bit(SessionId session);

  // Loses the synced records behind `last` without a trace in the head, as a commit that decayed
  // does. False when there are none.
  bool lose_behind(SessionId session, Seq last);

  // The bytes of a synced record, for checkers that must not copy; nothing for a number beyond the
  // head. Shows damaged records as they are. Valid until the disk is changed.
  std::optional<std::string_view> peek(SessionId session, Seq seq) const;

  // What is synced of a session, for checkers too: its head (0: none), frame cursor and effects.
  Seq head(SessionId session) const;
  std::optional<FrameCursor> cursor(SessionId session) const;
  std::size_t outbox_size(SessionId session) const;
  bool is_open(SessionId session) const { return open_.contains(session); }
  bool has_open_sessions() const { return !open_.empty(); }
  // The node that the session was leased to last; empty: none.
  std::string owner(SessionId session) const;

  // The number of groups synced so far.
  std::uint64_t groups_synced() const { return groups_synced_; }

 private:
  friend class MemoryStore;

  struct Record {
    std::string bytes;
    std::uint64_t position = 0;  // in the order of all commits
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

  // Of a disk that several daemons share.
  struct Node {
    std::uint64_t epoch = 0;  // of its last opening
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
    std::size_t sessions = 0;  // that have it; it goes with the last of them
  };

  const Session* find(SessionId session) const;
  // Makes the tail durable. All of it, or, when a crash came before, none.
  void sync();
  void apply(Append batch);
  void apply_records(Session& session, Append& batch);
  void remove(SessionId session);
  Result<> redact(Redaction redaction);

  std::string log_id_;
  std::uint64_t epoch_ = 0;  // of the last opening, or of a lease that was taken since
  std::uint64_t life_ = 0;   // counts crashes
  std::uint64_t position_ = 0;
  std::uint64_t groups_synced_ = 0;
  std::map<SessionId, Session> sessions_;
  std::set<SessionId> open_;
  std::map<std::string, StoredAnswer, std::less<>> answers_;
  std::map<std::string, SessionId, std::less<>> refs_;
  std::map<Hash, StoredBlob> blobs_;
  std::vector<Append> tail_;      // one group, validated
  std::uint64_t tail_epoch_ = 0;  // whose that is
  std::set<std::uint64_t> crashed_;
  std::map<std::string, Node, std::less<>> nodes_;
  std::map<SessionId, LeaseRow> leases_;
};

}  // namespace perdure
