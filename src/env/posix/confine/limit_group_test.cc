// Limits that the kernel enforces, with real processes. If this machine gives us no group, the
// tests are skipped with the reason.
#include "env/posix/confine/limit_group.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "env/posix/fixture_for_test.h"

namespace perdure {
namespace {

class LimitGroupTest : public posix_test::ProcessTest {
 protected:
  std::string name() const { return "test_" + std::to_string(getpid()); }
  Result<std::unique_ptr<Process>> shell(const std::string& script) {
    return processes_->spawn(
        {.command = {"/bin/sh", "-c", script}, .environment = {"PATH=/usr/bin:/bin"}, .cwd = "/"},
        events_);
  }
};

TEST_F(LimitGroupTest, P1_memory_above_the_limit_is_an_out_of_memory_exit) {
  auto group = LimitGroup::create(name(), {.memory_bytes = 32UL << 20});
  if (!group) GTEST_SKIP() << group.error().message();
  processes_->set_limits(*std::move(group));
  const auto process = shell("x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done");
  ASSERT_TRUE(process) << process.error().message();
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(events_.exit->signal, SIGKILL);
  EXPECT_EQ(events_.exit->oom, OomEvidence::group);
  EXPECT_EQ(processes_->limits_met(), "the limit of 32 MiB of memory");
}

TEST_F(LimitGroupTest, G8_one_process_more_than_the_limit_is_refused) {
  auto group = LimitGroup::create(name(), {.processes = 4});
  if (!group) GTEST_SKIP() << group.error().message();
  processes_->set_limits(*std::move(group));
  const auto process =
      shell("for i in 1 2 3 4 5 6 7 8; do sleep 30 & done 2>/dev/null; kill $(jobs -p); exit 3");
  ASSERT_TRUE(process) << process.error().message();
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(processes_->limits_met(), "the limit of 4 processes");
  processes_->kill_descendants();
}

TEST_F(LimitGroupTest, a_group_goes_with_its_owner_and_what_a_crash_left_with_the_next) {
  const GroupLimits limits{.memory_bytes = 64UL << 20, .processes = 16, .cpu_percent = 50};
  if (const Result<> can = LimitGroup::probe(limits); !can) GTEST_SKIP() << can.error().message();
  auto left = LimitGroup::create("crashed", limits);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->met(), "");
  auto group = LimitGroup::create(name(), limits);  // removes `crashed`, which is empty
  ASSERT_TRUE(group);
  EXPECT_TRUE(LimitGroup::probe({}));
}

}  // namespace
}  // namespace perdure
