// A process of a session holds as many connections to the daemon as it gets: the owner outside can
// still connect.
#include <algorithm>
#include <charconv>

#include "api_client.h"
#include "base/limits.h"
#include "hostile_test.h"

namespace perdure {
namespace {

class BoundaryConnections : public HostileAgent {
 protected:
  // Its programs stay until the session ends.
  std::string hold(const std::string& to, std::size_t count, const std::string& words) {
    return attack("/usr/bin/python3 " + std::string(attacks) + "/attacks.py hold " + to + " " +
                  std::to_string(count) + " " + words);
  }
  std::size_t metric(const std::string& name) {
    const std::string text = "\n" + client().get("/metrics").body;
    const std::size_t at = text.find("\n" + name + " ");
    std::size_t value = 0;
    if (at == std::string::npos) return SIZE_MAX;
    std::from_chars(text.data() + at + name.size() + 2, text.data() + text.size(), value);
    return value;
  }
  // By the command line and by a new connection, for work and for stopping the session.
  void expect_the_owner_gets_through() {
    const ProgramRun listed = run_program({PERDURE_PROGRAM, "ls"}, daemon_->process.environment());
    EXPECT_EQ(listed.exit_code, 0) << listed.output;
    EXPECT_EQ(daemon_->unix_socket({}).status, 200);
    EXPECT_EQ(daemon_->unix_socket({.target = "/api/inbox"}).status, 200);
  }
  void expect_the_owner_can_stop_it() {
    const ProgramRun stopped =
        run_program({PERDURE_PROGRAM, "stop", attacker_}, daemon_->process.environment());
    EXPECT_EQ(stopped.exit_code, 0) << stopped.output;
    EXPECT_TRUE(
        until([&] { return metric("perdure_connections") < http_insiders_per_session_max; }));
  }
  std::string tcp() const { return std::to_string(daemon_->port); }
};

TEST_F(BoundaryConnections, N16_more_connections_than_there_are_lock_nobody_out) {
  const std::string saw = hold(daemon_->socket(), connections_max + 500, "silent");
  ASSERT_TRUE(has(saw, "held=")) << saw;
  expect_the_owner_gets_through();
  EXPECT_LE(metric("perdure_connections"), http_insiders_per_session_max + 8);
  expect_the_owner_can_stop_it();
}

TEST_F(BoundaryConnections, N16_half_requests_and_streams_lock_no_other_session_out) {
  for (const char* const kind : {"half", "body", "stream"}) {
    const std::string saw = hold(daemon_->socket(), 300, kind);
    ASSERT_TRUE(has(saw, "held=")) << saw;
    EXPECT_LE(metric("perdure_connections"), http_insiders_per_session_max + 8) << kind;
  }
  // A caller that the kernel does not identify in time counts as one with an unknown session.
  EXPECT_LE(metric("perdure_streams"), http_insiders_per_session_max + 8);
  expect_the_owner_gets_through();
  const std::string greedy = attacker_;
  attacker_.clear();
  const std::string other = request(daemon_->socket() + " GET /api/sessions ''");
  EXPECT_TRUE(has(other, "status=200")) << other;
  attacker_ = greedy;
  expect_the_owner_can_stop_it();
}

TEST_F(BoundaryConnections, N16_callers_that_never_wait_lock_nobody_out) {
  const std::string saw = hold(daemon_->socket(), 2, "flood");
  ASSERT_TRUE(has(saw, "held=")) << saw;
  expect_the_owner_gets_through();
  expect_the_owner_can_stop_it();
}

TEST_F(BoundaryConnections, N16_a_token_inside_does_not_take_the_connections_of_others) {
  const std::string own = daemon_->make_token(R"({"name":"own","scopes":["observe"]})");
  const std::string saw =
      hold(tcp(), connections_per_credential_max + 300, "stream " + daemon_->process.admin_token());
  ASSERT_TRUE(has(saw, "held=")) << saw;
  EXPECT_EQ(metric("perdure_streams"), streams_per_principal_max);
  EXPECT_LE(metric("perdure_connections"), connections_per_credential_max + 8);
  EXPECT_EQ(daemon_->with_token(own, {}).status, 200);
  expect_the_owner_gets_through();
  expect_the_owner_can_stop_it();
}

}  // namespace
}  // namespace perdure
