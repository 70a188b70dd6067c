// Which processes are alive, dead or unknown: with real processes, zombies and fabricated records
// of pids that have been reused.
#include "env/posix/confine/identity.h"

#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env/posix/fixture_for_test.h"
#include "env/posix/process/proc.h"

namespace perdure {
namespace {

class Identity : public posix_test::ProcessTest {};

TEST(ProcStat, a_name_may_hold_anything) {
  const std::string tail = " S 4 5 6 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 3 0 98765 1 2 3\n";
  for (const std::string name : {"(sh)", "(a) S 9 (b)", "(  )", "(\n) )"}) {
    const auto stat = parse_proc_stat("123 " + name + tail);
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->pid, 123);
    EXPECT_EQ(stat->state, 'S');
    EXPECT_EQ(stat->parent, 4);
    EXPECT_EQ(stat->group, 5);
    EXPECT_EQ(stat->threads, 3);
    EXPECT_EQ(stat->started, 98765U);
  }
  const std::vector<std::string> bad_lines = {"",         "12",           "12 (x)",
                                              "12 (x) S", "x (y)" + tail, ") ("};
  for (const std::string& bad : bad_lines) { EXPECT_FALSE(parse_proc_stat(bad)) << bad; }
}

TEST_F(Identity, C19_the_living_are_alive_and_the_dead_dead) {
  auto process = spawn({"idle"});
  ASSERT_TRUE(until_output("ready"));
  const ProcessIdentity identity = identify_process(process->pid()).value();
  EXPECT_EQ(process_life(identity), ProcessLife::alive);
  EXPECT_EQ(process_life(identify_self().value()), ProcessLife::alive);
  process->signal(SIGSTOP);
  EXPECT_EQ(process_life(identity), ProcessLife::alive);  // silent, not dead
  process->signal(SIGKILL);
  ASSERT_TRUE(until_exit());
  // Not reaped yet: kill(pid, 0) still succeeds.
  EXPECT_EQ(kill(static_cast<pid_t>(identity.pid), 0), 0);
  EXPECT_EQ(process_life(identity), ProcessLife::dead);
  process.reset();
  EXPECT_EQ(process_life(identity), ProcessLife::dead);
}

TEST_F(Identity, C19_another_host_boot_is_dead_and_half_a_record_unknown) {
  ProcessIdentity identity = identify_self().value();
  identity.host_boot = "00000000-0000-0000-0000-000000000000";
  EXPECT_EQ(process_life(identity), ProcessLife::dead);
  identity.host_boot.clear();
  EXPECT_EQ(process_life(identity), ProcessLife::unknown);
  EXPECT_EQ(process_life({0, 1, host_boot().value()}), ProcessLife::unknown);
}

TEST_F(Identity, X17_a_later_owner_of_the_number_is_not_signalled) {
  const auto process = spawn({"idle"});
  ASSERT_TRUE(until_output("ready"));
  ProcessIdentity identity = identify_process(process->pid()).value();
  ProcessIdentity stale = identity;
  stale.started -= 1;
  EXPECT_EQ(process_life(stale), ProcessLife::dead);
  const auto refused = signal_process(stale, SIGKILL);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::not_found);
  EXPECT_EQ(process_life(identity), ProcessLife::alive);
  // The same call with the right record reaches it, so the record caused the refusal above.
  EXPECT_TRUE(signal_process(identity, SIGKILL));
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(events_.exit->signal, SIGKILL);
}

TEST_F(Identity, a_pidfd_is_not_opened_for_another_start_time) {
  const auto process = spawn({"idle"});
  ProcStat stat = read_proc_stat(process->pid()).value();
  EXPECT_TRUE(open_pidfd(stat));
  stat.started += 1;
  EXPECT_EQ(open_pidfd(stat).error().code(), Code::not_found);
}

}  // namespace
}  // namespace perdure
