// The disk model loses what it must, keeps what it must, and fails as planned.
#include "testing/store/fault_disk.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

struct DiskWithFile {
  FaultDisk disk;
  std::shared_ptr<DiskFile> file;

  explicit DiskWithFile(std::uint64_t seed = 1)
      : disk(seed), file(disk.open("f", FaultDisk::OpenMode::create).file) {
    disk.write(*file, 0, std::string(2048, 'a'));
    disk.sync(file);
  }
  std::string after(CrashOutcome outcome) {
    disk.crash(outcome);
    return disk.contents("f").value_or("gone");
  }
};

TEST(FaultDisk, SyncedBytesSurviveEveryCrash) {
  for (CrashOutcome outcome : {CrashOutcome::process_only, CrashOutcome::kept, CrashOutcome::lost,
                               CrashOutcome::torn, CrashOutcome::garbage}) {
    EXPECT_EQ(DiskWithFile().after(outcome), std::string(2048, 'a'));
  }
}

TEST(FaultDisk, UnsyncedBytesAreKeptLostOrTornBySector) {
  auto crashed = [](CrashOutcome outcome, std::uint64_t seed) {
    DiskWithFile world(seed);
    world.disk.write(*world.file, 100, std::string(1500, 'b'));
    return world.after(outcome);
  };
  const std::string kept = crashed(CrashOutcome::kept, 1);
  EXPECT_EQ(kept, std::string(100, 'a') + std::string(1500, 'b') + std::string(448, 'a'));
  EXPECT_EQ(crashed(CrashOutcome::lost, 1), std::string(2048, 'a'));
  bool differs = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string torn = crashed(CrashOutcome::torn, seed);
    EXPECT_EQ(torn, crashed(CrashOutcome::torn, seed)) << "equal seeds, equal outcomes";
    for (std::size_t at : {100, 512, 1024, 1536}) {
      const std::size_t end = std::min<std::size_t>(1600, (at / 512 + 1) * 512);
      const std::string sector = torn.substr(at, end - at);
      EXPECT_TRUE(sector == std::string(end - at, 'a') || sector == std::string(end - at, 'b'));
    }
    differs = differs || (torn != kept && torn != std::string(2048, 'a'));
    const std::string garbage = crashed(CrashOutcome::garbage, seed);
    EXPECT_EQ(garbage.substr(0, 100), std::string(100, 'a')) << "only what was written is garbled";
    EXPECT_EQ(garbage.substr(1600), std::string(448, 'a'));
  }
  EXPECT_TRUE(differs);
}

TEST(FaultDisk, DISK1_AFailedSyncLeavesItsWritesInDoubtForGood) {
  for (CrashOutcome outcome : {CrashOutcome::kept, CrashOutcome::lost}) {
    DiskWithFile world;
    world.disk.write(*world.file, 0, "b");
    world.disk.plan({.at = 1, .ops = {DiskOp::sync}});
    EXPECT_TRUE(world.disk.sync(world.file));
    world.disk.write(*world.file, 1, "c");
    EXPECT_FALSE(world.disk.sync(world.file)) << "the second sync lies about the first write";
    EXPECT_EQ(world.disk.syncs_after_failed_sync(), 1U);
    EXPECT_EQ(world.after(outcome).substr(0, 2), outcome == CrashOutcome::kept ? "bc" : "ac");
  }
}

TEST(FaultDisk, WhatIsWrittenAgainAfterAFailedSyncBecomesDurable) {
  DiskWithFile world;
  world.disk.write(*world.file, 0, "b");
  world.disk.plan({.at = 1, .ops = {DiskOp::sync}});
  world.disk.sync(world.file);
  world.disk.crash(CrashOutcome::process_only);
  EXPECT_EQ(world.disk.contents("f")->substr(0, 1), "b") << "the page cache still shows it";
  auto file = world.disk.open("f", FaultDisk::OpenMode::existing).file;
  world.disk.write(*file, 0, "b");
  world.disk.sync(file);
  EXPECT_EQ(world.after(CrashOutcome::lost).substr(0, 1), "b");
}

