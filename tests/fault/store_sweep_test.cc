// The sweep: operation 1 fails, then 2, 3 … until the workload ends without meeting the fault. For
// every kind of fault, transient and persistent, and for every outcome of a power cut.
#include <cstdlib>
#include <iostream>
#include <optional>

#include <gtest/gtest.h>

#include "fault_run.h"

namespace perdure {
namespace {

constexpr CrashOutcome outcomes[] = {CrashOutcome::process_only, CrashOutcome::kept,
                                     CrashOutcome::lost, CrashOutcome::torn, CrashOutcome::garbage};

struct Tally {
  std::uint64_t points = 0;
  int fatals = 0;
  int restarts = 0;
  int refusals = 0;
};

// One point of a sweep; false when the fault was not met any more.
bool visit(FaultPlan plan, CrashOutcome outcome, Tally& tally) {
  FaultRun run(plan.at, outcome);
  if (!run.go(plan)) return false;
  ++tally.points;
  tally.fatals += run.fatals();
  tally.restarts += run.restarts();
  for (const auto& [code, count] : run.refusals()) tally.refusals += count;
  return true;
}

// All points, from SWEEP_AT on where that is set, to see a failure again. Without an outcome each
// point gets the next one in turn, so that each kind of fault meets each of them many times.
void sweep(const char* name, FaultPlan plan, std::optional<CrashOutcome> outcome = {}) {
  Tally tally;
  const char* first = std::getenv("SWEEP_AT");
  plan.at = first ? std::stoull(first) : 1;
  for (bool hit = true; hit && !::testing::Test::HasFailure(); ++plan.at) {
    SCOPED_TRACE(std::string(name) + ", SWEEP_AT=" + std::to_string(plan.at));
    hit = visit(plan, outcome.value_or(outcomes[plan.at % std::size(outcomes)]), tally);
  }
  std::cout << "sweep " << name << ": " << tally.points << " points, " << tally.fatals << " fatal, "
            << tally.restarts << " restarts, " << tally.refusals << " refusals\n";
  if (!first) EXPECT_GT(tally.points, 20U);
}

TEST(StoreSweep, NoFault) {
  FaultRun run(1, CrashOutcome::lost);
  EXPECT_FALSE(run.go({}));
  EXPECT_EQ(run.fatals(), 0);
  EXPECT_TRUE(run.refusals().empty());
}

TEST(StoreSweep, DISK1_EioOnce) { sweep("eio once", {.kind = FaultKind::eio}); }

TEST(StoreSweep, DISK1_EioPersistent) {
  sweep("eio persistent", {.kind = FaultKind::eio, .time = FaultTime::from_then_on});
}

TEST(StoreSweep, DISK2_FullOnce) {
  sweep("full once", {.ops = {DiskOp::write}, .kind = FaultKind::full});
}

TEST(StoreSweep, DISK2_FullPersistent) {
  sweep("full persistent",
        {.ops = {DiskOp::write}, .kind = FaultKind::full, .time = FaultTime::from_then_on});
}

TEST(StoreSweep, DISK2_ShortWriteOnce) {
  sweep("short write once", {.ops = {DiskOp::write}, .kind = FaultKind::short_write});
}

// A refused commit can be whole in the log: the page that found no room was there already.
TEST(StoreSweep, DISK2_FullBehindTheBytesOnce) {
  sweep("full behind the bytes once", {.ops = {DiskOp::write}, .kind = FaultKind::full_behind});
}

TEST(StoreSweep, DISK2_FullBehindTheBytesPersistent) {
  sweep("full behind the bytes persistent",
        {.ops = {DiskOp::write}, .kind = FaultKind::full_behind, .time = FaultTime::from_then_on});
}

TEST(StoreSweep, S1_PowerCutAtEveryChange) {
  sweep("power cut", {.ops = {DiskOp::write, DiskOp::sync, DiskOp::truncate, DiskOp::remove},
                      .kind = FaultKind::power_cut});
}

TEST(StoreSweep, S1_DISK3_EveryOutcomeAtEverySync) {
  for (CrashOutcome outcome : outcomes) {
    if (HasFailure()) return;
    const std::string name =
        "power cut at sync, outcome " + std::to_string(static_cast<int>(outcome));
    sweep(name.c_str(), {.ops = {DiskOp::sync}, .kind = FaultKind::power_cut}, outcome);
  }
}

TEST(StoreSweep, DISK1_EveryOutcomeAfterEveryFailedSync) {
  for (CrashOutcome outcome : outcomes) {
    if (HasFailure()) return;
    const std::string name = "eio at sync, outcome " + std::to_string(static_cast<int>(outcome));
    sweep(name.c_str(), {.ops = {DiskOp::sync}, .kind = FaultKind::eio}, outcome);
  }
}

}  // namespace
}  // namespace perdure
