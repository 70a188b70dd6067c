// DISK2: a disk without room refuses cleanly, takes cancels and ends from the reserve, keeps what
// was acknowledged, and serves again, without a restart, when there is room.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "store_sqlite/sqlite_store.h"
#include "testing/fault_vfs.h"
#include "testing/store_model.h"

namespace perdure {
namespace {

const SessionId session = SessionId(Ulid{.high = 1, .low = 1});

class FullDisk : public ::testing::Test {
 protected:
  void SetUp() override { open(); }
  void TearDown() override { store_.reset(); }

  void open() {
    auto opened =
        SqliteStore::open({.path = "journal.db",
                           .vfs = vfs_.name(),
                           .on_fatal = [](const Error& error) { ADD_FAILURE() << error.message(); },
                           .reserve_bytes = 512UL << 10});
    ASSERT_TRUE(opened) << opened.error().message();
    store_ = *std::move(opened);
  }

  enum class Weight { ordinary, essential };

  // The refusal, or nothing; the model follows.
  std::optional<Code> append(Weight weight, std::size_t bytes = 20'000) {
    Append batch{.session = session,
                 .epoch = store_->epoch(),
                 .expected_head = model_.head(session),
                 .records = {std::string(bytes, 'r')},
                 .outbox_add = {{model_.head(session) + 1, "effect"}},
                 .essential = weight == Weight::essential};
    std::optional<Code> refusal = Code::internal;  // not answered
    store_->append(batch, [&](Result<> result) {
      refusal = result ? std::nullopt : std::optional(result.error().code());
    });
    while (store_->step()) {}
    if (!refusal) model_.apply(batch);
    return refusal;
  }

  // Leaves so much room beyond what is used, and fills it.
  void fill(std::uint64_t room_bytes) {
    capacity_bytes_ = vfs_.disk().bytes_used() + room_bytes;
    vfs_.disk().set_capacity(capacity_bytes_);
    for (int i = 0; i < 1000; ++i) {
      if (const auto refusal = append(Weight::ordinary)) {
        EXPECT_EQ(*refusal, Code::disk_full);
        return;
      }
    }
    FAIL() << "the disk never became full";
  }

  FaultVfs vfs_;
  std::unique_ptr<SqliteStore> store_;
  StoreModel model_;
  std::uint64_t capacity_bytes_ = 0;
};

TEST_F(FullDisk, DISK2_RefusesCleanlyAndTakesTheEssential) {
  append(Weight::ordinary);
  fill(200'000);
  EXPECT_EQ(append(Weight::ordinary), Code::disk_full);
  expect_store_equals(*store_, model_);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(append(Weight::essential, 300), std::nullopt) << i;
  EXPECT_EQ(append(Weight::ordinary), Code::disk_full) << "the reserve is for the essential";
  expect_store_equals(*store_, model_);
}

TEST_F(FullDisk, DISK2_ServesAgainWithoutARestart) {
  fill(100'000);
  EXPECT_EQ(append(Weight::essential, 300), std::nullopt);
  vfs_.disk().set_capacity(std::nullopt);
  for (int i = 0; i < 100 && store_->idle_step(); ++i) {}
  EXPECT_TRUE(store_->retry_space());
  EXPECT_EQ(append(Weight::ordinary), std::nullopt);
  // And again: the reserve is there a second time.
  fill(100'000);
  EXPECT_EQ(append(Weight::essential, 300), std::nullopt);
  expect_store_equals(*store_, model_);
}

TEST_F(FullDisk, DISK2_ACrashOnAFullDiskLosesNothing) {
  for (CrashOutcome outcome : {CrashOutcome::process_only, CrashOutcome::lost, CrashOutcome::torn,
                               CrashOutcome::garbage, CrashOutcome::kept}) {
    fill(100'000);
    EXPECT_EQ(append(Weight::essential, 300), std::nullopt);
    vfs_.crash(outcome);
    store_.reset();
    // Still full: it opens, shows everything, and says disk_full.
    vfs_.disk().set_capacity(capacity_bytes_);
    open();
    ASSERT_TRUE(store_);
    expect_store_equals(*store_, model_);
    for (int i = 0; i < 1000 && append(Weight::ordinary) == std::nullopt; ++i) {}
    EXPECT_EQ(append(Weight::ordinary), Code::disk_full);
    expect_store_equals(*store_, model_);
    vfs_.disk().set_capacity(std::nullopt);
    EXPECT_TRUE(store_->retry_space());
    EXPECT_EQ(append(Weight::ordinary), std::nullopt);
  }
}

// Others have taken the last byte: nothing opens, nothing is lost.
TEST_F(FullDisk, DISK2_WithoutAnyRoomItDoesNotOpenAndLosesNothing) {
  fill(100'000);
  vfs_.crash(CrashOutcome::lost);
  store_.reset();
  vfs_.disk().set_capacity(0);
  auto opened = SqliteStore::open({.path = "journal.db", .vfs = vfs_.name()});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Code::disk_full);
  vfs_.crash(CrashOutcome::torn);
  open();
  expect_store_equals(*store_, model_);
}

}  // namespace
}  // namespace perdure
