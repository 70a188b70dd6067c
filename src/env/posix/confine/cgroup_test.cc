// Control groups: their places, read from texts of several kinds of machine; and a real group, if
// this machine lets us create one.
#include "env/posix/confine/cgroup.h"

#include <csignal>

#include <gtest/gtest.h>

#include "env/posix/fixture_for_test.h"
#include "env/posix/process/proc.h"

namespace perdure {
namespace {

TEST(CgroupPlaces, the_unified_hierarchy_alone) {
  const CgroupPlaces places = find_cgroups(
      {.mounts = "24 30 0:22 / /proc rw,nosuid - proc proc rw\n"
                 "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
       .membership = "0::/user.slice/user-1000.slice/app.scope\n"});
  EXPECT_EQ(places.unified, "/sys/fs/cgroup/user.slice/user-1000.slice/app.scope");
  EXPECT_EQ(places.memory_v1, "");
}

TEST(CgroupPlaces, both_hierarchies) {
  const CgroupPlaces places = find_cgroups(
      {.mounts = "28 25 0:26 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw\n"
                 "31 25 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
                 "32 25 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
       .membership = "4:memory:/jobs/7\n1:cpu:/\n0::/\n"});
  EXPECT_EQ(places.unified, "/sys/fs/cgroup/unified");
  EXPECT_EQ(places.memory_v1, "/sys/fs/cgroup/memory/jobs/7");
}

TEST(CgroupPlaces, a_container_sees_a_part_only) {
  const std::string mounts =
      "32 25 0:30 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
  EXPECT_EQ(find_cgroups({.mounts = mounts, .membership = "4:memory:/docker/abc/x\n"}).memory_v1,
            "/sys/fs/cgroup/memory/x");
  EXPECT_EQ(find_cgroups({.mounts = mounts, .membership = "4:memory:/docker/abc\n"}).memory_v1,
            "/sys/fs/cgroup/memory");
  EXPECT_EQ(find_cgroups({.mounts = mounts, .membership = "4:memory:/elsewhere\n"}).memory_v1,
            "/sys/fs/cgroup/memory");
}

TEST(CgroupPlaces, garbage_is_nowhere) {
  for (const std::string_view text : {"", "\n\n", "a b c", "1 2 3 4 5 6 - cgroup2\n", ":::\n"}) {
    EXPECT_EQ(find_cgroups({.mounts = text, .membership = text}), CgroupPlaces{});
  }
}

TEST(OomCounter, this_machine_has_one) { EXPECT_TRUE(OomCounter::find().read()); }

TEST(OomCounter, a_missing_file_tells_nothing) {
  EXPECT_FALSE(OomCounter("/no/such/file").read());
  EXPECT_FALSE(OomCounter("/proc/self/stat").read());
}

class CgroupTest : public posix_test::ProcessTest {};

TEST_F(CgroupTest, P4_a_group_is_killed_with_all_that_left_their_session) {
  auto group = Cgroup::create("perdure_test_" + std::to_string(getpid()));
  if (!group) GTEST_SKIP() << group.error().message();
  processes_->set_cgroup(&*group);
  const auto process = spawn({"away", "stay"});
  ASSERT_TRUE(until_output("\n"));
  const std::int64_t grandchild = events_.number();
  processes_->set_cgroup(nullptr);
  EXPECT_EQ(group->is_empty(), false);
  EXPECT_FALSE(group->remove());
  ASSERT_TRUE(group->kill());
  ASSERT_TRUE(until([&] { return group->is_empty() == true; }));
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(events_.exit->signal, SIGKILL);
  const auto stat = read_proc_stat(grandchild);
  EXPECT_TRUE(!stat || stat->ended());
  EXPECT_TRUE(until([&] { return group->remove().has_value(); }));
  EXPECT_FALSE(std::filesystem::exists(group->path()));
}

TEST_F(CgroupTest, a_group_that_cannot_be_is_a_visible_none) {
  EXPECT_EQ(Cgroup::create("../up").error().code(), Code::invalid_argument);
  EXPECT_EQ(Cgroup::create("").error().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace perdure
