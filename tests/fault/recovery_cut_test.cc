// Recovery itself is cut off at each of its changes, and again at the next try: it never endangers
// acknowledged data. All commits are in the log, the last one acknowledged or in doubt.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "fault_engine.h"
#include "testing/store/store_model.h"

namespace perdure {
namespace {

constexpr DiskOps changes = {DiskOp::write, DiskOp::sync, DiskOp::truncate, DiskOp::remove,
                             DiskOp::rename};

class World {
 public:
  World(EngineKind kind, std::uint64_t seed) : engine(make_fault_engine(kind, seed)) {
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
    engine->crash(CrashOutcome::process_only);
  }

  std::unique_ptr<StoreEngine> open() {
    auto opened = engine->open_plain(nullptr, 0);
    return opened ? *std::move(opened) : nullptr;
  }

  // Cuts the power at the n-th change of a recovery; false if there are fewer.
  bool cut(std::uint64_t n) {
    engine->disk().plan({.at = n, .ops = changes, .kind = FaultKind::power_cut});
    open();
    const bool hit = engine->disk().fault_hit();
    engine->crash(CrashOutcome::garbage);
    return hit;
  }

  std::unique_ptr<FaultEngine> engine;
  StoreModel model;
};

class RecoveryCut : public testing::TestWithParam<EngineKind> {};

INSTANTIATE_TEST_SUITE_P(Engines, RecoveryCut,
                         testing::Values(EngineKind::sqlite, EngineKind::files),
                         [](const auto& of) { return std::string(engine_name(of.param)); });

TEST_P(RecoveryCut, S1_NothingAcknowledgedIsInDanger) {
  std::uint64_t points = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    for (std::uint64_t n = 1;; ++n) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", change " + std::to_string(n));
      World world(GetParam(), seed * 1000 + n);
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
