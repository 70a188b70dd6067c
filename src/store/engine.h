// A Store as main runs it: whichever engine is below, one thread steps it, and the verbs of care
// (verify, backup, copy) find the same calls. What an engine can besides stays its own.
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

// What verify() found wrong.
struct Damage {
  std::optional<SessionId> session;  // nothing: the store as a whole
  Seq good = 0;                      // records 1…good of the session are whole
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

// What a session has besides its records, rows and snapshot, for whoever copies it.
struct SessionBelongings {
  std::vector<std::string> refs;  // sorted
  std::vector<Hash> blobs;        // sorted
};

// A daemon on a shared store, as it is known there.
struct StoreNode {
  std::string name;
  std::string home;           // where its agents live; nodes of one home reach each other's
  std::string address;        // as announce() gave it; empty: it has not said yet
  std::int64_t heard_ms = 0;  // ago
  bool is_silent = false;     // for longer than a lease: its sessions may be taken
  bool is_self = false;
};

class StoreEngine : public Store {
 public:
  // Takes everything queued, commits it and runs the Dones. Says whether there was anything. Blocks
  // for the fsync. One thread at a time.
  virtual bool step() = 0;
  // A bounded slice of background work. Says whether it did anything.
  virtual bool idle_step() = 0;
  // Blocks until something is queued, wake() is called or the time is over; false for the last.
  virtual bool wait_for_work(std::chrono::milliseconds timeout) = 0;
  virtual void wake() = 0;

  // Brings everything to its place, for an orderly end. May block.
  virtual Result<> shut_down() = 0;

  // Starts copying the store to a new place while it goes on; idle_step() does the work, and `done`
  // runs there. When opened the copy gets a log_id of its own. conflict when something is at that
  // place or another backup runs.
  virtual Result<> backup(std::string path, Done done) = 0;

  // Forgets stored answers that expired before `now`.
  virtual Result<> forget_answers(Timestamp now) = 0;

  // Reads everything and says what is damaged. A session that was quarantined and is whole again is
  // freed. May run beside everything else; blocks long. `on_session` is told after each session,
  // and may end it by false.
  using OnVerified = std::function<bool(const VerifyReport& so_far)>;
  virtual Result<VerifyReport> verify(const OnVerified& on_session) = 0;
  Result<VerifyReport> verify() { return verify(nullptr); }

  // What opening found that belongs to no session: a torn end that it cut (C20), damage. Sentences
  // for the log; verify() names them too. To be asked before the store's thread runs.
  virtual std::vector<std::string> notes() const { return {}; }

  virtual EngineTotals totals() = 0;

  // Of a shared store. The secret of all its daemons; the daemons; and where this one can be asked.
  virtual Result<std::string> shared_key() { return std::string(); }
  virtual Result<std::vector<StoreNode>> nodes() { return std::vector<StoreNode>{}; }
  // Whose they are: those of the sessions that another daemon has who is heard of. Takes none.
  virtual Result<std::map<SessionId, std::string>> owners(std::span<const SessionId> /*sessions*/) {
    return std::map<SessionId, std::string>{};
  }
  virtual Result<> announce(const std::string& /*address*/) { return {}; }

  // For copies. not_found for a session that is not there.
  virtual Result<SessionBelongings> belongings(SessionId session) = 0;
  // Stored answers behind `after` in the order of their keys, at most `limit`.
  virtual Result<std::vector<StoredAnswer>> answers(std::string_view after, std::size_t limit) = 0;
};

}  // namespace perdure
