// A daemon whose test agent lives in containers of a private engine. One engine serves all tests of
// a program; anything that a test leaves in it is an error of that test.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "daemon_test.h"
#include "engine_process.h"

namespace perdure {

// The engine of that kind, started on first use; an error: it cannot run here.
inline Result<EngineProcess*> shared_engine(EngineKind kind) {
  struct Kept {
    std::unique_ptr<EngineProcess> engine;
    Result<> prepared;
  };
  static std::map<EngineKind, Kept> engines;
  Kept& kept = engines[kind];
  if (!kept.engine) {
    kept.engine = std::make_unique<EngineProcess>(kind);
    kept.prepared = kept.engine->prepare();
  }
  if (!kept.prepared) return std::unexpected(kept.prepared.error());
  return kept.engine.get();
}

class ContainerTest : public DaemonTest, public ::testing::WithParamInterface<EngineKind> {
 protected:
  void SetUp() override {
    const Result<EngineProcess*> engine = shared_engine(GetParam());
    if (!engine) GTEST_SKIP() << engine.error().message();
    engine_ = *engine;
    ASSERT_EQ(engine_->containers().size(), 0u);
  }
  void TearDown() override {
    if (!engine_) return;
    if (daemon_) EXPECT_FALSE(daemon_->had_two_agents());
    client_.reset();
    engine_->remove_all();
    daemon_.reset();
  }

  // `more` are lines of TOML placed first.
  void begin_with_containers(const std::string& more = {}) {
    DaemonSetup setup;
    setup.agent_lines = std::string("runtime = 'local_docker'\nimage = '") + test_image + "'\n";
    daemon_ = std::make_unique<DaemonProcess>(std::move(setup));
    daemon_->setup().config = more + engine_->config_lines() + "mounts = ['" +
                              daemon_->agent_home() + ":" + daemon_->agent_home() + "']\n";
    daemon_->write_config();
    ASSERT_NO_FATAL_FAILURE(begin_again());
    client_ = std::make_unique<ApiClient>(daemon_->endpoint());
  }
  void begin_again() {
    const Result<> started = daemon_->start();
    ASSERT_TRUE(started) << started.error().message();
  }
  std::string session_with(const std::string& prompt) {
    const std::string session = client_->create_session({});
    EXPECT_FALSE(session.empty());
    EXPECT_TRUE(client_->prompt({.session = session, .text = prompt}).ok());
    return session;
  }
  std::string text_of(const std::string& session) {
    return client_->get("/api/sessions/" + session + "/transcript").body;
  }
  std::string container_of(const std::string& session) { return field(session, "container_id"); }
  // In the host's folders and mounts.
  std::size_t entries(const std::string& folder) const {
    std::error_code error;
    const std::filesystem::directory_iterator all(daemon_->home() + folder, error);
    return error ? 0
                 : static_cast<std::size_t>(
                       std::distance(all, std::filesystem::directory_iterator()));
  }

  EngineProcess* engine_ = nullptr;
};

inline std::string engine_name(const ::testing::TestParamInfo<EngineKind>& info) {
  return info.param == EngineKind::podman ? "podman" : "docker";
}

}  // namespace perdure
