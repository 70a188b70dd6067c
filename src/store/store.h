// The one interface to durable storage. A store keeps bytes: it knows sessions, sequence numbers
// and atomic batches, but not the meaning of records. Every engine passes the conformance suite in
// testing/store/store_conformance.h.
//
// Threads: append() and the reads may be called from any thread. The thread that runs the engine's
// writer step does the work; it runs each Done exactly once, in append order per session.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/hash.h"
#include "base/id.h"
#include "base/result.h"
#include "base/time.h"

namespace perdure {

// A number of a record within its session: 1, 2, 3 …; 0 is "before the first".
using Seq = std::uint64_t;

// An effect waiting to run. Numbers grow within a session and are never reused.
struct OutboxRow {
  std::uint64_t number = 0;
  std::string payload;
  bool operator==(const OutboxRow&) const = default;
};

// The last frame of an execution whose consequences are journalled.
struct FrameCursor {
  ExecId exec;
  std::uint64_t frame = 0;
  bool operator==(const FrameCursor&) const = default;
};

// The answer given to a request with an idempotency key. `key` is unique in the whole store.
struct StoredAnswer {
  std::string key;
  Hash body;  // of the request, to tell a retry from a key reuse
  std::string answer;
  std::optional<Timestamp> expires;  // absent: never expires
  bool operator==(const StoredAnswer&) const = default;
};

// A session's entry in the session list; a projection, replaced as a whole.
struct Listing {
  bool open = false;  // reconcile must look at it after a restart
  bool archived = false;
  Timestamp updated;
  std::string summary;  // JSON, opaque to the store
  bool operator==(const Listing&) const = default;
};

struct Blob {
  Hash hash;  // SHA-256 of bytes
  std::string bytes;
};

// One session's batch: all of it becomes durable together, or none of it (J3).
struct Append {
  SessionId session;
  std::uint64_t epoch = 0;           // of the session's lease; an older one fails: stale_owner
  Seq expected_head = 0;             // not the current head: conflict
  std::vector<std::string> records;  // encoded; they get expected_head + 1, + 2 …; may be empty
  std::vector<OutboxRow> outbox_add;
  std::vector<std::uint64_t> outbox_done;  // unknown numbers are ignored
  std::optional<FrameCursor> cursor;
  std::vector<StoredAnswer> answers;    // if the key exists: conflict
  std::vector<std::string> refs;        // ids this session can be found by (find_ref)
  std::vector<Blob> blobs;              // if it exists, the old one stays
  std::vector<Hash> blob_refs;          // others' blobs to share; missing: not_found
  std::optional<std::string> snapshot;  // of the state at the new head
  std::optional<Listing> listing;
  bool essential = false;  // cancels and ends: may use the reserve when the disk is full
  // Any daemon of a shared store may write this journal: only the head is checked, not the lease.
  bool by_all = false;
};

// A session's owner.
struct Lease {
  std::uint64_t epoch = 0;  // for its appends and its agentctl; 0: owned by another daemon
  std::string node = {};    // the other daemon's name
  bool operator==(const Lease&) const = default;
};

// A session that own() gave to this daemon.
struct OwnedSession {
  SessionId session;
  std::uint64_t epoch = 0;
};

struct RecordPage {
  Seq first = 0;                     // the number of records[0]; 0 when there is none
  std::vector<std::string> records;  // consecutive
};

struct ReadRange {
  Seq after = 0;          // the first record wanted has after + 1
  std::size_t limit = 0;  // at most this many records
  // Stops after the record that reaches this; returns at least one.
  std::size_t bytes_max = 16UL << 20;
};

struct SessionHead {
  Seq seq = 0;
  std::optional<FrameCursor> cursor;
  bool operator==(const SessionHead&) const = default;
};

struct StoredSnapshot {
  Seq seq = 0;
  std::string bytes;
};

struct ListedSession {
  SessionId session;
  Listing listing;
};

// A search. All words must occur in one text; quoted words must be adjacent.
struct SearchAsk {
  std::string query;
  std::size_t limit = 50;
  std::string kind = {};  // of the text's records, `message.user`, or a group: `message`
  std::optional<Timestamp> since = {};
  std::optional<Timestamp> until = {};                 // before this time
  std::function<bool(SessionId)> is_wanted = nullptr;  // false: leaves the session out
};

struct SearchHit {
  SessionId session;
  Seq seq = 0;  // of the message's first record
  std::string kind;
  Timestamp at;
  std::string snippet;  // matches between \x02 and \x03
};

// The replacement for one record, and the blobs deleted with the old one.
struct Redaction {
  SessionId session;
  Seq seq = 0;
  std::string replacement;
  std::vector<Hash> blobs;  // dropped, whoever else gave them
  bool by_all = false;      // as in Append: no lease is asked for
};

class Store {
 public:
  using Done = std::move_only_function<void(Result<>)>;

