// The simulated disk for a MemoryStore: faults at every commit, crashes that keep or lose the tail.
#include <utility>

#include "base/check.h"
#include "sim/world/disk.h"

namespace perdure::sim {
namespace {

class MemoryStepped final : public SteppedStore {
 public:
  explicit MemoryStepped(std::unique_ptr<MemoryStore> store) : store_(std::move(store)) {}
  Store& store() override { return *store_; }
  void inject(CommitFault fault) override { store_->inject(fault); }
  bool step() override { return store_->step(); }
  bool is_idle() const override { return store_->is_idle(); }
  void beat() override { store_->beat(); }

 private:
  std::unique_ptr<MemoryStore> store_;
};

class MemorySimDisk final : public Disk {
 public:
  std::unique_ptr<SteppedStore> open(std::function<void(const Error&)> on_fatal,
                                     DiskUser user) override {
    return std::make_unique<MemoryStepped>(
        MemoryStore::open(disk_, {.on_fatal = std::move(on_fatal),
                                  .node = std::move(user.node),
                                  .home = std::move(user.home),
                                  .lease_ms = user.lease_ms,
                                  .now_ms = std::move(user.now_ms)}));
  }
  void crash(CrashChoice choice) override { disk_.crash(choice); }
  void crash_one(std::uint64_t epoch, CrashChoice choice) override {
    disk_.crash_one(epoch, choice);
  }
  bool flip_bit(SessionId session, Seq seq) override { return disk_.flip_bit(session, seq); }
  bool flip_snapshot_bit(SessionId session) override { return disk_.flip_snapshot_bit(session); }

  Seq head(SessionId session) override { return disk_.head(session); }
  std::string_view record(SessionId session, Seq seq) override {
    const std::optional<std::string_view> bytes = disk_.peek(session, seq);
    CHECK(bytes.has_value());
    return *bytes;
  }
  std::optional<FrameCursor> cursor(SessionId session) override { return disk_.cursor(session); }
  bool is_open(SessionId session) override { return disk_.is_open(session); }
  bool has_open_sessions() override { return disk_.has_open_sessions(); }
  std::size_t outbox_size(SessionId session) override { return disk_.outbox_size(session); }
  std::string owner(SessionId session) override { return disk_.owner(session); }

 private:
  MemoryDisk disk_;
};

}  // namespace

std::unique_ptr<Disk> make_memory_disk() { return std::make_unique<MemorySimDisk>(); }

}  // namespace perdure::sim
