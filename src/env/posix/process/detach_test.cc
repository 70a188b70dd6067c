// Detaching, as seen by the starter: the answer arrives, and the process left running shares
// nothing with us.
#include "env/posix/process/detach.h"

#include <csignal>
#include <fstream>
#include <regex>

#include <gtest/gtest.h>

#include "env/posix/confine/identity.h"
#include "env/posix/fixture_for_test.h"
#include "env/posix/process/proc.h"

namespace perdure {
namespace {

using posix_test::Scratch;

class Detach : public posix_test::ProcessTest {};

TEST_F(Detach, the_answer_arrives_and_the_process_belongs_to_nobody) {
  auto starter = spawn({"detach", "well"});
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(*events_.exit, (ProcessExit{.code = 0})) << events_.error_output;
  std::smatch parts;
  const std::regex expected(
      "(\\d+) leader 0 cwd / stdout /dev/null fds 4 umask 63 before 18 tty 0\n");
  ASSERT_TRUE(std::regex_match(events_.output, parts, expected)) << events_.output;
  const ProcessIdentity detached = identify_process(std::stoll(parts[1])).value();
  EXPECT_NE(read_proc_stat(detached.pid)->parent, starter->pid());
  // Killing the starter's group does not reach it.
  starter->signal(SIGKILL);
  starter.reset();
  EXPECT_EQ(process_life(detached), ProcessLife::alive);
  ASSERT_TRUE(signal_process(detached, SIGKILL));
  EXPECT_TRUE(until([&] { return process_life(detached) == ProcessLife::dead; }));
}

TEST_F(Detach, one_that_ends_before_it_answers_is_a_failed_start) {
  const auto starter = spawn({"detach", "die"});
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(*events_.exit, (ProcessExit{.code = 1}));
  EXPECT_EQ(events_.output, "");
  EXPECT_EQ(events_.error_output, "the detached process ended before it answered\n");
}

TEST_F(Detach, a_refusal_is_written_where_the_starter_wants_it) {
  const auto starter = spawn({"detach", "refuse"});
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(*events_.exit, (ProcessExit{.code = 1}));
  EXPECT_EQ(events_.output, "");
  EXPECT_EQ(events_.error_output, "no\n");
}

TEST_F(Detach, one_that_answers_too_late_learns_that_nobody_waits) {
  const Scratch scratch;
  const std::string flag = scratch.path("flag");
  const auto starter = spawn({"detach", "late", flag});
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(*events_.exit, (ProcessExit{.code = 1}));
  EXPECT_EQ(events_.error_output, "the detached process did not answer in time\n");
  // It tries to answer once this file exists, and removes it if that fails.
  std::ofstream(flag) << "now";
  EXPECT_TRUE(until([&] { return !std::filesystem::exists(flag); }));
}

}  // namespace
}  // namespace perdure
