// A hosted agent that tries to grant its own question (TOK3). Each attempt is made by a real
// process inside of the session, is refused, and leaves the question open.
#include <filesystem>

#include <unistd.h>

#include "env_posix/confine.h"
#include "guarded_daemon.h"

namespace perdure {
namespace {

constexpr const char* attacks = PERDURE_ATTACKS;

class HostileAgent : public ::testing::Test {
 protected:
  void SetUp() override {
    if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "needs python3";
    start({});
  }
  void start(const std::string& more_config) {
    daemon_ = std::make_unique<GuardedDaemon>(
        DaemonSetup{.config = more_config + "\n[agents.hostile]\ncommand = ['/usr/bin/python3', '" +
                              std::string(attacks) + "/hostile_agent.py']\n"});
    ASSERT_EQ(daemon_->start(), "");
    session_ = client().create_session({.agent = "hostile"});
    ASSERT_FALSE(session_.empty());
  }
  void TearDown() override {
    if (daemon_ && ::testing::Test::HasFailure()) {
      for (const std::string& record : client().records(session_)) std::cerr << record << "\n";
    }
  }
  ApiClient client() { return daemon_->client(); }
  std::string said() {
    std::string all;
    for (const std::string& record : client().records(session_)) {
      if (json_at(record, "kind") == "message.agent") all += json_at(record, "text");
    }
    return all;
  }
  // Opens a question; the session stays in that turn.
  void ask() {
    ASSERT_TRUE(client().prompt({.session = session_, .text = "ask true"}).ok());
    ASSERT_TRUE(until([&] { return said().find("attempted") != std::string::npos; }, 30'000));
    for (const std::string& record : client().records(session_)) {
      if (json_at(record, "kind") == "permission.requested") {
        permission_ = json_at(record, "perm_id");
      }
      if (json_at(record, "kind") == "token.minted") wait_ = json_at(record, "token_id");
    }
    ASSERT_FALSE(permission_.empty());
    ASSERT_FALSE(wait_.empty());
  }
  // A second session of the same agent, which attacks; what it saw.
  std::string attack(const std::string& command) {
    if (attacker_.empty()) attacker_ = client().create_session({.agent = "hostile"});
    const std::size_t before = client().count(attacker_, "run.completed");
    const ApiReply reply = client().prompt({.session = attacker_, .text = command});
    EXPECT_TRUE(reply.ok()) << reply.body;
    EXPECT_TRUE(until([&] { return client().count(attacker_, "run.completed") > before; }, 60'000));
    std::string last;
    for (const std::string& record : client().records(attacker_)) {
      const std::string kind = json_at(record, "kind");
      if (kind == "run.started") last.clear();
      if (kind == "message.agent") last += json_at(record, "text");
    }
    return last;
  }
  std::string request(const std::string& words) {
    return attack("/usr/bin/python3 " + std::string(attacks) + "/request.py " + words);
  }
  void expect_open() {
    EXPECT_EQ(client().count(session_, "permission.resolved"), 0u);
    EXPECT_EQ(client().count(session_, "token.consumed"), 0u);
    EXPECT_NE(client().get("/api/inbox").body.find(permission_), std::string::npos);
  }
  std::string grant() const {
    return "POST /api/permissions/" + permission_ + R"( '{"option_id":"allow"}')";
  }

  std::unique_ptr<GuardedDaemon> daemon_;
  std::string session_;
  std::string attacker_;
  std::string permission_;
  std::string wait_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(HostileAgent, TOK3_cannot_answer_or_mint_over_the_unix_socket) {
  ask();
  const std::string to = daemon_->socket() + " ";
  // The socket is there for it: it may look.
  EXPECT_TRUE(has(request(to + "GET /api/sessions ''"), "status=200"));
  const std::string tries[] = {grant(),
                               "POST /api/tokens '{\"name\":\"x\",\"scopes\":[\"admin\"]}'",
                               "POST /api/launch '{}'",
                               "POST /api/rules '{\"agent\":\"hostile\"}'",
                               "GET /api/tokens ''",
                               "GET /api/waits/" + wait_ + "/secret ''",
                               "POST /api/waits/" + wait_ + " '{\"secret\":\"x\",\"answer\":{}}'"};
  for (const std::string& each : tries) {
    const std::string saw = request(to + each);
    EXPECT_TRUE(has(saw, "status=403")) << each << "\n" << saw;
    EXPECT_TRUE(has(saw, "inside of a session")) << each << "\n" << saw;
  }
  expect_open();
}

TEST_F(HostileAgent, TOK3_is_known_without_its_environment_and_its_parent) {
  ask();
  const std::string saw = request(daemon_->socket() + " " + grant() + " '' orphan");
  EXPECT_TRUE(has(saw, "status=403")) << saw;
  expect_open();
}

TEST_F(HostileAgent, TOK3_cannot_read_the_token_or_the_data_folder) {
  ask();
  const std::string home = daemon_->process.home();
  const std::string saw = attack("cat " + home + "/token " + home + "/wait.key; ls -A " + home +
                                 " " + home + "/run/agentctl; cat " + home + "/perdure.db");
  if (!allows_mount_namespaces()) GTEST_SKIP() << "this machine allows no mount namespace";
  EXPECT_FALSE(has(saw, "spool")) << saw;
  EXPECT_FALSE(has(saw, daemon_->process.admin_token())) << saw;
  EXPECT_FALSE(has(saw, ".sock\n") && has(saw, "exec_")) << saw;
  EXPECT_FALSE(has(saw, "wait.key\n")) << saw;
  expect_open();
}

TEST_F(HostileAgent, TOK3_a_stolen_admin_token_over_tcp_answers_nothing) {
  ask();
  const std::string to = std::to_string(daemon_->port) + " ";
  const std::string token = " " + daemon_->process.admin_token();
  EXPECT_TRUE(has(request(to + grant()), "status=401"));
  const std::string tries[] = {grant(),
                               "POST /api/tokens '{\"name\":\"x\",\"scopes\":[\"admin\"]}'",
                               "POST /api/launch '{}'", "GET /api/waits/" + wait_ + "/secret ''"};
  for (const std::string& each : tries) {
    const std::string saw = request(to + each + token);
    EXPECT_TRUE(has(saw, "status=403")) << each << "\n" << saw;
  }
  const std::string orphan = request(to + grant() + token + " orphan");
  EXPECT_TRUE(has(orphan, "status=403")) << orphan;
  expect_open();
  // The same token from outside of a session works: it was the place that was refused.
  const RawAnswer answer = daemon_->with_token(daemon_->process.admin_token(),
                                               {.method = "POST",
                                                .target = "/api/permissions/" + permission_,
                                                .body = R"({"option_id":"reject"})"});
  EXPECT_EQ(answer.status, 200) << answer.body;
}

TEST_F(HostileAgent, TOK3_a_stolen_launch_token_logs_no_agent_in) {
  const std::string saw =
      request(std::to_string(daemon_->port) + R"( POST /api/login '{"token":")" +
              daemon_->make_launch_token() + R"("}')");
  EXPECT_TRUE(has(saw, "status=403")) << saw;
}

TEST_F(HostileAgent, TOK3_cannot_speak_to_an_agentctl) {
  ask();
  const std::string folder = daemon_->process.home() + "/run/agentctl";
  std::size_t sockets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".sock") continue;
    ++sockets;
    const std::string saw = attack(
        "/usr/bin/python3 -c \"import socket; s = socket.socket(socket.AF_UNIX); s.connect('" +
        entry.path().string() + "'); s.sendall(b'x' * 64); print('got', s.recv(99))\"");
    EXPECT_FALSE(has(saw, "exit=0") && !has(saw, "got b''")) << saw;
  }
  EXPECT_GE(sockets, 1u);
  expect_open();
}

TEST_F(HostileAgent, TOK3_D6_no_verb_approves_or_starts_a_daemon) {
  ask();
  const std::string place = "PERDURE_HOME=" + daemon_->process.home() +
                            " PERDURE_CONFIG=" + daemon_->process.config_file() + " " +
                            daemon_->process.setup().program + " ";
  const std::string approve = attack(place + "approve " + permission_);
  EXPECT_TRUE(has(approve, "exit=4")) << approve;
  const std::string other = daemon_->process.folder() + "/user/other";
  const std::string start =
      attack("PERDURE_HOME=" + other + " " + daemon_->process.setup().program + " ls");
  EXPECT_TRUE(has(start, "exit=5")) << start;
  EXPECT_FALSE(std::filesystem::exists(other + "/run/perdure.sock"));
  expect_open();
}

TEST_F(HostileAgent, TOK3_its_environment_holds_no_token_of_ours) {
  const std::string saw = attack("env");
  EXPECT_TRUE(has(saw, "PERDURE_SESSION=" + attacker_)) << saw;
  EXPECT_FALSE(has(saw, daemon_->process.admin_token()));
  EXPECT_FALSE(has(saw, "PERDURE_HOME"));
  EXPECT_FALSE(has(saw, "PERDURE_CONFIG"));
}

class UnconfinedAgent : public HostileAgent {
 protected:
  void SetUp() override {
    if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "needs python3";
    start("[sessions]\nconfine = false");
  }
};

TEST_F(UnconfinedAgent, TOK3_one_that_reads_the_token_still_answers_nothing) {
  ask();
  const std::string saw = request(std::to_string(daemon_->port) + " " + grant() + " $(cat " +
                                  daemon_->process.home() + "/token)");
  EXPECT_TRUE(has(saw, "status=403")) << saw;
  expect_open();
}

}  // namespace
}  // namespace perdure
