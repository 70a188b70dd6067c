// A daemon here and an outpost on another host, known to each other; the base of most tests of
// remote sessions.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "base/json/json.h"
#include "daemon_test.h"
#include "other_host.h"

namespace perdure {

// Once per program; an error: such hosts cannot be made here.
inline const Result<>& hosts_can_be_made() {
  static const Result<> prepared = OtherHost::prepare_here();
  return prepared;
}

class RemoteTest : public DaemonTest {
 protected:
  void SetUp() override {
    if (const Result<>& can = hosts_can_be_made(); !can) GTEST_SKIP() << can.error().message();
    DaemonSetup setup;
    setup.config =
        "[remotes.box]\nbackoff_min_ms = 50\nbackoff_max_ms = 500\nheartbeat_ms = 2000\n";
    daemon_ = std::make_unique<DaemonProcess>(std::move(setup));
    host_ = std::make_unique<OtherHost>(daemon_->folder() + "/other", daemon_->folder() + "/user");
    if (const Result<> booted = host_->boot(); !booted) {
      host_.reset();
      GTEST_SKIP() << booted.error().message();
    }
  }
  void TearDown() override {
    if (daemon_) EXPECT_FALSE(daemon_->had_two_agents());
    client_.reset();
    host_.reset();
    daemon_.reset();
  }

  void start_daemon() {
    const Result<> started = daemon_->start();
    ASSERT_TRUE(started) << started.error().message();
    if (!client_) client_ = std::make_unique<ApiClient>(daemon_->endpoint());
  }
  void start_outpost() {
    const Result<OutpostSight> sight = host_->start_outpost();
    ASSERT_TRUE(sight) << sight.error().message();
    sight_ = *sight;
  }
  // As written by `perdure remote add`.
  void write_remote() const {
    std::filesystem::create_directories(daemon_->home() + "/remotes");
    JsonWriter json;
    json.begin_object().key("name").string("box").key("host").string(host_->address());
    json.key("port").number(static_cast<std::int64_t>(sight_.port));
    json.key("fingerprint").string(sight_.fingerprint).key("secret").string(sight_.secret);
    json.end_object();
    const std::string path = daemon_->home() + "/remotes/box.json";
    std::ofstream(path + ".new") << json.text() << "\n";
    std::filesystem::rename(path + ".new", path);
  }
  void begin_with_remote() {
    ASSERT_NO_FATAL_FAILURE(start_outpost());
    write_remote();
    ASSERT_NO_FATAL_FAILURE(start_daemon());
  }
  std::string session_with(const std::string& prompt) {
    const std::string session = client_->create_session({.more = R"("remote":"box")"});
    EXPECT_FALSE(session.empty());
    EXPECT_TRUE(client_->prompt({.session = session, .text = prompt}).ok());
    return session;
  }
  std::string text_of(const std::string& session) {
    return client_->get("/api/sessions/" + session + "/transcript").body;
  }
  // Every piece of the first turn, exactly once.
  void expect_whole(const std::string& session, int pieces) {
    const std::string text = text_of(session);
    for (int piece = 1; piece <= pieces; ++piece) {
      const std::string mark = "<p1:" + std::to_string(piece) + ">";
      const std::size_t at = text.find(mark);
      EXPECT_NE(at, std::string::npos) << mark;
      if (at != std::string::npos) EXPECT_EQ(text.find(mark, at + 1), std::string::npos) << mark;
    }
    EXPECT_EQ(client_->count(session, "run.interrupted"), 0u);
    EXPECT_EQ(client_->count(session, "executor.starting"), 1u);
  }
  bool until_liveness(const std::string& session, const std::string& wanted) {
    return until([&] { return field(session, "liveness") == wanted; }, 30'000);
  }
  std::size_t agentctls() const {
    std::size_t count = 0;
    for (const MarkedProcess& each : daemon_->processes()) {
      if (each.kind == ProcessKind::agentctl) ++count;
    }
    return count;
  }

  std::unique_ptr<OtherHost> host_;
  OutpostSight sight_;
};

}  // namespace perdure
