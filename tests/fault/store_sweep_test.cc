// The sweep: operation 1 fails, then 2, 3 … until the workload ends without reaching the fault. For
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

// One point of a sweep; false if the fault was not reached.
bool visit(EngineKind kind, FaultPlan plan, CrashOutcome outcome, Tally& tally) {
  FaultRun run(kind, plan.at, outcome);
  if (!run.go(plan)) return false;
  ++tally.points;
  tally.fatals += run.fatals();
  tally.restarts += run.restarts();
  for (const auto& [code, count] : run.refusals()) tally.refusals += count;
  return true;
}

// All points, or those from SWEEP_AT on, to repeat a failure. Without an outcome the points cycle
// through all of them, so that each kind of fault meets each outcome many times.
void sweep(EngineKind kind, const std::string& name, FaultPlan plan,
           std::optional<CrashOutcome> outcome = {}) {
  Tally tally;
  const char* first = std::getenv("SWEEP_AT");
  plan.at = first ? std::stoull(first) : 1;
  for (bool hit = true; hit && !::testing::Test::HasFailure(); ++plan.at) {
    SCOPED_TRACE(std::string(engine_name(kind)) + ": " + name +
                 ", SWEEP_AT=" + std::to_string(plan.at));
    hit = visit(kind, plan, outcome.value_or(outcomes[plan.at % std::size(outcomes)]), tally);
  }
  std::cout << "sweep " << engine_name(kind) << " " << name << ": " << tally.points << " points, "
            << tally.fatals << " fatal, " << tally.restarts << " restarts, " << tally.refusals
            << " refusals\n";
  if (!first) EXPECT_GT(tally.points, 20U);
}

class StoreSweep : public testing::TestWithParam<EngineKind> {};

INSTANTIATE_TEST_SUITE_P(Engines, StoreSweep,
                         testing::Values(EngineKind::sqlite, EngineKind::files),
                         [](const auto& of) { return std::string(engine_name(of.param)); });

TEST_P(StoreSweep, NoFault) {
  FaultRun run(GetParam(), 1, CrashOutcome::lost);
  EXPECT_FALSE(run.go({}));
  EXPECT_EQ(run.fatals(), 0);
  EXPECT_TRUE(run.refusals().empty());
}

TEST_P(StoreSweep, DISK1_EioOnce) { sweep(GetParam(), "eio once", {.kind = FaultKind::eio}); }

TEST_P(StoreSweep, DISK1_EioPersistent) {
  sweep(GetParam(), "eio persistent", {.kind = FaultKind::eio, .time = FaultTime::from_then_on});
}

TEST_P(StoreSweep, DISK2_FullOnce) {
  sweep(GetParam(), "full once", {.ops = {DiskOp::write}, .kind = FaultKind::full});
}

TEST_P(StoreSweep, DISK2_FullPersistent) {
  sweep(GetParam(), "full persistent",
        {.ops = {DiskOp::write}, .kind = FaultKind::full, .time = FaultTime::from_then_on});
}

TEST_P(StoreSweep, DISK2_ShortWriteOnce) {
  sweep(GetParam(), "short write once", {.ops = {DiskOp::write}, .kind = FaultKind::short_write});
}

// A failed commit can be complete in the log: the page that found no room was already there.
TEST_P(StoreSweep, DISK2_FullBehindTheBytesOnce) {
  sweep(GetParam(), "full behind the bytes once",
        {.ops = {DiskOp::write}, .kind = FaultKind::full_behind});
}

TEST_P(StoreSweep, DISK2_FullBehindTheBytesPersistent) {
  sweep(GetParam(), "full behind the bytes persistent",
        {.ops = {DiskOp::write}, .kind = FaultKind::full_behind, .time = FaultTime::from_then_on});
}

TEST_P(StoreSweep, S1_PowerCutAtEveryChange) {
  sweep(GetParam(), "power cut",
        {.ops = {DiskOp::write, DiskOp::sync, DiskOp::truncate, DiskOp::remove, DiskOp::rename},
         .kind = FaultKind::power_cut});
}

TEST_P(StoreSweep, S1_DISK3_EveryOutcomeAtEverySync) {
  for (CrashOutcome outcome : outcomes) {
    if (HasFailure()) return;
    const std::string name =
        "power cut at sync, outcome " + std::to_string(static_cast<int>(outcome));
    sweep(GetParam(), name, {.ops = {DiskOp::sync}, .kind = FaultKind::power_cut}, outcome);
  }
}

TEST_P(StoreSweep, DISK1_EveryOutcomeAfterEveryFailedSync) {
  for (CrashOutcome outcome : outcomes) {
    if (HasFailure()) return;
    const std::string name = "eio at sync, outcome " + std::to_string(static_cast<int>(outcome));
    sweep(GetParam(), name, {.ops = {DiskOp::sync}, .kind = FaultKind::eio}, outcome);
  }
}

}  // namespace
}  // namespace perdure
