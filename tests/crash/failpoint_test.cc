// The white-box complement to random kills: the daemon ends exactly at each failpoint
// (base/failpoint.h) while clients work, and everything that it acknowledged must hold afterwards.
#include "base/failpoint.h"

#include <csignal>
#include <string>

#include <gtest/gtest.h>

#include "crash_run.h"

namespace perdure {
namespace {

constexpr int killed = 128 + SIGKILL;

std::string test_name(const testing::TestParamInfo<std::string_view>& point) {
  std::string name(point.param);
  for (char& letter : name) letter = letter == '.' ? '_' : letter;
  return name;
}

// Hits to skip before the one that kills, so that some work is under way.
std::string passes(std::string_view point) {
  const bool at_once =
      point.starts_with("reattach") || point.starts_with("checkpoint") || point == "shutdown";
  return at_once ? "" : "20*off->";
}

class FailpointLong : public testing::TestWithParam<std::string_view> {};

TEST_P(FailpointLong, ACK1_ACK2_RUN1_STREAM1_PROC5_death_at_a_marked_place_loses_nothing) {
  const std::string_view point = GetParam();
  CrashRun run({.clients = 3, .seed = 7});
  DaemonProcess& daemon = run.daemon();
  // The previous run: leaves agents at work, to be attached again.
  ASSERT_TRUE(daemon.start());
  run.start_clients();
  ASSERT_TRUE(until([&] { return daemon.processes().size() >= 5; }));
  daemon.kill_daemon();

  daemon.setup().environment = {"FAILPOINT=" + std::string(point) + "=" + passes(point) + "1*kill"};
  ASSERT_TRUE(daemon.spawn());
  if (point == "shutdown" || point.starts_with("checkpoint")) {
    ASSERT_TRUE(daemon.until_ready());
    daemon.signal(SIGTERM);
  }
  ASSERT_EQ(daemon.until_exit(), killed) << daemon.output();

  daemon.setup().environment.clear();
  ASSERT_TRUE(daemon.start()) << daemon.output();
  run.stop_clients();
  for (const std::string& wrong : run.findings()) ADD_FAILURE() << wrong;
  for (const std::string& wrong : run.end()) ADD_FAILURE() << wrong;
}

INSTANTIATE_TEST_SUITE_P(Points, FailpointLong, testing::ValuesIn(failpoint_names()), test_name);

TEST(FailpointRefused, a_point_that_there_is_not_keeps_the_daemon_from_starting) {
  DaemonProcess daemon({.environment = {"FAILPOINT=nowhere=1*kill"}});
  const Result<> started = daemon.start();
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message().find("unknown failpoint 'nowhere'"), std::string::npos);
}

}  // namespace
}  // namespace perdure
