// The queue and the full-disk rules, tested on an engine that is a list.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/queue/group_commit.h"

namespace perdure {
namespace {

SessionId session(std::uint64_t number) { return SessionId(Ulid{.high = 1, .low = number}); }

class ListTarget final : public GroupTarget {
 public:
  Result<> write_group(std::span<PendingAppend* const> group) override {
    groups.push_back(group.size());
    if (failed) return fail(Code::storage_unknown, "failed");
    const std::size_t bytes_needed = group.size();
    if (room < bytes_needed) return fail(Code::disk_full, "no room");
    for (const PendingAppend* const pending : group) {
      if (pending->batch.records.at(0) == "bad") return fail(Code::damaged, "a bad page");
    }
    room -= bytes_needed;
    for (const PendingAppend* const pending : group) written.push_back(pending->batch.records[0]);
    return {};
  }
  Result<> make_reserve() override {
    ++probes;
    return room > 2 ? Result<>() : fail(Code::disk_full, "no room for the reserve");
  }
  Result<> release_reserve() override {
    room += reserve;
    reserve = 0;
    return {};
  }
  void fail_forever(const Error& error) override { failed = error.code() != Code::disk_full; }
  bool has_failed() const override { return failed; }

  std::size_t room = 100;
  std::size_t reserve = 2;
  int probes = 0;
  bool failed = false;
  std::vector<std::size_t> groups;
  std::vector<std::string> written;
};

class StoreQueue : public ::testing::Test {
 protected:
  void push(const std::string& record) {
    queue_.push({.session = session(1), .records = {record}, .essential = record == "end"},
                [this, record](const Result<>& done) {
                  answers_.push_back(record + (done ? "" : ":" + code_of(done.error())));
                });
  }
  static std::string code_of(const Error& error) { return std::string(code_name(error.code())); }
  bool step() {
    std::vector<PendingAppend>& group = queue_.take();
    if (group.empty()) return false;
    commits_.run(group);
    if (!target_.failed) queue_.answer();
    return true;
  }

  AppendQueue queue_{{.group_bytes_max = 400}};
  ListTarget target_;
  GroupCommit commits_{target_};
  std::vector<std::string> answers_;
};

TEST_F(StoreQueue, groups_end_at_their_limit_and_keep_the_order) {
  for (int i = 0; i < 9; ++i) push(std::to_string(i) + std::string(99, 'x'));
  std::size_t taken = 0;
  while (!queue_.take().empty()) {
    queue_.answer();
    ++taken;
  }
  EXPECT_EQ(taken, 3U) << "three of about 200 bytes reach 400";
  ASSERT_EQ(answers_.size(), 9U);
  EXPECT_TRUE(std::ranges::is_sorted(answers_));
}

TEST_F(StoreQueue, waiting_ends_with_a_push_or_a_wake_and_else_with_the_time) {
  EXPECT_FALSE(queue_.wait(std::chrono::milliseconds(0)));
  queue_.wake();
  EXPECT_TRUE(queue_.wait(std::chrono::milliseconds(0)));
  EXPECT_FALSE(queue_.wait(std::chrono::milliseconds(0))) << "a wake serves once";
  push("a");
  EXPECT_TRUE(queue_.wait(std::chrono::milliseconds(0)));
}

TEST_F(StoreQueue, a_batch_that_no_store_could_take_is_refused_before_the_engine) {
  queue_.push({.records = {"no session"}},
              [this](const Result<>& done) { answers_.push_back(code_of(done.error())); });
  queue_.push({.session = session(1), .records = {"x"}, .blobs = {{.hash = {}, .bytes = "b"}}},
              [this](const Result<>& done) { answers_.push_back(code_of(done.error())); });
  push("good");
  step();
  EXPECT_EQ(answers_, (std::vector<std::string>{"invalid_argument", "invalid_argument", "good"}));
  EXPECT_EQ(target_.written, std::vector<std::string>{"good"});
}

TEST_F(StoreQueue, DISK2_a_full_disk_refuses_but_for_the_essential_and_goes_on_with_room) {
  target_.room = 1;
  push("a");
  push("end");
  step();
  EXPECT_EQ(answers_, (std::vector<std::string>{"a:disk_full", "end"}));
  EXPECT_TRUE(commits_.is_full());
  const std::size_t before = target_.groups.size();
  push("b");
  step();
  EXPECT_EQ(answers_.back(), "b:disk_full");
  EXPECT_EQ(target_.groups.size(), before) << "it was not even tried";
  target_.room = 1000;
  for (int i = 0; i < 62; ++i) push("c");
  while (step()) {}
  EXPECT_EQ(target_.probes, 0) << "a probe comes after many refusals";
  EXPECT_EQ(answers_.back(), "c:disk_full");
  push("d");
  step();
  EXPECT_EQ(target_.probes, 1);
  EXPECT_FALSE(commits_.is_full());
  EXPECT_EQ(answers_.back(), "d");
}

TEST_F(StoreQueue, damage_concerns_only_the_append_that_meets_it) {
  push("a");
  push("bad");
  push("b");
  step();
  EXPECT_EQ(answers_, (std::vector<std::string>{"a", "bad:damaged", "b"}));
}

TEST_F(StoreQueue, DISK1_nobody_is_answered_after_the_engine_failed) {
  push("a");
  target_.failed = true;
  step();
  EXPECT_TRUE(answers_.empty());
  EXPECT_TRUE(target_.groups.empty());
}

}  // namespace
}  // namespace perdure
