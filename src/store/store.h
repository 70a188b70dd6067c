// The one interface to durable storage. A store keeps bytes: it knows sessions, sequence numbers
// and atomic batches, and nothing of what a record means. Every engine passes the conformance suite
// in testing/store_conformance.h.
//
// Threads: append() and the reads may be called from any thread. Work is done by whoever runs the
// engine's writer step; a Done runs there, exactly once, in the order of the appends of its
// session.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/id.h"
#include "base/result.h"
#include "base/time.h"

namespace perdure {

// A number of a record within its session: 1, 2, 3 …; 0 is "before the first".
using Seq = std::uint64_t;

// An effect waiting to be run. Numbers grow within a session and are never used again.
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
  Hash body;  // of the request, to tell a retry from a reuse
  std::string answer;
  std::optional<Timestamp> expires;  // nothing: kept for ever
  bool operator==(const StoredAnswer&) const = default;
};

// What the list of sessions shows; a projection, replaced as a whole.
struct Listing {
  bool open = false;  // reconcile has to look at it after a restart
  bool archived = false;
  Timestamp updated;
  std::string summary;  // JSON, the runtime's business
  bool operator==(const Listing&) const = default;
};

struct Blob {
  Hash hash;  // SHA-256 of bytes
  std::string bytes;
};

// One session's batch: everything in it becomes durable together, or nothing does (J3).
struct Append {
  SessionId session;
  std::uint64_t epoch = 0;           // of the session's lease; an older one: stale_owner
  Seq expected_head = 0;             // not the present head: conflict
  std::vector<std::string> records;  // encoded; they get expected_head + 1, + 2 …; may be empty
  std::vector<OutboxRow> outbox_add;
  std::vector<std::uint64_t> outbox_done;  // unknown numbers are ignored
  std::optional<FrameCursor> cursor;
  std::vector<StoredAnswer> answers;  // a key that is there already: conflict
  std::vector<std::string> refs;      // ids this session can be found by (find_ref)
  std::vector<Blob> blobs;            // one that is there already is kept
  std::vector<Hash> blob_refs;  // others' that become this session's too; not there: not_found
  std::optional<std::string> snapshot;  // of the state at the new head
  std::optional<Listing> listing;
  bool essential = false;  // cancels and ends: may use the reserve when the disk is full
  // Every daemon of a shared store may write this journal: no lease is asked for, the head decides.
  bool by_all = false;
};

// Whose a session is.
struct Lease {
  std::uint64_t epoch = 0;  // for its appends and its agentctl; 0: it is another daemon's
  std::string node = {};    // that one's name then
  bool operator==(const Lease&) const = default;
};

// A session that is this daemon's, as own() gave it.
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
  std::size_t limit = 0;  // at most so many records
  // Stops behind the record that reaches this; at least one is given.
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

// What is looked for. Words must all occur in one text; those in double quotes stand together.
struct SearchAsk {
  std::string query;
  std::size_t limit = 50;
  std::string kind = {};  // of the text's records, `message.user`, or a group: `message`
  std::optional<Timestamp> since = {};
  std::optional<Timestamp> until = {};                 // not at this time any more
  std::function<bool(SessionId)> is_wanted = nullptr;  // of other sessions nothing is given
};

struct SearchHit {
  SessionId session;
  Seq seq = 0;  // of the message's first record
  std::string kind;
  Timestamp at;
  std::string snippet;  // matches between \x02 and \x03
};

// What takes the place of one record, and what goes with the old one.
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

  // Queues a batch. Done gets success only after the batch is on disk; an error means that nothing
  // of it is there and the head is unchanged: conflict, stale_owner, not_found, disk_full, damaged,
  // invalid_argument, and unavailable when a server stayed away for too long. After an fsync error
  // no Done runs any more: the outcome of what was in flight is unknown, the store's fatal hook
  // runs once, and the process must end (DISK1).
  virtual void append(Append batch, Done done) = 0;

  // Records of committed batches only. A range that starts beyond the head is cursor_invalid. Of a
  // damaged session the records before the damage are given; a range that starts behind them is
  // `damaged`.
  virtual Result<RecordPage> read(SessionId session, ReadRange range) = 0;

  // not_found for a session that was never appended to.
  virtual Result<SessionHead> head(SessionId session) = 0;
  virtual Result<std::optional<StoredSnapshot>> snapshot(SessionId session) = 0;
  virtual Result<std::vector<OutboxRow>> outbox(SessionId session) = 0;  // by number
  virtual Result<std::optional<StoredAnswer>> answer(std::string_view key) = 0;
  virtual Result<std::optional<SessionId>> find_ref(std::string_view ref) = 0;
  virtual Result<std::string> blob(const Hash& hash) = 0;

  // Sessions whose listing says open, but for those of other daemons that are heard of; the cost
  // does not grow with the others.
  virtual Result<std::vector<SessionId>> open_sessions() = 0;
  // All sessions behind `after` in id order (a null id: from the first), at most `limit`.
  virtual Result<std::vector<ListedSession>> list(SessionId after, std::size_t limit) = 0;

  // Full text over all sessions, by message, newest first. Follows behind the commits. Looks at
  // search_looked_at_max texts with the words at most.
  virtual Result<std::vector<SearchHit>> search(const SearchAsk& ask) = 0;

  // Takes everything of a session away for good, its refs and outbox too. Answers stay.
  virtual Result<> remove(SessionId session) = 0;

  // Replaces one record and destroys its bytes wherever the engine holds them: in files, in the
  // search index; the session's snapshot goes too. Durable at once. not_found for a record that
  // there is not.
  virtual Result<> redact(Redaction redaction) = 0;
  // Until when bytes that were redacted or removed may still be in files of the engine, in words.
  // Empty: they are in none.
  virtual std::string bytes_kept() const { return {}; }

  // Several daemons on one store. What stands here is the way of a store that is one daemon's: all
  // of it is its own.
  virtual bool is_shared() const { return false; }
  // Makes a session this daemon's, there or not yet, unless it is another one's who is heard of.
  // What the owner before had under way is durable or refused then. Asked again, gives the same.
  virtual Result<Lease> own(SessionId /*session*/) { return Lease{.epoch = epoch()}; }
  // Open sessions that are there to be taken: nobody's, of a daemon that is silent, or offered to
  // the home of this one.
  virtual Result<std::vector<SessionId>> orphans(std::size_t /*limit*/) {
    return std::vector<SessionId>{};
  }
  // Those of them that another daemon has taken since.
  virtual Result<std::vector<SessionId>> lost(std::span<const OwnedSession> /*owned*/) {
    return std::vector<SessionId>{};
  }
  // Its agent lives at another home, out of reach: a daemon there may take it though we live. One
  // that is not ours any more is left as it is.
  virtual Result<> offer(const OwnedSession& /*owned*/, const std::string& /*home*/) { return {}; }

  // This owner's epoch: higher than that of every earlier opening.
  virtual std::uint64_t epoch() const = 0;
  // Names the life of the log; a restored backup has another.
  virtual const std::string& log_id() const = 0;
};

}  // namespace perdure
