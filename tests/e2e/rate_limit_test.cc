// P12, P13: a usage limit of the agent's provider and a missing login, as a client sees them.
#include <string>

#include <gtest/gtest.h>

#include "daemon_test.h"

namespace perdure {
namespace {

class RateLimit : public DaemonTest {
 protected:
  std::size_t continued(const std::string& session) {
    std::size_t count = 0;
    for (const std::string& each : client_->records(session)) {
      if (json_at(each, "kind") == "run.started" &&
          json_at(each, "trigger") == "continue_at_reset") {
        ++count;
      }
    }
    return count;
  }
  ProgramRun run(const std::vector<std::string>& words) {
    std::vector<std::string> all = {daemon_->setup().program};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all, daemon_->environment());
  }
};

TEST_F(RateLimit, P13_the_session_waits_until_the_reset_and_says_so) {
  begin({.agents = {TestAgentSetup{.switches = {"rate_limit=7200"}}}});
  const std::string session = client_->create_session({});
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1"}).ok());
  ASSERT_TRUE(until_count(session, "limit.waiting", 1));
  EXPECT_EQ(field(session, "status"), "waiting");
  EXPECT_EQ(field(session, "error_code"), "rate_limited");
  EXPECT_EQ(field(session, "limit.at_reset"), "not_asked");
  EXPECT_FALSE(field(session, "limit.reset_at").empty());
  for (const char* verb : {"ls", "why", "status"}) {
    const ProgramRun told = verb == std::string("ls") ? run({verb}) : run({verb, session});
    EXPECT_NE(told.output.find("limit"), std::string::npos) << verb << ": " << told.output;
  }
}

TEST_F(RateLimit, P13_it_goes_on_once_at_the_reset_also_when_the_daemon_died_meanwhile) {
  begin({.agents = {TestAgentSetup{.switches = {"rate_limit=6"}}},
         .config = "[sessions]\ncontinue_at_reset = true\n"});
  const std::string session = client_->create_session({});
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1"}).ok());
  ASSERT_TRUE(until_count(session, "limit.waiting", 1));
  EXPECT_EQ(field(session, "limit.at_reset"), "continued");
  daemon_->kill_daemon();
  const Result<> started = daemon_->start();
  ASSERT_TRUE(started) << started.error().message();
  ASSERT_TRUE(until_count(session, "run.completed", 1));
  std::string told;
  for (const std::string& each : client_->records(session)) told += each + "\n";
  EXPECT_EQ(client_->count(session, "limit.over"), 1u) << told;
  EXPECT_EQ(continued(session), 1u);
  EXPECT_EQ(field(session, "status"), "idle");
  daemon_->kill_daemon();
  ASSERT_TRUE(daemon_->start());
  EXPECT_EQ(continued(session), 1u);
}

TEST_F(RateLimit, P12_a_missing_login_is_told_with_the_command_for_it) {
  begin({.agents = {TestAgentSetup{.switches = {"auth_required=prompt"}}},
         .agent_lines = "login_hint = 'testagent login'\n"});
  const std::string session = client_->create_session({});
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1"}).ok());
  ASSERT_TRUE(until_count(session, "run.failed", 1));
  EXPECT_EQ(field(session, "error_code"), "auth_needed");
  EXPECT_EQ(field(session, "login_hint"), "testagent login");
  const ProgramRun why = run({"why", session});
  EXPECT_NE(why.output.find("testagent login"), std::string::npos) << why.output;
  EXPECT_EQ(client_->count(session, "run.started"), 1u) << "nobody tries again by himself";
}

}  // namespace
}  // namespace perdure
