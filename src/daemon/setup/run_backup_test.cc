// A backup without a daemon terminates, even if the journal's disk fails.
#include "daemon/setup/run_backup.h"

#include "testing/store/files_fixture.h"

namespace perdure {
namespace {

class RunBackup : public files_test::FilesTest {
 protected:
  // With records that are only in the log, so that the backup has to write them to their files.
  void open_with_records(std::function<void(Error)> on_fatal) {
    FilesOptions with = options();
    with.on_fatal = std::move(on_fatal);
    with.make_disk = [this](const std::string&) -> Result<std::unique_ptr<JournalDisk>> {
      return make_fault_files(target_);
    };
    open(std::move(with));
    ASSERT_TRUE(put(1, 0, {"{\"n\":1}"}));
  }
  void fail_writes(FaultKind kind) {
    disk_.plan({.at = 1,
                .ops = {DiskOp::write, DiskOp::sync},
                .kind = kind,
                .time = FaultTime::from_then_on});
  }

  FaultDisk target_{2};
};

TEST_F(RunBackup, S13_a_backup_of_a_whole_store_is_made) {
  open_with_records({});
  EXPECT_TRUE(run_backup(*store_, "copy"));
  EXPECT_TRUE(target_.exists("store.json"));
}

TEST_F(RunBackup, DISK2_X21_a_full_disk_ends_a_backup_with_a_word) {
  open_with_records({});
  fail_writes(FaultKind::full);
  const Result<> made = run_backup(*store_, "copy");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Code::disk_full) << made.error().message();
  EXPECT_FALSE(target_.exists("store.json"));
}

TEST_F(RunBackup, DISK1_X21_a_store_that_fails_ends_a_backup_with_a_word) {
  int fatal = 0;
  open_with_records([&](const Error&) { ++fatal; });
  fail_writes(FaultKind::eio);
  const Result<> made = run_backup(*store_, "copy");
  EXPECT_EQ(fatal, 1);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Code::storage_unknown) << made.error().message();
}

}  // namespace
}  // namespace perdure
