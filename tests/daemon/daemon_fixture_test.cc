// The fixture itself: a daemon that is started, killed and restarted keeps its session, and nothing
// is left when it ends.
#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>

#include "api_client.h"
#include "daemon_process.h"
#include "event_reader.h"

namespace perdure {
namespace {

TEST(DaemonFixture, K1_U16_a_session_is_listed_after_a_kill_of_the_daemon) {
  std::string folder;
  {
    DaemonProcess daemon;
    folder = daemon.folder();
    const Result<> started = daemon.start();
    ASSERT_TRUE(started) << started.error().message();
    ApiClient client(daemon.endpoint());
    const std::string session = client.create_session({});
    ASSERT_FALSE(session.empty());
    ASSERT_TRUE(client.prompt({.session = session, .text = "say 2"}).ok());
    EventReader reader(client, session);
    reader.open();
    ASSERT_TRUE(until([&] {
      client.io().run_for_ms(20);
      return client.count(session, "run.completed") == 1;
    }));
    daemon.kill_daemon();
    ASSERT_FALSE(client.get("/readyz").ok());
    ASSERT_TRUE(daemon.start());
    EXPECT_NE(client.get("/api/sessions").body.find(session), std::string::npos);
    EXPECT_EQ(daemon.processes().size(), 3u);  // the daemon, an agentctl, an agent
    const std::vector<std::string> records = client.records(session);
    reader.open();
    ASSERT_TRUE(until([&] {
      client.io().run_for_ms(20);
      return reader.last() >= records.size();
    }));
    EXPECT_EQ(reader.wrong(), "");
    EXPECT_EQ(daemon.stop(), 0);
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

// C19 end to end: the agentctl of a running turn is stopped for longer than the daemon's silence
// limit.
TEST(StoppedAgentctlLong, C19_H2_its_liveness_is_unknown_until_it_goes_on_and_nothing_is_lost) {
  DaemonProcess daemon;
  const Result<> started = daemon.start();
  ASSERT_TRUE(started) << started.error().message();
  ApiClient client(daemon.endpoint());
  const std::string session = client.create_session({});
  ASSERT_FALSE(session.empty());
  const auto liveness = [&] {
    return client.get("/api/sessions/" + session).at("session.liveness");
  };
  ASSERT_TRUE(client.prompt({.session = session, .text = "paced 60 500"}).ok());
  ASSERT_TRUE(until([&] { return client.count(session, "message.agent") >= 3; }));
  EXPECT_EQ(liveness(), "alive");
  pid_t agentctl = 0;
  for (const MarkedProcess& process : daemon.processes()) {
    if (process.kind == ProcessKind::agentctl) agentctl = process.pid;
  }
  ASSERT_NE(agentctl, 0);
  kill(agentctl, SIGSTOP);
  EXPECT_TRUE(until([&] { return liveness() == "unknown"; }));
  EXPECT_EQ(client.count(session, "run.interrupted"), 0U);
  kill(agentctl, SIGCONT);
  EXPECT_TRUE(until([&] { return liveness() == "alive"; }));
  ASSERT_TRUE(until([&] { return client.count(session, "run.completed") == 1; }));
  EXPECT_EQ(client.count(session, "message.agent"), 61U) << "60 pieces and the end";
  EXPECT_EQ(client.count(session, "executor.reattached"), 0U);
  EXPECT_EQ(client.count(session, "run.interrupted"), 0U);
}

}  // namespace
}  // namespace perdure
