// The conformance suite on the memory store. A crash loses the unsynced tail.
#include "testing/memory_store/memory_store.h"
#include "testing/store/store_conformance.h"

namespace perdure {
namespace {

class MemoryUnderTest : public StoreUnderTest {
 public:
  Store& store() override { return *store_; }
  void pump() override {
    while (store_->step()) {}
  }
  void reopen() override {
    pump();
    store_.reset();
    store_ = MemoryStore::open(disk_);
  }
  // Half of the crashes happen between the write of a group and its sync.
  void crash_reopen() override {
    if (++crashes_ % 2 == 0) {
      store_->inject(CommitFault::slow_sync);
      store_->step();
    }
    disk_.crash(crashes_ % 4 == 0 ? CrashChoice::keep_tail : CrashChoice::lose_tail);
    store_ = MemoryStore::open(disk_);
  }

 private:
  MemoryDisk disk_;
  std::unique_ptr<MemoryStore> store_ = MemoryStore::open(disk_);
  int crashes_ = 0;
};

const bool registered =
    register_store_conformance("Memory", [] { return std::make_unique<MemoryUnderTest>(); });

}  // namespace
}  // namespace perdure
