// A hosted agent that tries to grant its own question (TOK3). A real process in the session makes
// each attempt; each is rejected and leaves the question open.
#include <filesystem>

#include <unistd.h>

#include "env/posix/confine/confine.h"
#include "hostile_test.h"

namespace perdure {
namespace {

TEST_F(HostileAgent, TOK3_cannot_answer_or_mint_over_the_unix_socket) {
  ask();
  const std::string to = daemon_->socket() + " ";
  // It can use the socket: reading is permitted.
  EXPECT_TRUE(has(request(to + "GET /api/sessions ''"), "status=200"));
  const std::string tries[] = {grant(),
                               "POST /api/tokens '{\"name\":\"x\",\"scopes\":[\"admin\"]}'",
                               "POST /api/launch '{}'",
                               "POST /api/rules '{\"agent\":\"hostile\"}'",
                               "GET /api/tokens ''",
                               "GET /api/audit ''",
                               "GET /api/waits/" + wait_ + "/secret ''",
                               "POST /api/waits/" + wait_ + " '{\"secret\":\"x\",\"answer\":{}}'"};
  for (const std::string& each : tries) {
    const std::string saw = request(to + each);
    EXPECT_TRUE(has(saw, "status=403")) << each << "\n" << saw;
    EXPECT_TRUE(has(saw, "inside a session")) << each << "\n" << saw;
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
  const Confinement here = try_namespaces();
  if (here.level == ConfinementLevel::none) GTEST_SKIP() << here.reason;
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
  // The same token works from outside a session: the caller's place was the reason for the
  // rejection.
  const RawAnswer answer = daemon_->with_token(daemon_->process.admin_token(),
                                               {.method = "POST",
                                                .target = "/api/permissions/" + permission_,
                                                .body = R"({"option_id":"reject"})"});
  EXPECT_EQ(answer.status, 200) << answer.body;
}

// It sees every session, and has the secret of the wait as well.
class SeesAll : public HostileAgent {
 protected:
  void SetUp() override {
    if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "needs python3";
    start("[sessions]\nagents_reach = 'all'");
  }
};

TEST_F(SeesAll, TOK3_security_6_a_resume_over_tcp_answers_nothing) {
  ask();
  const std::string secret = client().get("/api/waits/" + wait_ + "/secret").at("secret");
  ASSERT_FALSE(secret.empty());
  const std::string path = "/api/sessions/" + session_ + "/resume";
  const std::string body =
      R"({"wait":{"token_id":")" + wait_ + R"(","secret":")" + secret + R"(","answer":"allow"}})";
  const std::string words = " POST " + path + " '" + body + "'";
  const std::string token = " " + daemon_->process.admin_token();
  const std::string to = std::to_string(daemon_->port);
  for (const std::string& each :
       {to + words + token, to + words + token + " orphan", daemon_->socket() + words}) {
    const std::string saw = request(each);
    EXPECT_TRUE(has(saw, "status=403")) << saw;
  }
  expect_open();
  // From outside the same request answers.
  const RawAnswer answer = daemon_->with_token(daemon_->process.admin_token(),
                                               {.method = "POST", .target = path, .body = body});
  EXPECT_EQ(answer.status, 200) << answer.body;
}

// Over TCP it is no more than over the socket, whatever token it found.
TEST_F(SeesAll, TOK3_security_6_a_stolen_admin_token_changes_no_other_session) {
  const std::string path = " /api/sessions/" + session_;
  const std::string token = " " + daemon_->process.admin_token();
  const std::string to = std::to_string(daemon_->port) + " ";
  for (const std::string& each :
       {"PATCH" + path + R"( '{"title":"x"}')", "DELETE" + path + "?confirm=true ''",
        "POST" + path + R"(/options '{"mode":"free"}')", "POST" + path + R"(/redact '{"seq":1}')",
        "POST" + path + R"(/fs/write '{"path":"x","text":"x"}')", "POST" + path + "/shells '{}'",
        std::string(R"(POST /api/rules '{"title":"x"}')")}) {
    const std::string saw = request(to + each + token);
    EXPECT_TRUE(has(saw, "status=403")) << each << "\n" << saw;
  }
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
  // Another session's question does not exist for it.
  EXPECT_TRUE(has(approve, "exit=3")) << approve;
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

// The daemon cannot distinguish such a program from a session's process.
TEST_F(HostileAgent, a_program_of_the_user_in_a_sandbox_of_its_own_is_refused_and_told_why) {
  const std::vector<std::string> sandbox = {"/usr/bin/unshare", "--user", "--map-current-user"};
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), sandbox.begin(), sandbox.end());
    return run_program(words, {"PATH=/usr/bin:/bin"});
  };
  if (run({"/bin/true"}).exit_code != 0) GTEST_SKIP() << "no user namespaces here";
  const std::string script = std::string(attacks) + "/request.py";
  const ProgramRun refused =
      run({"/usr/bin/python3", script, daemon_->socket(), "POST", "/api/launch", "{}"});
  EXPECT_TRUE(has(refused.output, "status=403")) << refused.output;
  EXPECT_TRUE(has(refused.output, "it runs in another user namespace")) << refused.output;
  EXPECT_TRUE(has(refused.output, "outside of every session")) << refused.output;
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

TEST_F(UnconfinedAgent, the_level_is_none_and_the_reason_names_the_setting) {
  const std::string saw = attack("readlink /proc/self/ns/mnt");
  EXPECT_TRUE(has(saw, std::filesystem::read_symlink("/proc/self/ns/mnt"))) << saw;
  const ApiReply session = client().get("/api/sessions/" + attacker_);
  EXPECT_EQ(session.at("session.confinement"), "none") << session.body;
  EXPECT_EQ(session.at("session.confinement_reason"), "sessions.confine is off") << session.body;
}

}  // namespace
}  // namespace perdure