TEST(FaultDisk, TruncatesAndNamesAreUnsyncedToo) {
  DiskWithFile world;
  world.disk.truncate(*world.file, 10);
  world.disk.open("new", FaultDisk::OpenMode::create);
  EXPECT_EQ(world.after(CrashOutcome::lost).size(), 2048U);
  EXPECT_FALSE(world.disk.exists("new"));
  world.disk.remove("f", FaultDisk::RemoveMode::unsynced);
  EXPECT_EQ(world.after(CrashOutcome::lost).size(), 2048U) << "an unsynced removal is undone";
  world.disk.remove("f", FaultDisk::RemoveMode::synced);
  EXPECT_EQ(world.after(CrashOutcome::lost), "gone");
}

TEST(FaultDisk, PlansCountWhatTheyAreAskedTo) {
  DiskWithFile world;
  world.disk.plan({.at = 2, .ops = {DiskOp::write}, .kind = FaultKind::full});
  EXPECT_FALSE(world.disk.write(*world.file, 0, "x"));
  EXPECT_FALSE(world.disk.sync(world.file));
  EXPECT_FALSE(world.disk.fault_hit());
  EXPECT_EQ(world.disk.write(*world.file, 0, "y"), FaultKind::full);
  EXPECT_TRUE(world.disk.fault_hit());
  EXPECT_FALSE(world.disk.write(*world.file, 0, "z")) << "transient";
  world.disk.plan({.at = 1, .kind = FaultKind::eio, .time = FaultTime::from_then_on});
  EXPECT_EQ(world.disk.read(*world.file, 0, 1), FaultKind::eio);
  EXPECT_EQ(world.disk.write(*world.file, 0, "z"), FaultKind::eio);
  EXPECT_EQ(world.disk.contents("f")->at(0), 'z');
  EXPECT_EQ(world.disk.ops_counted(), 2U);
}

TEST(FaultDisk, ShortWritesAndPowerCuts) {
  DiskWithFile world;
  world.disk.plan({.at = 1, .kind = FaultKind::short_write});
  EXPECT_EQ(world.disk.write(*world.file, 0, "bbbb"), FaultKind::short_write);
  EXPECT_EQ(world.disk.contents("f")->substr(0, 4), "bbaa");
  world.disk.plan({.at = 1, .ops = {DiskOp::sync}, .kind = FaultKind::power_cut});
  EXPECT_EQ(world.disk.sync(world.file), FaultKind::power_cut);
  EXPECT_EQ(world.disk.write(*world.file, 0, "cccc"), FaultKind::power_cut);
  EXPECT_EQ(world.after(CrashOutcome::kept).substr(0, 4), "bbaa");
  EXPECT_FALSE(world.disk.read(*world.file, 0, 1)) << "power is back";
}

TEST(FaultDisk, DISK2_CapacityBoundsAllFilesTogether) {
  DiskWithFile world;
  world.disk.set_capacity(3000);
  EXPECT_EQ(world.disk.write(*world.file, 2048, std::string(1000, 'b')), FaultKind::full);
  EXPECT_FALSE(world.disk.write(*world.file, 0, std::string(2048, 'b'))) << "nothing grows";
  auto reserve = world.disk.open("reserve", FaultDisk::OpenMode::create).file;
  EXPECT_FALSE(world.disk.write(*reserve, 0, std::string(900, 'r')));
  EXPECT_EQ(world.disk.write(*world.file, 2048, std::string(100, 'b')), FaultKind::full);
  world.disk.remove("reserve", FaultDisk::RemoveMode::synced);
  EXPECT_FALSE(world.disk.write(*world.file, 2048, std::string(100, 'b')));
}

}  // namespace
}  // namespace perdure
