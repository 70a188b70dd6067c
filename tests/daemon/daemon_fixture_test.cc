// The fixture itself: a daemon that is started, killed and started again keeps a session, and
// nothing is left behind when it ends.
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

}  // namespace
}  // namespace perdure
