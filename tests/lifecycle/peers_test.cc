// The same with daemons on one database: one is stopped while calls to another one, which does not
// respond, are in flight, and while clients move from one to the other.
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api_client.h"
#include "cluster_run.h"
#include "raw_http.h"
#include "testing/postgres/postgres_server.h"

namespace perdure {
namespace {

class PeersLifecycle : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = PostgresServer::missing(); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
    run_ = std::make_unique<ClusterRun>(
        ClusterRun::Setup{.store = PostgresServer::shared().new_database(),
                          .nodes = 2,
                          .clients = 2,
                          .lease_secs = 30});
    const Result<> started = run_->start_all();
    ASSERT_TRUE(started) << started.error().message();
  }
  void expect_clean() {
    for (std::size_t i = 0; i < run_->size(); ++i) {
      const std::string output = run_->node(i).output();
      EXPECT_EQ(output.find("Sanitizer"), std::string::npos) << output;
      EXPECT_EQ(output.find("CHECK failed"), std::string::npos) << output;
    }
  }

  std::unique_ptr<ClusterRun> run_;
};

TEST_F(PeersLifecycle, a_stop_with_calls_to_a_silent_daemon_in_flight_is_clean) {
  ApiClient owner(run_->node(0).endpoint());
  const std::string session = owner.create_session({});
  ASSERT_FALSE(session.empty());
  ApiClient other(run_->node(1).endpoint());
  ASSERT_TRUE(other.get("/api/sessions/" + session + "/fs/list").ok());
  run_->start_clients();
  ASSERT_TRUE(
      until([&] { return json_list(other.get("/api/sessions").body, "sessions").size() > 2; }));
  run_->node(0).signal(SIGSTOP);
  std::vector<RawConnection> flying;
  for (int i = 0; i < 20; ++i) {
    flying.push_back(RawConnection::to_socket(run_->node(1).home() + "/run/perdure.sock"));
    flying.back().send("GET /api/sessions/" + session +
                       "/fs/list HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  // The daemon handles this after those requests, so they are under way.
  ASSERT_TRUE(other.get("/healthz").ok());
  EXPECT_EQ(run_->node(1).stop(), 0) << run_->node(1).output();
  run_->node(0).signal(SIGCONT);
  const Result<> again = run_->node(1).start();
  ASSERT_TRUE(again) << again.error().message();
  run_->stop_clients();
  EXPECT_EQ(run_->node(0).stop(), 0) << run_->node(0).output();
  expect_clean();
}

}  // namespace
}  // namespace perdure
