// Recovery itself is cut off at every change it makes, and again in the next try: what was
// acknowledged before is never in danger from it. All commits are in the WAL, the last among them
// acknowledged or in doubt.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "store_sqlite/sqlite_store.h"
#include "testing/fault_vfs.h"
#include "testing/store_model.h"

namespace perdure {
namespace {

constexpr DiskOps changes = {DiskOp::write, DiskOp::sync, DiskOp::truncate, DiskOp::remove};

class World {
 public:
  explicit World(std::uint64_t seed) : vfs(seed) {
    auto store = open();
    for (Seq head = 0; head < 12; ++head) {
      Append batch{.session = SessionId(Ulid{.high = 1, .low = 1 + head % 3}),
                   .epoch = store->epoch(),
                   .expected_head = head / 3,
                   .records = {std::string(2000, static_cast<char>('a' + head))},
                   .outbox_add = {{head / 3 + 1, "effect"}}};
      store->append(batch, [&](Result<> result) {
        if (result) model.apply(batch);
      });
      while (store->step()) {}
    }
    vfs.crash(CrashOutcome::process_only);
  }

  std::unique_ptr<SqliteStore> open() {
    auto opened = SqliteStore::open({.path = "journal.db", .vfs = vfs.name(), .reserve_bytes = 0});
    return opened ? *std::move(opened) : nullptr;
  }

  // Cuts the power at the n-th change of a recovery; false when there are not so many.
  bool cut(std::uint64_t n) {
    vfs.disk().plan({.at = n, .ops = changes, .kind = FaultKind::power_cut});
    open();
    const bool hit = vfs.disk().fault_hit();
    vfs.crash(CrashOutcome::garbage);
    return hit;
  }

  FaultVfs vfs;
  StoreModel model;
};

TEST(RecoveryCut, S1_NothingAcknowledgedIsInDanger) {
  std::uint64_t points = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    for (std::uint64_t n = 1;; ++n) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", change " + std::to_string(n));
      World world(seed * 1000 + n);
      ASSERT_EQ(world.model.sessions.size(), 3U);
      const bool hit = world.cut(n);
      world.cut(1 + n % 4);
      auto store = world.open();
      ASSERT_TRUE(store);
      expect_store_equals(*store, world.model);
      if (HasFailure() || !hit) break;
      ++points;
    }
  }
  EXPECT_GT(points, 40U);
}

}  // namespace
}  // namespace perdure
