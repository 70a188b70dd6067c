// The status of a session for every combination of what the journal and the world say (O9, O10).
#include "core/session/scenario_for_test.h"

namespace perdure {
namespace {

Status status_of(const State& state, Liveness liveness, std::int64_t ms_later = 0) {
  const Moment now{{state.updated.ms + ms_later}, {5'000'000 + ms_later}, "host-boot-1"};
  return derive_status(state, {liveness, state.exec.boot, now});
}

TEST(StatusRules, O9_C19_an_open_run_is_running_unless_its_execution_is_known_to_be_dead) {
  const Scenario s = Scenario::running();
  EXPECT_EQ(status_of(s.state(), Liveness::alive), Status::running);
  EXPECT_EQ(status_of(s.state(), Liveness::unknown), Status::running);
  EXPECT_EQ(status_of(s.state(), Liveness::dead), Status::interrupted_startup);
}

TEST(StatusRules, O9_O10_O15_a_waiting_run_is_waiting_while_one_of_its_tokens_can_be_used) {
  Scenario s = Scenario::running({.policy = {.wait_ms = 1000}});
  s.ask("req-1");
  EXPECT_EQ(status_of(s.state(), Liveness::alive), Status::waiting);
  EXPECT_EQ(status_of(s.state(), Liveness::unknown), Status::waiting);
  EXPECT_EQ(status_of(s.state(), Liveness::alive, 1000), Status::interrupted_waiting);
  EXPECT_EQ(status_of(s.state(), Liveness::dead), Status::interrupted_startup);
  EXPECT_EQ(status_of(s.state(), Liveness::dead, 1000), Status::interrupted_startup);
  s.ok(ConfigureSession{{.policy = Policy{}}});
  s.ask("req-2");
  EXPECT_EQ(status_of(s.state(), Liveness::alive, 1000), Status::waiting);
}

TEST(StatusRules, O9_without_a_run_a_session_is_idle_whether_its_agent_lives_or_not) {
  const Scenario s = Scenario::worked();
  for (const Liveness liveness : {Liveness::alive, Liveness::dead, Liveness::unknown}) {
    EXPECT_EQ(status_of(s.state(), liveness), Status::idle);
  }
}

TEST(StatusRules, O9_O34_each_reason_of_an_interruption_has_its_status) {
  State state = Scenario::worked().state();
  const auto after = [&](InterruptReason reason) {
    state.last_run->interrupted = reason;
    return status_of(state, Liveness::alive);
  };
  EXPECT_EQ(after(InterruptReason::process_exit), Status::interrupted_startup);
  EXPECT_EQ(after(InterruptReason::process_restart), Status::interrupted_startup);
  EXPECT_EQ(after(InterruptReason::wait_timeout), Status::interrupted_waiting);
  EXPECT_EQ(after(InterruptReason::wait_lost), Status::interrupted_waiting);
  EXPECT_EQ(after(InterruptReason::forked), Status::idle);
}

}  // namespace
}  // namespace perdure
