// The disk itself fails: it is full, or the outcome of a write is unknown (S5, S6, DISK1, DISK2).
// The full disk is a real, small tmpfs; the process's file size limit causes the error.
#include <atomic>
#include <csignal>
#include <thread>

#include <sys/mount.h>
#include <sys/resource.h>

#include "store/sqlite/store_fixture_test.h"
#include "testing/store/fault_vfs.h"

namespace perdure::store_test {
namespace {

class SqliteDisk : public StoreTest {
 protected:
  ~SqliteDisk() override {
    store_.reset();
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }

  // Mounts a small file system at the scratch folder; false if that is not allowed.
  bool mount_small(const char* size) {
    mounted_ = ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, size) == 0;
    return mounted_;
  }

  bool mounted_ = false;
};

TEST_F(SqliteDisk, S5_DISK2_a_full_disk_refuses_cleanly_keeps_ends_writable_and_recovers) {
  if (!mount_small("size=6m")) GTEST_SKIP() << "needs the right to mount a tmpfs";
  SqliteOptions with = options();
  with.reserve_bytes = 1UL << 20;
  open(with);
  Seq head = 0;
  Result<> result;
  const std::string bulk(20'000, 'b');
  while ((result = put(1, head, {bulk}))) ++head;
  EXPECT_EQ(result.error().code(), Code::disk_full) << result.error().message();
  EXPECT_TRUE(store_->stats().disk_full);
  EXPECT_TRUE(fs::exists(path("journal.db.reserve")));

  // Refused without a try; but an ending append succeeds next to a refused one in one group.
  EXPECT_EQ(put(1, head, {"small"}).error().code(), Code::disk_full);
  std::vector<std::string> outcome;
  const auto note = [&](Result<> done) {
    outcome.emplace_back(done ? "ok" : code_name(done.error().code()));
  };
  const std::uint64_t epoch = store_->epoch();
  store_->append({.session = session(2), .epoch = epoch, .records = {bulk}}, note);
  store_->append({.session = session(1),
                  .epoch = epoch,
                  .expected_head = head,
                  .records = {bulk + "the end"},
                  .essential = true},
                 note);
  store_->step();
  EXPECT_EQ(outcome, (std::vector<std::string>{"disk_full", "ok"}));
  EXPECT_EQ(all(1).size(), head + 1);
  EXPECT_TRUE(store_->verify()->damages.empty());

  // A crash on a full disk loses nothing either.
  open(with);
  EXPECT_EQ(all(1).size(), head + 1);
  EXPECT_EQ(store_->head(session(2)).error().code(), Code::not_found);
  while (put(1, head + 1, {bulk})) ++head;
  EXPECT_TRUE(store_->stats().disk_full);

  // With space again, it recovers on its own.
  ASSERT_EQ(::mount("tmpfs", folder_.c_str(), "tmpfs", MS_REMOUNT, "size=60m"), 0);
  store_->idle_step();
  EXPECT_FALSE(store_->stats().disk_full);
  EXPECT_TRUE(put(1, head + 1, {bulk}));
  EXPECT_EQ(all(1).size(), head + 2);
  EXPECT_TRUE(fs::exists(path("journal.db.reserve")));
  EXPECT_TRUE(store_->verify()->damages.empty());
}

// The unused reserve exists; that does not mean there is space.
TEST_F(SqliteDisk, S5_DISK2_a_full_disk_stays_full_while_there_is_nothing_to_do) {
  if (!mount_small("size=6m")) GTEST_SKIP() << "needs the right to mount a tmpfs";
  SqliteOptions with = options();
  with.reserve_bytes = 1UL << 20;
  open(with);
  ASSERT_TRUE(put(1, 0, {"small"}));
  idle(*store_);
  spill(path("somebody else's"), std::string(fs::space(folder_).available - 500'000, 'f'));
  EXPECT_EQ(put(1, 1, {std::string(700'000, 'b')}).error().code(), Code::disk_full);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(store_->stats().disk_full);
    EXPECT_FALSE(store_->idle_step());
    EXPECT_EQ(fs::file_size(path("journal.db.reserve")), with.reserve_bytes);
  }
  fs::remove(path("somebody else's"));
  store_->idle_step();
  EXPECT_FALSE(store_->stats().disk_full);
  EXPECT_EQ(fs::file_size(path("journal.db.reserve")), with.reserve_bytes);
}

TEST_F(SqliteDisk, S6_DISK1_an_unknown_outcome_answers_nobody_and_writes_nothing_more) {
  ::signal(SIGXFSZ, SIG_IGN);
  int fatal = 0;
  SqliteOptions with = options();
  with.on_fatal = [&](const Error& error) {
    ++fatal;
    EXPECT_EQ(error.code(), Code::storage_unknown) << error.message();
  };
  open(with);
  ASSERT_TRUE(put(1, 0, {"acknowledged"}));
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = fs::file_size(path("journal.db-wal")) + 10'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Result<> unknown = put(1, 1, {std::string(2'000'000, 'u')});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message(), "the Done did not run");
  EXPECT_EQ(fatal, 1);
  EXPECT_TRUE(store_->stats().failed);

  const std::string wal = slurp(path("journal.db-wal"));
  const std::string database = slurp(path());
  EXPECT_EQ(put(1, 1, {"later"}).error().message(), "the Done did not run");
  EXPECT_EQ(put(2, 0, {"later"}).error().message(), "the Done did not run");
  EXPECT_FALSE(store_->idle_step());
  EXPECT_EQ(store_->remove(session(1)).error().code(), Code::storage_unknown);
  EXPECT_EQ(store_->shut_down().error().code(), Code::storage_unknown);
  EXPECT_FALSE(store_->backup(path("copy.db"), nullptr));
  store_.reset();
  EXPECT_EQ(fatal, 1);
  EXPECT_TRUE(slurp(path("journal.db-wal")) == wal);
  EXPECT_TRUE(slurp(path()) == database);

  open();
  EXPECT_EQ(all(1)[0], "acknowledged");
  EXPECT_TRUE(store_->verify()->damages.empty());
}

// The search index is written in the same slice of background work, after which a checkpoint is
// due.
TEST(SqliteSync, DISK1_background_work_that_could_not_be_synced_is_followed_by_no_other) {
  FaultVfs vfs;
  int fatal = 0;
  auto opened = SqliteStore::open(
      {.path = "journal.db",
       .vfs = vfs.name(),
       .on_fatal = [&](const Error&) { ++fatal; },
       .search_piece =
           [](std::string_view record) { return SearchPiece{.parts = {std::string(record)}}; },
       .reserve_bytes = 0,
       .checkpoint_idle_bytes = 0});
  ASSERT_TRUE(opened) << opened.error().message();
  SqliteStore& store = **opened;
  bool done = false;
  store.append({.session = session(1), .epoch = store.epoch(), .records = {"words"}},
               [&](const Result<>& result) { done = result.has_value(); });
  store.step();
  ASSERT_TRUE(done);
  vfs.disk().clear_log();
  vfs.disk().plan({.at = 1, .ops = {DiskOp::sync}});
  EXPECT_FALSE(store.idle_step());
  EXPECT_TRUE(vfs.disk().fault_hit());
  EXPECT_EQ(fatal, 1);
  EXPECT_EQ(vfs.disk().syncs_after_failed_sync(), 0U);
}

// The job uses the writer's connection and must release it before the lock; otherwise its CHECK
// fails, or by chance it crashes.
TEST(SqliteSync, S13_DISK2_a_backup_that_finds_no_room_ends_beside_a_busy_writer) {
  FaultVfs vfs;
  const auto store =
      SqliteStore::open({.path = "journal.db", .vfs = vfs.name(), .reserve_bytes = 0}).value();
  store->append(
      {.session = session(1), .epoch = store->epoch(), .records = {std::string(500'000, 'x')}},
      [](const Result<>& done) { EXPECT_TRUE(done); });
  store->step();
  vfs.with_disk([](FaultDisk& disk) { disk.set_capacity(disk.bytes_used() + 100'000); });
  std::atomic<bool> over = false;
  const std::jthread other([&] {
    while (!over) EXPECT_EQ(store->remove(session(9)).error().code(), Code::not_found);
  });
  for (int round = 0; round < 50; ++round) {
    std::optional<Result<>> outcome;
    ASSERT_TRUE(store->backup("copy.db", [&](Result<> done) { outcome = std::move(done); }));
    for (int i = 0; !outcome && i < 1000; ++i) store->idle_step();
    over = round == 49;
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(*outcome);
    EXPECT_FALSE(vfs.with_disk([](FaultDisk& disk) { return disk.exists("copy.db"); }));
  }
}

// Here the backup goes to the same disk, so it can only report that the disk is full.
TEST(SqliteSync, S13_DISK2_a_backup_does_not_wait_until_the_journal_has_room_again) {
  FaultVfs vfs;
  const auto store =
      SqliteStore::open({.path = "journal.db", .vfs = vfs.name(), .reserve_bytes = 100'000})
          .value();
  vfs.disk().set_capacity(vfs.disk().bytes_used());
  store->append(
      {.session = session(1), .epoch = store->epoch(), .records = {std::string(500'000, 'x')}},
      [](const Result<>& done) { EXPECT_FALSE(done); });
  store->step();
  ASSERT_TRUE(store->stats().disk_full);
  std::optional<Result<>> outcome;
  ASSERT_TRUE(store->backup("copy.db", [&](Result<> done) { outcome = std::move(done); }));
  for (int i = 0; !outcome && i < 1000; ++i) store->idle_step();
  ASSERT_TRUE(outcome) << "it waits";
  EXPECT_EQ(outcome->error().code(), Code::disk_full) << outcome->error().message();
  EXPECT_TRUE(store->stats().disk_full);
}

// Copying or moving only the database file afterwards relies on this.
TEST(SqliteSync, S13_an_end_that_leaves_commits_in_the_wal_is_no_success) {
  bool refused = false;
  bool reached = true;
  for (std::uint64_t at = 1; reached && at < 100; ++at) {
    FaultVfs vfs;
    auto opened =
        SqliteStore::open({.path = "journal.db", .vfs = vfs.name(), .reserve_bytes = 0}).value();
    opened->append({.session = session(1), .epoch = opened->epoch(), .records = {"kept"}},
                   [](const Result<>& done) { EXPECT_TRUE(done); });
    opened->step();
    ASSERT_GT(vfs.disk().size_of("journal.db-wal").value_or(0), 0U);
    vfs.disk().plan({.at = at, .ops = {DiskOp::write}, .kind = FaultKind::full});
    const Result<> shut = opened->shut_down();
    reached = vfs.disk().fault_hit();
    const std::uint64_t left = vfs.disk().size_of("journal.db-wal").value_or(0);
    if (shut) EXPECT_EQ(left, 0U) << "full at write " << at;
    if (!shut) EXPECT_EQ(shut.error().code(), Code::disk_full) << shut.error().message();
    refused = refused || !shut;
  }
  EXPECT_TRUE(refused);
  EXPECT_FALSE(reached);
}

}  // namespace
}  // namespace perdure::store_test
