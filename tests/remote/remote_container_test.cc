// One daemon with a session on another host and one in a container: its death ends neither.
#include <gtest/gtest.h>

#include "../container/container_fixture.h"
#include "remote_fixture.h"

namespace perdure {
namespace {

class RemoteAndContainer : public RemoteTest {
 protected:
  void TearDown() override {
    client_.reset();
    if (engine_) engine_->remove_all();
    RemoteTest::TearDown();
  }

  EngineProcess* engine_ = nullptr;
};

TEST_F(RemoteAndContainer, K33_K35_L36_both_turns_go_on_while_their_daemon_is_killed) {
  const Result<EngineProcess*> engine = shared_engine(EngineKind::podman);
  if (!engine) GTEST_SKIP() << engine.error().message();
  engine_ = *engine;
  daemon_->setup().config += engine_->config_lines() + "mounts = ['" + daemon_->agent_home() + ":" +
                             daemon_->agent_home() + "']\n";
  daemon_->write_config();
  ASSERT_NO_FATAL_FAILURE(begin_with_remote());
  const std::string far = session_with("paced 80 50");
  const std::string boxed =
      client_->create_session({.more = std::string(R"("image":")") + test_image + "\""});
  ASSERT_FALSE(boxed.empty());
  ASSERT_TRUE(client_->prompt({.session = boxed, .text = "paced 80 50"}).ok());
  ASSERT_TRUE(until_count(far, "message.agent", 3)) << daemon_->log();
  ASSERT_TRUE(until_count(boxed, "message.agent", 3)) << daemon_->log();
  EXPECT_EQ(field(far, "runtime"), "remote");
  EXPECT_EQ(field(boxed, "runtime"), "local_docker");
  daemon_->kill_daemon();
  ASSERT_NO_FATAL_FAILURE(start_daemon());
  for (const std::string& session : {far, boxed}) {
    ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
    expect_whole(session, 80);
    EXPECT_EQ(client_->count(session, "executor.reattached"), 1u);
  }
}

}  // namespace
}  // namespace perdure
