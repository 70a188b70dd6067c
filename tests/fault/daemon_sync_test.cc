// A real `perdure serve` whose disk fails: it exits within one second, has acknowledged nothing
// that depends on the failed sync, and its next run shows the outcome.
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "daemon_test.h"

namespace perdure {
namespace {

constexpr int exit_storage = 70;

class FailingSync : public DaemonTest, public ::testing::WithParamInterface<std::string> {};

INSTANTIATE_TEST_SUITE_P(Engines, FailingSync, testing::Values("sqlite", "files"),
                         [](const auto& of) { return of.param; });

TEST_P(FailingSync, S6_DISK1_a_real_daemon_is_gone_and_has_answered_nobody) {
  DaemonSetup setup;
  setup.arguments = {"--store", GetParam()};
  daemon_ = std::make_unique<DaemonProcess>(setup);
  const std::string trigger = daemon_->folder() + "/sync-fails";
  daemon_->setup().environment = {"LD_PRELOAD=" PERDURE_SYNC_FAULT, "SYNC_FAULT=" + trigger};
  const Result<> started = daemon_->start();
  ASSERT_TRUE(started) << started.error().message();
  client_ = std::make_unique<ApiClient>(daemon_->endpoint());
  const std::string session = client_->create_session({});
  ASSERT_FALSE(session.empty());
  const ApiCall rename{.method = "PATCH",
                       .path = "/api/sessions/" + session,
                       .body = R"({"title":"lost or not"})",
                       .key = "k-1"};
  std::ofstream(trigger) << "now";
  EXPECT_EQ(client_->call(rename).status, 0) << "nobody is answered";
  EXPECT_EQ(daemon_->until_exit(), exit_storage) << daemon_->log();

  // The fault is over: acknowledged data exists, and the retry shows the outcome.
  daemon_->setup().environment.clear();
  ASSERT_TRUE(daemon_->start()) << daemon_->output();
  client_ = std::make_unique<ApiClient>(daemon_->endpoint());
  EXPECT_EQ(client_->get("/api/sessions/" + session).status, 200);
  const ApiReply first = client_->call(rename);
  EXPECT_TRUE(first.ok()) << first.body;
  EXPECT_EQ(client_->call(rename).body, first.body);
  EXPECT_EQ(client_->count(session, "session.renamed"), 1U);
  EXPECT_EQ(field(session, "title"), "lost or not");
}

}  // namespace
}  // namespace perdure
