// Ending whole trees: processes that left their group and session are found by their mark or
// descent, others are not affected, and orphans reparented to us are reaped.
#include <algorithm>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "env/posix/fixture_for_test.h"
#include "env/posix/process/proc.h"

namespace perdure {
namespace {

using posix_test::Recorder;

bool gone(std::int64_t pid) {
  const auto stat = read_proc_stat(pid);
  return !stat || stat->ended();
}

class KillTree : public posix_test::ProcessTest {
 protected:
  KillTree() : mark_("PERDURE_TEST_MARK=" + std::to_string(getpid()) + "_" + unique()) {}
  ~KillTree() override { prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); }

  static std::string unique() {
    static int count = 0;
    return std::to_string(++count);
  }
  SpawnSpec marked(std::vector<std::string> role) const {
    SpawnSpec spec = child(std::move(role));
    spec.environment.push_back(mark_);
    return spec;
  }
  // The pid that the child prints.
  std::int64_t printed() {
    EXPECT_TRUE(until_output("\n"));
    return events_.number();
  }

  std::string mark_;
};

TEST_F(KillTree, P4_X17_grandchildren_that_left_are_found_by_their_mark) {
  const auto process = spawn(marked({"away", "stay"}));
  const std::int64_t grandchild = printed();
  EXPECT_NE(read_proc_stat(grandchild)->group, process->pid());
  process->signal(SIGKILL);
  ASSERT_TRUE(until([&] { return gone(process->pid()); }));
  EXPECT_FALSE(gone(grandchild));  // killing the group alone is not enough
  EXPECT_EQ(processes_->kill_marked(mark_), 0U);
  EXPECT_TRUE(gone(grandchild));
}

TEST_F(KillTree, PROC4_security_4_one_that_shed_its_environment_is_found_by_who_took_it_over) {
  ASSERT_TRUE(processes_->become_subreaper());
  SpawnSpec spec = marked({});
  spec.command = {"/bin/sh", "-c",
                  "(env -i setsid /bin/sleep 60 <&- >&- 2>&- & echo $!); exec /bin/true"};
  const auto process = spawn(spec);
  const std::int64_t grandchild = printed();
  ASSERT_TRUE(until([&] { return gone(process->pid()); }));
  ASSERT_FALSE(gone(grandchild));
  EXPECT_EQ(processes_->kill_marked(mark_), 0U);
  EXPECT_TRUE(gone(grandchild));
}

TEST_F(KillTree, P4_one_whose_first_thread_has_left_is_found_too) {
  const auto process = spawn(marked({"headless"}));
  const std::int64_t grandchild = printed();
  ASSERT_TRUE(until([&] {
    const auto stat = read_proc_stat(grandchild);
    return stat && stat->state == 'Z';
  }));
  EXPECT_FALSE(gone(grandchild));
  EXPECT_EQ(processes_->kill_marked(mark_), 0U);
  EXPECT_TRUE(gone(grandchild));
}

TEST_F(KillTree, X17_only_an_exact_mark_counts) {
  const std::string longer = mark_ + "0";
  SpawnSpec spec = child({"idle"});
  spec.environment = {longer, "X" + mark_, "OTHER=" + mark_, "EMPTY="};
  const auto stranger = spawn(spec);
  ASSERT_TRUE(until_output("ready"));
  EXPECT_EQ(processes_->kill_marked(mark_), 0U);
  EXPECT_FALSE(gone(stranger->pid()));
  EXPECT_EQ(processes_->kill_marked(longer), 0U);
  EXPECT_TRUE(gone(stranger->pid()));
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(*events_.exit, (ProcessExit{.signal = SIGKILL}));
}

TEST_F(KillTree, a_mark_is_found_anywhere_in_a_large_environment) {
  for (const std::size_t filler : {0UL, 4095UL - 40, 4096UL, 100'000UL}) {
    SpawnSpec spec = child({"idle"});
    spec.environment = {"FILL=" + std::string(filler, 'x'), mark_, "AFTER=1"};
    events_ = {};
    const auto process = spawn(spec);
    ASSERT_TRUE(until_output("ready"));
    EXPECT_EQ(processes_->kill_marked(mark_), 0U);
    EXPECT_TRUE(gone(process->pid())) << filler;
  }
}

TEST_F(KillTree, P4_descendants_of_a_subreaper_need_no_mark) {
  ASSERT_TRUE(processes_->become_subreaper());
  const auto process = spawn({"away", "leave"});
  const std::int64_t grandchild = printed();
  ASSERT_TRUE(until_exit());
  ASSERT_TRUE(until([&] { return read_proc_stat(grandchild)->parent == getpid(); }));
  EXPECT_EQ(processes_->kill_descendants(), 0U);
  EXPECT_TRUE(gone(grandchild));
  // It is also reaped, although an ended child of ours comes first.
  EXPECT_TRUE(until([&] { return !read_proc_stat(grandchild); }));
  EXPECT_TRUE(read_proc_stat(process->pid()));
  EXPECT_EQ(processes_->orphans_reaped(), 1U);
}

TEST_F(KillTree, P4_orphans_that_end_by_themselves_are_reaped) {
  ASSERT_TRUE(processes_->become_subreaper());
  auto process = spawn({"orphan"});
  const std::int64_t grandchild = printed();
  ASSERT_TRUE(until_exit());
  kill(static_cast<pid_t>(grandchild), SIGTERM);
  EXPECT_TRUE(until([&] { return !read_proc_stat(grandchild); }));
  EXPECT_EQ(processes_->orphans_reaped(), 1U);
}

TEST_F(KillTree, unmarked_children_are_left_alone) {
  ASSERT_TRUE(processes_->become_subreaper());
  const auto process = spawn({"idle"});
  ASSERT_TRUE(until_output("ready"));
  EXPECT_EQ(processes_->kill_marked(mark_), 0U);
  EXPECT_FALSE(gone(process->pid()));
}

// Twenty trees with the same mark, each with a runaway: one call ends all of them.
TEST_F(KillTree, P4_many_trees_end_together) {
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::vector<std::unique_ptr<Process>> trees;
  for (int i = 0; i < 20; ++i) {
    recorders.push_back(std::make_unique<Recorder>());
    trees.push_back(
        std::move(processes_->spawn(marked({"away", "stay"}), *recorders.back())).value());
  }
  ASSERT_TRUE(until([&] {
    return std::ranges::all_of(recorders,
                               [](const auto& it) { return it->output.ends_with('\n'); });
  }));
  EXPECT_EQ(processes_->kill_marked(mark_), 0U);
  for (const auto& recorder : recorders) EXPECT_TRUE(gone(recorder->number()));
  for (const auto& tree : trees) EXPECT_TRUE(gone(tree->pid()));
}

}  // namespace
}  // namespace perdure
