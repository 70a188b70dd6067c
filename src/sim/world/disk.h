// The disk under the daemon, for any engine: opens stores, crashes, and shows the judge what is
// durable, bypassing every cache of the code under test.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "store/store.h"
#include "testing/memory_store/memory_disk.h"
#include "testing/memory_store/memory_store.h"

namespace perdure::sim {

struct Universe;

// A store that the simulator steps.
class SteppedStore {
 public:
  virtual ~SteppedStore() = default;
  virtual Store& store() = 0;
  // Appends and removals go through here, so that a disk can observe them.
  virtual void append(Append batch, Store::Done done) {
    store().append(std::move(batch), std::move(done));
  }
  virtual Result<> remove(SessionId session) { return store().remove(session); }
  virtual void inject(CommitFault fault) = 0;
  virtual bool step() = 0;
  virtual bool is_idle() const = 0;
  // Whether the next step ends in a failed sync if this fault is injected. A disk that may not
  // trigger the fault checks the consequences itself (DISK1).
  virtual bool fails_by(CommitFault fault) const {
    return fault == CommitFault::eio_unknown && !is_idle();
  }
  // Background work, if the engine has any.
  virtual bool idle_step() { return false; }
  virtual bool wants_idle_step() const { return false; }
  // Sign of life of one of several daemons.
  virtual void beat() {}
};

// One of several daemons on a disk; without a name it is the only one.
struct DiskUser {
  std::string node = {};
  std::string home = {};
  std::int64_t lease_ms = 0;
  std::function<std::int64_t()> now_ms = {};
  // The machine stops in the middle of a write: the store is dead when this returns.
  std::function<void()> on_cut = {};
};

class Disk {
 public:
  virtual ~Disk() = default;
  virtual std::unique_ptr<SteppedStore> open(std::function<void(const Error&)> on_fatal,
                                             DiskUser user) = 0;
  virtual void crash(CrashChoice choice) = 0;
  // Crashes one of several daemons, by its epoch; the disk continues.
  virtual void crash_one(std::uint64_t epoch, CrashChoice choice) = 0;
  // Damages a durable record. Returns false if this disk cannot.
  virtual bool flip_bit(SessionId session, Seq seq) = 0;
  virtual bool flip_snapshot_bit(SessionId session) = 0;

  // The current durable state.
  virtual Seq head(SessionId session) = 0;
  virtual std::string_view record(SessionId session, Seq seq) = 0;
  virtual std::optional<FrameCursor> cursor(SessionId session) = 0;
  virtual bool is_open(SessionId session) = 0;  // by its listing
  virtual bool has_open_sessions() = 0;
  virtual std::size_t outbox_size(SessionId session) = 0;
  // With several daemons, the one that leased the session last; empty: none.
  virtual std::string owner(SessionId session) = 0;
};

// A MemoryDisk with MemoryStores.
std::unique_ptr<Disk> make_memory_disk();
// A FaultVfs with SqliteStores. Draws from the seed, not from the universe; for one daemon.
std::unique_ptr<Disk> make_sqlite_disk(Universe& universe, std::uint64_t seed);

}  // namespace perdure::sim
