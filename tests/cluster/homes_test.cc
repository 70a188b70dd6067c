// Two real daemons whose agents are separate: a daemon that takes over a session cannot reach its
// agent, and must neither start a second one nor declare the first one dead.
#include <string>

#include <gtest/gtest.h>

#include "cluster_run.h"
#include "testing/postgres/postgres_server.h"

namespace perdure {
namespace {

class Homes : public testing::Test {
 protected:
  static constexpr int pieces = 120;

  void SetUp() override {
    if (const std::string reason = PostgresServer::missing(); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
    run_ = std::make_unique<ClusterRun>(
        ClusterRun::Setup{.store = PostgresServer::shared().new_database(),
                          .nodes = 2,
                          .clients = 0,
                          .homes = ClusterRun::Setup::Homes::apart});
    const Result<> started = run_->start_all();
    ASSERT_TRUE(started) << started.error().message();
    there_ = std::make_unique<ApiClient>(run_->node(1).endpoint());
  }
  // Its daemon dies mid-turn, and the other one takes the session over.
  void lose_the_owner() {
    ApiClient here(run_->node(0).endpoint());
    session_ = here.create_session({});
    ASSERT_FALSE(session_.empty());
    const std::string text = "paced " + std::to_string(pieces) + " 50";
    ASSERT_TRUE(here.prompt({.session = session_, .text = text}).ok());
    ASSERT_TRUE(until([&] { return here.count(session_, "message.agent") >= 3; }));
    run_->node(0).kill_daemon();
    ASSERT_TRUE(until([&] { return shown("node") == "null"; }, 20'000));
  }
  std::string shown(const std::string& member) {
    return there_->get("/api/sessions/" + session_).at("session." + member);
  }

  std::unique_ptr<ClusterRun> run_;
  std::unique_ptr<ApiClient> there_;
  std::string session_;
};

TEST_F(Homes, C19_an_agent_out_of_reach_is_unknown_until_a_daemon_at_its_home_has_it_back) {
  ASSERT_NO_FATAL_FAILURE(lose_the_owner());
  EXPECT_EQ(shown("liveness"), "unknown");
  ASSERT_TRUE(there_->prompt({.session = session_, .text = "say 1"}).ok());
  EXPECT_EQ(there_->count(session_, "run.started"), 1U);
  EXPECT_EQ(there_->count(session_, "run.interrupted"), 0U);
  const Result<> started = run_->node(0).start();
  ASSERT_TRUE(started) << started.error().message();
  ASSERT_TRUE(until([&] { return shown("node") == "n1"; }, 20'000));
  ASSERT_TRUE(until([&] { return there_->count(session_, "run.completed") == 2; }, 30'000));
  EXPECT_EQ(there_->count(session_, "executor.starting"), 1U);
  const std::string text = there_->get("/api/sessions/" + session_ + "/transcript").body;
  for (int piece = 1; piece <= pieces; ++piece) {
    const std::string mark = "<p1:" + std::to_string(piece) + ">";
    const std::size_t at = text.find(mark);
    ASSERT_NE(at, std::string::npos) << mark;
    EXPECT_EQ(text.find(mark, at + 1), std::string::npos) << mark;
  }
}

TEST_F(Homes, C19_a_person_declares_it_dead_and_its_run_is_interrupted_once) {
  ASSERT_NO_FATAL_FAILURE(lose_the_owner());
  // The whole host is gone, which is not visible from here.
  run_->node(0).kill_hosted();
  ASSERT_TRUE(run_->node(0).until_no_hosted());
  EXPECT_EQ(shown("liveness"), "unknown");
  const std::string path = "/api/sessions/" + session_ + "/resume";
  const ApiReply resumed = there_->post(path, R"({"declare_dead":true})");
  EXPECT_TRUE(resumed.ok()) << resumed.body;
  EXPECT_EQ(there_->count(session_, "run.interrupted"), 1U);
  EXPECT_EQ(there_->count(session_, "executor.starting"), 2U);
}

}  // namespace
}  // namespace perdure
