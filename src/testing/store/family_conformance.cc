#include "testing/store/family_conformance.h"

#include <csignal>
#include <set>

#include <gtest/gtest.h>

namespace perdure {
namespace {

std::set<std::int64_t> pids(const ProcessSet& processes) {
  std::set<std::int64_t> numbers;
  for (const ProcessBirth& one : processes) numbers.insert(one.pid);
  return numbers;
}

}  // namespace

void check_family(FamilyStage& stage) {
  using Birth = FamilyStage::Birth;
  using Pids = std::set<std::int64_t>;
  Processes& processes = stage.processes();
  const Family family = stage.family();
  const std::int64_t stranger = stage.bear_stranger();
  EXPECT_EQ(pids(processes.offspring(family)), Pids{});

  const std::int64_t first = stage.bear(Birth::below);
  const ProcessSet before = processes.offspring(family);
  EXPECT_EQ(pids(before), Pids{first});

  const Pids later = {stage.bear(Birth::below), stage.bear(Birth::away), stage.bear(Birth::left)};
  ProcessSet started = processes.offspring(family);
  for (const ProcessBirth& one : before) started.erase(one);
  EXPECT_EQ(pids(started), later);

  // Signal 0 only checks, and ignores another process that reuses the number.
  EXPECT_EQ(processes.signal_each(started, 0), started);
  ProcessSet others;
  for (const ProcessBirth& one : started) others.insert({one.pid, one.started + 1'000'000});
  EXPECT_EQ(processes.signal_each(others, SIGKILL), ProcessSet{});
  for (const std::int64_t pid : later) EXPECT_TRUE(stage.lives(pid)) << pid;

  EXPECT_EQ(processes.signal_each(started, SIGTERM), started);
  for (const std::int64_t pid : later) EXPECT_TRUE(stage.until_gone(pid)) << pid;
  EXPECT_EQ(processes.signal_each(started, SIGTERM), ProcessSet{});
  EXPECT_EQ(processes.offspring(family), before);
  EXPECT_TRUE(stage.lives(family.root));
  EXPECT_TRUE(stage.lives(first));
  EXPECT_TRUE(stage.lives(stranger));
}

}  // namespace perdure
