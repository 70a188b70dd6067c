// A Store as main runs it: one thread steps it, and the maintenance verbs (verify, backup, copy)
// use the same calls for every engine. Features of one engine only are not here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace perdure {

// One problem that verify() found.
struct Damage {
  std::optional<SessionId> session;  // absent: the whole store
  Seq good = 0;                      // records 1…good of the session are intact
  std::string what;
};

struct VerifyReport {
  std::uint64_t session_count = 0;
  std::uint64_t record_count = 0;
  std::vector<Damage> damages;
};

// Counters for /metrics.
struct EngineTotals {
  std::uint64_t commits = 0;
  std::uint64_t appends = 0;
  bool disk_full = false;    // only essential appends are tried
  bool unavailable = false;  // the server cannot be reached
};

// What belongs to a session in addition to its records, rows and snapshot; for copies.
struct SessionBelongings {
  std::vector<std::string> refs;  // sorted
  std::vector<Hash> blobs;        // sorted
};

// A daemon on a shared store, as the store knows it.
struct StoreNode {
  std::string name;
  std::string home;           // where its agents live; nodes of one home can reach them
  std::string address;        // from announce(); empty: not announced yet
  std::int64_t heard_ms = 0;  // last sign of life, this long ago
  bool is_silent = false;     // for longer than a lease: its sessions may be taken over
  bool is_self = false;
};

class StoreEngine : public Store {
 public:
  // Takes everything queued, commits it and runs the Dones. Returns whether there was anything.
  // Blocks for the fsync. One thread at a time.
  virtual bool step() = 0;
  // Does a bounded slice of background work. Returns whether there was any.
  virtual bool idle_step() = 0;
  // Blocks until something is queued, wake() is called or the time expires; false in the last case.
  virtual bool wait_for_work(std::chrono::milliseconds timeout) = 0;
  virtual void wake() = 0;

  // Completes pending work for an orderly end. May block.
  virtual Result<> shut_down() = 0;

  // Starts copying the store to a new place while it keeps running; idle_step() does the work and
  // runs `done`. When opened, the copy gets its own log_id. conflict: the place is in use, or
  // another backup runs.
  virtual Result<> backup(std::string path, Done done) = 0;

  // Deletes stored answers that expired before `now`.
  virtual Result<> forget_answers(Timestamp now) = 0;

  // Reads everything and reports damage. A quarantined session that is intact again is released.
  // May run concurrently with everything else; blocks long. `on_session` is called after each
  // session and may stop it by returning false.
  using OnVerified = std::function<bool(const VerifyReport& so_far)>;
  virtual Result<VerifyReport> verify(const OnVerified& on_session) = 0;
  Result<VerifyReport> verify() { return verify(nullptr); }

  // What opening found that belongs to no session: a torn end that it cut (C20), damage. Sentences
  // for the log; verify() reports them too. Call this before the store's thread runs.
  virtual std::vector<std::string> notes() const { return {}; }

  virtual EngineTotals totals() = 0;

  // For a shared store: the secret of all its daemons; the daemons; and this one's address.
  virtual Result<std::string> shared_key() { return std::string(); }
  virtual Result<std::vector<StoreNode>> nodes() { return std::vector<StoreNode>{}; }
  // The owners of those sessions that another live daemon owns. Takes no ownership.
  virtual Result<std::map<SessionId, std::string>> owners(std::span<const SessionId> /*sessions*/) {
    return std::map<SessionId, std::string>{};
  }
  virtual Result<> announce(const std::string& /*address*/) { return {}; }

  // For copies. not_found: no such session.
  virtual Result<SessionBelongings> belongings(SessionId session) = 0;
  // Stored answers after `after` in key order, at most `limit`.
  virtual Result<std::vector<StoredAnswer>> answers(std::string_view after, std::size_t limit) = 0;
};

}  // namespace perdure
