// Which processes belong to a child: its descendants at any depth, and those that were orphaned and
// reparented to us. Also that a signal reaches processes forked in between.
#include <algorithm>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include "env/posix/fixture_for_test.h"
#include "env/posix/process/proc.h"
#include "testing/store/family_conformance.h"

namespace perdure {
namespace {

class FamilyOfAChild : public posix_test::ProcessTest, protected FamilyStage {
 protected:
  void SetUp() override {
    ASSERT_TRUE(processes_->become_subreaper());
    SpawnSpec spec = child({"nursery"});
    spec.environment.push_back(mark_);
    root_ = spawn(spec);
    ASSERT_TRUE(until_output("ready\n"));
  }
  ~FamilyOfAChild() override {
    root_.reset();
    stranger_.reset();
    processes_->kill_marked(mark_);
    prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
  }

  Processes& processes() override { return *processes_; }
  Family family() override { return {root_->pid(), mark_}; }
  std::int64_t bear(Birth how) override {
    return born(how == Birth::below ? "b" : how == Birth::away ? "a" : "l");
  }
  std::int64_t bear_stranger() override {
    auto process = processes_->spawn(child({"idle"}), strange_events_);
    EXPECT_TRUE(process);
    stranger_ = std::move(*process);
    return stranger_->pid();
  }
  bool lives(std::int64_t pid) override {
    const auto stat = read_proc_stat(pid);
    return stat && !stat->ended();
  }
  bool until_gone(std::int64_t pid) override {
    return until([&] { return !lives(pid); });
  }
  // The number that it prints for this letter.
  std::int64_t born(const std::string& letter) {
    events_.output.clear();
    root_->write(letter);
    EXPECT_TRUE(until_output("\n"));
    return std::atoll(events_.output.c_str());
  }

  std::string mark_ = "PERDURE_TEST_FAMILY=" + std::to_string(getpid());
  std::unique_ptr<Process> root_;
  std::unique_ptr<Process> stranger_;
  posix_test::Recorder strange_events_;
};

TEST_F(FamilyOfAChild, P4_who_belongs_to_it_and_who_is_signalled) { check_family(*this); }

TEST_F(FamilyOfAChild, P4_a_signal_finds_what_is_below_its_target) {
  events_.output.clear();
  root_->write("d");
  const auto lines = [&] { return std::ranges::count(events_.output, '\n'); };
  ASSERT_TRUE(until([&] { return lines() == 2; }));
  ProcessSet both = processes_->offspring(family());
  ASSERT_EQ(both.size(), 2U);
  ProcessSet upper;
  for (const ProcessBirth& one : both) {
    if (read_proc_stat(one.pid)->parent == root_->pid()) upper.insert(one);
  }
  ASSERT_EQ(upper.size(), 1U);
  EXPECT_EQ(processes_->signal_each(upper, SIGTERM), both);
  EXPECT_TRUE(until_gone(upper.begin()->pid));
  // The lower one survives and was reparented to us.
  both.erase(*upper.begin());
  EXPECT_EQ(processes_->offspring(family()), both);
  EXPECT_EQ(processes_->signal_each(both, SIGKILL), both);
  EXPECT_TRUE(until_gone(both.begin()->pid));
}

}  // namespace
}  // namespace perdure
