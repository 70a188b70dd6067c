// DISK2: on a full disk the store fails cleanly, accepts cancels and ends from the reserve, keeps
// acknowledged data, and works again without a restart once there is room.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "fault_engine.h"
#include "testing/store/store_model.h"

namespace perdure {
namespace {

const SessionId session = SessionId(Ulid{.high = 1, .low = 1});

class FullDisk : public ::testing::TestWithParam<EngineKind> {
 protected:
  void SetUp() override { open(); }
  void TearDown() override { store_.reset(); }

  void open() {
    auto opened = engine_->open_plain([](const Error& error) { ADD_FAILURE() << error.message(); },
                                      512UL << 10);
    ASSERT_TRUE(opened) << opened.error().message();
    store_ = *std::move(opened);
  }

  enum class Weight { ordinary, essential };

  // The error, or nothing; updates the model.
  std::optional<Code> append(Weight weight, std::size_t bytes = 20'000) {
    Append batch{.session = session,
                 .epoch = store_->epoch(),
                 .expected_head = model_.head(session),
                 .records = {std::string(bytes, 'r')},
                 .outbox_add = {{model_.head(session) + 1, "effect"}},
                 .essential = weight == Weight::essential};
    std::optional<Code> refusal = Code::internal;  // until the callback runs
    store_->append(batch, [&](Result<> result) {
      refusal = result ? std::nullopt : std::optional(result.error().code());
    });
    while (store_->step()) {}
    if (!refusal) model_.apply(batch);
    return refusal;
  }

  // Leaves this much room beyond the used space, and fills it.
  void fill(std::uint64_t room_bytes) {
    capacity_bytes_ = engine_->disk().bytes_used() + room_bytes;
    engine_->disk().set_capacity(capacity_bytes_);
    for (int i = 0; i < 1000; ++i) {
      if (const auto refusal = append(Weight::ordinary)) {
        EXPECT_EQ(*refusal, Code::disk_full);
        return;
      }
    }
    FAIL() << "the disk never became full";
  }

  std::unique_ptr<FaultEngine> engine_ = make_fault_engine(GetParam(), 1);
  std::unique_ptr<StoreEngine> store_;
  StoreModel model_;
  std::uint64_t capacity_bytes_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Engines, FullDisk, testing::Values(EngineKind::sqlite, EngineKind::files),
                         [](const auto& of) { return std::string(engine_name(of.param)); });

TEST_P(FullDisk, DISK2_RefusesCleanlyAndTakesTheEssential) {
  append(Weight::ordinary);
  fill(200'000);
  EXPECT_EQ(append(Weight::ordinary), Code::disk_full);
  expect_store_equals(*store_, model_);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(append(Weight::essential, 300), std::nullopt) << i;
  EXPECT_EQ(append(Weight::ordinary), Code::disk_full) << "the reserve is for the essential";
  expect_store_equals(*store_, model_);
}

TEST_P(FullDisk, DISK2_ServesAgainWithoutARestart) {
  fill(100'000);
  EXPECT_EQ(append(Weight::essential, 300), std::nullopt);
  engine_->disk().set_capacity(std::nullopt);
  for (int i = 0; i < 100 && store_->idle_step(); ++i) {}
  EXPECT_TRUE(engine_->retry_space(*store_));
  EXPECT_EQ(append(Weight::ordinary), std::nullopt);
  // And again: the reserve has been restored.
  fill(100'000);
  EXPECT_EQ(append(Weight::essential, 300), std::nullopt);
  expect_store_equals(*store_, model_);
}

TEST_P(FullDisk, DISK2_ACrashOnAFullDiskLosesNothing) {
  for (CrashOutcome outcome : {CrashOutcome::process_only, CrashOutcome::lost, CrashOutcome::torn,
                               CrashOutcome::garbage, CrashOutcome::kept}) {
    fill(100'000);
    EXPECT_EQ(append(Weight::essential, 300), std::nullopt);
    engine_->crash(outcome);
    store_.reset();
    // Still full: it opens, shows everything, and reports disk_full.
    engine_->disk().set_capacity(capacity_bytes_);
    open();
    ASSERT_TRUE(store_);
    expect_store_equals(*store_, model_);
    for (int i = 0; i < 1000 && append(Weight::ordinary) == std::nullopt; ++i) {}
    EXPECT_EQ(append(Weight::ordinary), Code::disk_full);
    expect_store_equals(*store_, model_);
    engine_->disk().set_capacity(std::nullopt);
    EXPECT_TRUE(engine_->retry_space(*store_));
    EXPECT_EQ(append(Weight::ordinary), std::nullopt);
  }
}

// Other programs took the last byte: the store does not open, and loses nothing.
TEST_P(FullDisk, DISK2_WithoutAnyRoomItDoesNotOpenAndLosesNothing) {
  fill(100'000);
  engine_->crash(CrashOutcome::lost);
  store_.reset();
  engine_->disk().set_capacity(0);
  auto opened = engine_->open_plain(nullptr, 4UL << 20);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Code::disk_full);
  engine_->crash(CrashOutcome::torn);
  open();
  expect_store_equals(*store_, model_);
}

}  // namespace
}  // namespace perdure
