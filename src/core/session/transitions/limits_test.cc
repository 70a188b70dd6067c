// P13: a session waits for a limit of its agent's provider, and the journal keeps the wait.
#include "base/limits.h"

#include <gtest/gtest.h>

#include "core/session/scenario_for_test.h"
#include "core/session/status.h"
#include "core/views/read_model.h"

namespace perdure {
namespace {

constexpr std::int64_t hour_ms = 3600'000;

Setup going_on(std::int64_t times = 2, std::int64_t hours = 24) {
  Setup setup;
  setup.policy.continue_at_reset = ContinueAtReset{.on = true, .times = times, .hours = hours};
  return setup;
}

// The open run meets a limit that ends after this time.
void meet_limit(Scenario& s, std::int64_t reset_ms = hour_ms) {
  const RunId run = s.state().run->id;
  s.frame(FrameRunFailed{run,
                         {.code = "rate_limited",
                          .message = "not now",
                          .reset_at = Timestamp{s.now().wall.ms + reset_ms}}});
}

void reset_passes(Scenario& s) { s.ok(LimitResetPassed{s.state().last_run->id}, "system"); }

TEST(Limits, P13_a_limit_with_a_reset_is_waited_for) {
  Scenario s = Scenario::running();
  meet_limit(s);
  ASSERT_TRUE(s.state().limit);
  EXPECT_EQ(s.state().status, "waiting");
  EXPECT_EQ(s.state().limit->until.remaining_ms(s.now()), hour_ms + 1000);
  EXPECT_EQ(derive_limit(s.state())->at_reset, LimitOutcome::not_asked);
  s.pass(hour_ms);
  reset_passes(s);
  EXPECT_FALSE(s.state().limit);
  EXPECT_EQ(s.state().status, "idle");
  EXPECT_FALSE(s.state().run) << "nobody asked it to go on";
}

TEST(Limits, P13_a_limit_without_a_reset_or_with_an_absurd_one_is_a_failure_only) {
  Scenario s = Scenario::running();
  s.frame(FrameRunFailed{s.state().run->id, {.code = "rate_limited", .message = "not now"}});
  EXPECT_FALSE(s.state().limit);
  EXPECT_EQ(s.state().status, "idle");
  s.submit("again");
  meet_limit(s, limit_wait_ms_max + 1);
  EXPECT_FALSE(s.state().limit);
}

TEST(Limits, P13_it_goes_on_once_at_the_reset_where_that_was_asked_for) {
  Scenario s = Scenario::running(going_on());
  meet_limit(s);
  const RunId limited = s.state().last_run->id;
  EXPECT_EQ(derive_limit(s.state())->at_reset, LimitOutcome::continued);
  s.pass(hour_ms);
  reset_passes(s);
  ASSERT_TRUE(s.state().run);
  EXPECT_EQ(s.state().runs, 3u);
  // A timer that fires twice, or after a restart, changes nothing.
  s.ok(LimitResetPassed{limited}, "system");
  EXPECT_EQ(s.state().runs, 3u);
  EXPECT_TRUE(s.state().queue.empty());
}

TEST(Limits, P13_it_goes_on_also_behind_a_reboot_with_its_agent_brought_back) {
  Scenario s = Scenario::running(going_on());
  meet_limit(s);
  s.booted().gone();
  EXPECT_EQ(s.state().status, "waiting");
  s.pass(hour_ms);
  reset_passes(s);
  ASSERT_TRUE(s.state().resume) << "the ladder brings the agent back first";
  s.ready();
  ASSERT_TRUE(s.state().run);
  EXPECT_EQ(s.state().runs, 3u);
}

TEST(Limits, P13_times_are_capped_and_count_anew_behind_a_good_end) {
  Scenario s = Scenario::running(going_on(2));
  for (int i = 0; i < 2; ++i) {
    meet_limit(s);
    s.pass(hour_ms);
    reset_passes(s);
    ASSERT_TRUE(s.state().run) << i;
  }
  meet_limit(s);
  EXPECT_EQ(derive_limit(s.state())->at_reset, LimitOutcome::too_often);
  s.pass(hour_ms);
  reset_passes(s);
  EXPECT_FALSE(s.state().run);
  s.submit("go on");
  s.finish();
  s.submit("more");
  meet_limit(s);
  EXPECT_EQ(derive_limit(s.state())->at_reset, LimitOutcome::continued);
}

TEST(Limits, P13_a_limit_that_outlasts_its_reset_is_waited_out_longer_each_time) {
  Scenario s = Scenario::running(going_on(9));
  std::int64_t before = 0;
  for (int i = 0; i < 4; ++i) {
    meet_limit(s, -1000);
    const std::int64_t wait_ms = s.state().limit->until.remaining_ms(s.now());
    EXPECT_EQ(wait_ms, i == 0 ? limit_wait_ms_min : 2 * before);
    before = wait_ms;
    s.pass(wait_ms);
    reset_passes(s);
    ASSERT_TRUE(s.state().run) << i;
  }
}

TEST(Limits, P13_hours_are_capped) {
  Scenario s = Scenario::running(going_on(9, 3));
  meet_limit(s, 2 * hour_ms);
  s.pass(2 * hour_ms);
  reset_passes(s);
  ASSERT_TRUE(s.state().run);
  meet_limit(s, 2 * hour_ms);
  EXPECT_EQ(derive_limit(s.state())->at_reset, LimitOutcome::too_late);
  s.pass(2 * hour_ms);
  reset_passes(s);
  EXPECT_FALSE(s.state().run);
}

TEST(Limits, P13_nothing_goes_on_over_an_open_tool_call) {
  Scenario s = Scenario::running(going_on());
  s.tool("t1", "in_progress");
  meet_limit(s);
  EXPECT_EQ(derive_limit(s.state())->at_reset, LimitOutcome::tool_open);
  s.pass(hour_ms);
  reset_passes(s);
  EXPECT_FALSE(s.state().run);
}

TEST(Limits, P13_a_prompt_a_stop_and_an_archive_end_the_wait) {
  Scenario prompted = Scenario::running(going_on());
  meet_limit(prompted);
  prompted.submit("now");
  EXPECT_FALSE(prompted.state().limit);
  Scenario stopped = Scenario::running(going_on());
  meet_limit(stopped);
  stopped.gone();
  stopped.stop();
  EXPECT_FALSE(stopped.state().limit) << "whoever stops a session does not want it to go on";
  Scenario archived = Scenario::running(going_on());
  meet_limit(archived);
  archived.ok(ArchiveSession{});
  EXPECT_FALSE(archived.state().limit);
}

TEST(Limits, P13_caps_that_cannot_be_are_refused) {
  EXPECT_TRUE(check_continue({}));
  EXPECT_FALSE(check_continue({.on = true, .times = 0}));
  EXPECT_FALSE(check_continue({.on = true, .times = continue_times_max + 1}));
  EXPECT_FALSE(check_continue({.on = true, .hours = 0}));
  EXPECT_FALSE(check_continue({.on = true, .hours = continue_hours_max + 1}));
}

}  // namespace
}  // namespace perdure
