// A daemon whose journal is in a database, and a database that goes away: the daemon lives, says
// so, and serves again by itself. And a second daemon of the same name.
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "api_client.h"
#include "daemon_process.h"
#include "journal_check.h"
#include "testing/pg_gate.h"
#include "testing/postgres_server.h"

namespace perdure {
namespace {

class Database : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = PostgresServer::missing(); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
  }
  static bool is_idle(ApiClient& client, const std::string& session) {
    return until(
        [&] { return client.get("/api/sessions/" + session).at("session.status") == "idle"; });
  }
};

TEST_F(Database, ACK1_J2_a_database_that_was_away_is_used_again_and_nothing_is_lost_or_doubled) {
  const std::string place = PostgresServer::shared().new_database();
  PgGate gate(PostgresServer::shared().socket_path());
  DaemonProcess daemon(
      {.arguments = {"--store", PostgresServer::through_port(place, gate.port())}});
  ASSERT_TRUE(daemon.start());
  ApiClient client(daemon.endpoint());
  const std::string session = client.create_session({});
  ASSERT_FALSE(session.empty()) << daemon.output();
  // It is idle before a run begins, too.
  const auto have_completed = [&](std::size_t runs) {
    return until([&] { return client.count(session, "run.completed") == runs; }) &&
           is_idle(client, session);
  };
  ASSERT_TRUE(client.prompt({.session = session, .text = "say 2", .key = "first"}).ok());
  ASSERT_TRUE(have_completed(1)) << daemon.output();

  gate.set(PgGate::Door::shut);
  const ApiReply refused = client.prompt({.session = session, .text = "say 1", .key = "away"});
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_EQ(refused.at("error.code"), "unavailable") << refused.body;
  ASSERT_TRUE(daemon.is_running());
  gate.set(PgGate::Door::open);
  ASSERT_TRUE(until([&] {
    return client.prompt({.session = session, .text = "say 1", .key = "back"}).ok();
  })) << daemon.output();
  ASSERT_TRUE(have_completed(2)) << daemon.output();

  // A commit whose answer is cut off: the client is answered all the same, and once.
  gate.arm(PgGate::Strike::after);
  EXPECT_TRUE(client.prompt({.session = session, .text = "say 1", .key = "cut"}).ok());
  EXPECT_TRUE(gate.has_struck());
  ASSERT_TRUE(have_completed(3)) << daemon.output();
  EXPECT_EQ(client.count(session, "message.user"), 3U);
  const std::map<std::string, SentPrompt> sent{
      {"first", {.text = "say 2"}}, {"back", {.text = "say 1"}}, {"cut", {.text = "say 1"}}};
  const JudgedSession judged{session, client.records(session), sent};
  for (const std::string& wrong : judge(judged, Rest::quiet)) ADD_FAILURE() << wrong;
  EXPECT_TRUE(client.post("/api/sessions/" + session + "/stop").ok());
  EXPECT_TRUE(daemon.until_no_hosted());
  EXPECT_EQ(daemon.stop(), 0) << daemon.output();
  for (const std::string& wrong : judge_database(place)) ADD_FAILURE() << wrong;
}

TEST_F(Database, C19_a_second_daemon_of_the_same_name_takes_over_and_the_first_one_ends) {
  const std::string place = PostgresServer::shared().new_database();
  DaemonProcess first({.arguments = {"--store", place, "--node", "n"}});
  ASSERT_TRUE(first.start());
  DaemonProcess second({.arguments = {"--store", place, "--node", "n"}});
  ASSERT_TRUE(second.start());
  ApiClient client(first.endpoint());
  (void)client.create_session({});
  EXPECT_NE(first.until_exit(), 0);
  EXPECT_TRUE(first.log().contains("has taken over")) << first.log();
  ApiClient next(second.endpoint());
  EXPECT_FALSE(next.create_session({}).empty());
}

}  // namespace
}  // namespace perdure