  virtual ~Store() = default;

  // Queues a batch. Done reports success only after the batch is on disk. An error means that
  // nothing of it was stored and the head is unchanged: conflict, stale_owner, not_found,
  // disk_full, damaged, invalid_argument, and unavailable if a server was unreachable for too long.
  // After an fsync error no more Dones run: the outcome of in-flight batches is unknown, the
  // store's fatal hook runs once, and the process must exit (DISK1).
  virtual void append(Append batch, Done done) = 0;

  // Returns records of committed batches only. cursor_invalid: the range starts beyond the head. A
  // damaged session returns the records before the damage; `damaged` if the range starts after
  // them.
  virtual Result<RecordPage> read(SessionId session, ReadRange range) = 0;

  // not_found: the session never received an append.
  virtual Result<SessionHead> head(SessionId session) = 0;
  virtual Result<std::optional<StoredSnapshot>> snapshot(SessionId session) = 0;
  virtual Result<std::vector<OutboxRow>> outbox(SessionId session) = 0;  // by number
  virtual Result<std::optional<StoredAnswer>> answer(std::string_view key) = 0;
  virtual Result<std::optional<SessionId>> find_ref(std::string_view ref) = 0;
  virtual Result<std::string> blob(const Hash& hash) = 0;

  // Sessions whose listing says open, except those of other live daemons; the cost does not depend
  // on the number of closed sessions.
  virtual Result<std::vector<SessionId>> open_sessions() = 0;
  // All sessions after `after` in id order (a null id: from the first), at most `limit`.
  virtual Result<std::vector<ListedSession>> list(SessionId after, std::size_t limit) = 0;

  // Full text over all sessions, one hit per message, newest first. Lags behind commits. Examines
  // at most search_looked_at_max texts with these words.
  virtual Result<std::vector<SearchHit>> search(const SearchAsk& ask) = 0;

  // Permanently deletes a session with its refs and outbox. Answers stay.
  virtual Result<> remove(SessionId session) = 0;

  // Replaces one record and destroys its bytes everywhere in the engine: in files and in the search
  // index; also deletes the session's snapshot. Durable when it returns. not_found: no such record.
  virtual Result<> redact(Redaction redaction) = 0;
  // When redacted or removed bytes will be gone from the engine's files, in words. Empty: they are
  // gone already.
  virtual std::string bytes_kept() const { return {}; }

  // Several daemons on one store. The defaults here are for a store with one daemon, which owns
  // everything.
  virtual bool is_shared() const { return false; }
  // Makes this daemon the owner of a session, which need not exist yet, unless another live daemon
  // owns it. The previous owner's writes in flight are then either durable or refused. Idempotent.
  virtual Result<Lease> own(SessionId /*session*/) { return Lease{.epoch = epoch()}; }
  // Open sessions that may be taken: without an owner, of a silent daemon, or offered to this
  // daemon's home.
  virtual Result<std::vector<SessionId>> orphans(std::size_t /*limit*/) {
    return std::vector<SessionId>{};
  }
  // Those of them that another daemon has taken since.
  virtual Result<std::vector<SessionId>> lost(std::span<const OwnedSession> /*owned*/) {
    return std::vector<SessionId>{};
  }
  // The session's agent lives at another home, out of reach: a daemon there may take it although we
  // are alive. A session that is no longer ours is left unchanged.
  virtual Result<> offer(const OwnedSession& /*owned*/, const std::string& /*home*/) { return {}; }

  // This owner's epoch: higher than that of every earlier opening.
  virtual std::uint64_t epoch() const = 0;
  // Identifies one life of the log; a restored backup has a different one.
  virtual const std::string& log_id() const = 0;
};

}  // namespace perdure
