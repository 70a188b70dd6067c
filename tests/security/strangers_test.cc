// Connections without credentials, far more than there are slots: the owner notices nothing.
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include <unistd.h>

#include "base/limits.h"
#include "guarded_daemon.h"

namespace perdure {
namespace {

class Strangers : public SecuritySuite {};

TEST_F(Strangers, N16_a_thousand_silent_connections_lock_nobody_out) {
  constexpr std::size_t flood_size = 1000;
  // Shorter than the time a stranger has to present credentials: the next stranger displaces it.
  constexpr std::int64_t wait_ms = 10'000;
  const std::string token = daemon().process.admin_token();
  RawConnection known = daemon().connect();
  const std::string request = "GET /api/sessions HTTP/1.1\r\nHost: " + daemon().authority() +
                              "\r\nAuthorization: Bearer " + token + "\r\n\r\n";
  known.send(request);
  ASSERT_EQ(known.read_answer().status, 200);

  std::vector<RawConnection> flood;
  for (std::size_t i = 0; i < flood_size; ++i) {
    const auto source = static_cast<std::uint8_t>(2 + i % 250);
    flood.push_back(RawConnection::to_port(daemon().port, source));
    if (i % 3 == 0) flood.back().send("POST /api/login HTTP/1.1\r\nHost: ");
  }
  EXPECT_EQ(daemon().with_token(token, {}).status, 200);
  EXPECT_EQ(daemon().unix_socket({}).status, 200);
  EXPECT_FALSE(daemon().client().create_session({}).empty());
  known.send(request);
  EXPECT_EQ(known.read_answer().status, 200) << "who has shown a token stays";
  // The oldest were closed.
  for (std::size_t i = 0; i + http_strangers_max < flood.size(); ++i) {
    ASSERT_TRUE(flood[i].until_closed(wait_ms)) << i;
  }
}

TEST_F(Strangers, N16_a_flood_from_one_address_leaves_the_others_alone) {
  RawConnection other = RawConnection::to_port(daemon().port, 200);
  ASSERT_TRUE(other.is_open());
  std::vector<RawConnection> flood;
  for (std::size_t i = 0; i < 3 * http_strangers_max; ++i) {
    flood.push_back(RawConnection::to_port(daemon().port, 66));
  }
  ASSERT_TRUE(flood.front().until_closed(10'000));
  other.send(daemon().text_of({.target = "/healthz"}));
  EXPECT_EQ(other.read_answer().status, 200);
}

// A thousand descriptors, a common system limit: neither strangers nor known callers take the
// descriptors that the daemon needs to start an agent.
class FewDescriptors : public ::testing::Test {
 protected:
  void SetUp() override {
    DaemonSetup setup;
    folder_ = testing::TempDir() + "perdure-few-" + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
    setup.program = folder_ + "/perdure";
    std::ofstream(setup.program) << "#!/bin/sh\nulimit -n 1024\nexec " << PERDURE_PROGRAM
                                 << " \"$@\"\n";
    std::filesystem::permissions(setup.program, std::filesystem::perms::owner_all);
    daemon_ = std::make_unique<GuardedDaemon>(std::move(setup));
    ASSERT_EQ(daemon_->start(), "");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  // Sends `say` over each connection.
  void flood(const std::string& say) {
    for (std::size_t i = 0; i < 1000; ++i) {
      const auto source = static_cast<std::uint8_t>(2 + i % 250);
      flood_.push_back(RawConnection::to_port(daemon_->port, source));
      if (!say.empty()) flood_.back().send(say);
    }
  }
  void expect_served() {
    ApiClient client = daemon_->client();
    const std::string session = client.create_session({});
    ASSERT_FALSE(session.empty());
    ASSERT_TRUE(client.prompt({.session = session, .text = "say 1"}).ok());
    EXPECT_TRUE(until([&] { return client.count(session, "run.completed") == 1; }))
        << daemon_->process.log();
  }

  std::string folder_;
  std::unique_ptr<GuardedDaemon> daemon_;
  std::vector<RawConnection> flood_;
};

TEST_F(FewDescriptors, N16_strangers_keep_no_owner_out) {
  flood("");
  expect_served();
  EXPECT_EQ(daemon_->with_token(daemon_->process.admin_token(), {}).status, 200);
}

TEST_F(FewDescriptors, N16_known_callers_keep_the_unix_socket_and_agents_from_nobody) {
  const std::string token = daemon_->make_token(R"({"name":"eye","scopes":["observe"]})");
  flood("GET /api/sessions HTTP/1.1\r\nHost: " + daemon_->authority() +
        "\r\nAuthorization: Bearer " + token + "\r\n\r\n");
  expect_served();
}

}  // namespace
}  // namespace perdure
