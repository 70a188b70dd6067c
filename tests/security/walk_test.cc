// The whole route table of a real daemon, called by every kind of principal with every method, as a
// WebSocket and not, and with broken bodies. No request gets a 500, and the daemon survives.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "guarded_daemon.h"

namespace perdure {
namespace {

constexpr const char* attacks = PERDURE_ATTACKS;
constexpr const char* unknown_session = "sess_01k00000000000000000000000";

class Walk : public ::testing::Test {
 protected:
  void SetUp() override {
    if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "needs python3";
    daemon_ = std::make_unique<GuardedDaemon>(
        DaemonSetup{.config = "[agents.hostile]\ncommand = ['/usr/bin/python3', '" +
                              std::string(attacks) + "/hostile_agent.py']\n"});
    ASSERT_EQ(daemon_->start(), "");
    table_ = daemon_->process.folder() + "/openapi.json";
    std::ofstream(table_) << daemon_->client().get("/openapi.json").body;
    session_ = daemon_->client().create_session({});
    ASSERT_FALSE(session_.empty());
  }
  std::string words(const std::string& to, const std::string& session,
                    const std::string& token = "") const {
    return std::string(attacks) + "/walk.py " + to + " " + table_ + " " + session + " " + token;
  }
  // From outside every session.
  void walk(const std::string& to, const std::string& token, const std::string& session) {
    const ProgramRun run = run_program(
        {"/bin/sh", "-c", "/usr/bin/python3 " + words(to, session, token)}, {"PATH=/usr/bin"});
    expect_walked(run.output);
  }
  void walk_over_tcp(const std::string& scope, const std::string& more = "") {
    const std::string token =
        daemon_->make_token(R"({"name":"w","scopes":[")" + scope + "\"]" + more + "}");
    ASSERT_FALSE(token.empty());
    walk(std::to_string(daemon_->port), token, session_);
  }
  void expect_walked(const std::string& output) {
    EXPECT_TRUE(output.starts_with("walked ")) << output << "\n" << daemon_->process.output();
    EXPECT_EQ(daemon_->tcp({.target = "/healthz"}).status, 200);
    EXPECT_EQ(kill(daemon_->process.pid(), 0), 0);
  }
  std::string bound() const { return R"(,"sessions":[")" + session_ + "\"]"; }

  std::unique_ptr<GuardedDaemon> daemon_;
  std::string table_;
  std::string session_;
};

TEST_F(Walk, nobody_gets_an_answer_from_every_route) {
  walk(std::to_string(daemon_->port), "", session_);
}

TEST_F(Walk, an_observer_gets_an_answer_from_every_route) { walk_over_tcp("observe"); }

TEST_F(Walk, an_operator_gets_an_answer_from_every_route) { walk_over_tcp("operate"); }

TEST_F(Walk, an_admin_gets_an_answer_from_every_route) { walk_over_tcp("admin"); }

TEST_F(Walk, a_bound_token_gets_an_answer_from_every_route) {
  walk_over_tcp("observe", bound());
  walk_over_tcp("operate", bound());
}

TEST_F(Walk, a_page_gets_an_answer_from_every_route) {
  const PageLogin page = daemon_->log_in();
  ASSERT_FALSE(page.key.empty());
  walk(std::to_string(daemon_->port), "page '" + page.cookie + "' " + page.key, session_);
}

TEST_F(Walk, the_own_user_gets_an_answer_from_every_route) {
  walk(daemon_->socket(), "", session_);
  walk(daemon_->socket(), "", unknown_session);
}

TEST_F(Walk, a_hosted_process_gets_an_answer_from_every_route) {
  ApiClient client = daemon_->client();
  const std::string hostile = client.create_session({.agent = "hostile"});
  const std::string program = "/usr/bin/python3 ";
  // It may cancel the turn and stop the session that it runs in, so the requests name another one.
  const ApiReply reply = client.prompt(
      {.session = hostile, .text = program + words(daemon_->socket(), session_) + " 2>&1"});
  ASSERT_TRUE(reply.ok()) << reply.body;
  std::string said;
  EXPECT_TRUE(until(
      [&] {
        said.clear();
        for (const std::string& record : client.records(hostile)) {
          if (json_at(record, "kind") == "message.agent") said += json_at(record, "text");
        }
        return said.find("attempted") != std::string::npos;
      },
      150'000));
  EXPECT_TRUE(said.starts_with("exit=0\nwalked ")) << said;
  EXPECT_EQ(daemon_->tcp({.target = "/healthz"}).status, 200);
}

// Inside of effects and packets it would be too deep to be read again.
TEST_F(Walk, what_nests_deep_is_refused_or_gets_to_the_agent) {
  const auto nested = [](int levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  const auto prompt = [&](int levels) {
    return daemon_->client().post(
        "/api/sessions/" + session_ + "/prompt",
        R"({"content":[{"type":"text","text":"say 1"},{"type":"x","_meta":)" + nested(levels) +
            "}]}");
  };
  EXPECT_EQ(prompt(61).status, 400);
  const ApiReply accepted = prompt(46);
  EXPECT_EQ(accepted.status, 200) << accepted.body;
  EXPECT_TRUE(until([&] { return daemon_->client().count(session_, "run.started") > 0; }));
  const ApiReply write =
      daemon_->client().post("/api/sessions/" + session_ + "/fs/write",
                             R"({"path":"x","text":"x","more":)" + nested(62) + "}");
  EXPECT_EQ(write.status, 400) << write.body;
  EXPECT_EQ(daemon_->tcp({.target = "/healthz"}).status, 200) << daemon_->process.output();
}

TEST_F(Walk, a_socket_route_without_an_upgrade_is_answered_426) {
  const std::string token = daemon_->process.admin_token();
  const std::string shell = "/api/sessions/" + session_ + "/shell";
  for (const std::string& target : {std::string("/ws"), std::string("/acp"), shell}) {
    for (const Headers& headers :
         {Headers{}, Headers{{"Upgrade", "h2c"}, {"Connection", "Upgrade"}}}) {
      const RawAnswer answer = daemon_->with_token(token, {.target = target, .headers = headers});
      EXPECT_EQ(answer.status, 426) << target;
      EXPECT_EQ(answer.header("upgrade"), "websocket") << target;
      EXPECT_EQ(json_at(answer.body, "error.code"), "invalid_argument") << target;
    }
    EXPECT_EQ(daemon_->unix_socket({.target = target}).status, 426) << target;
  }
}

}  // namespace
}  // namespace perdure
