// The projector as a table (O9, O10, O32): one row per rule, then every combination against an
// independent version of the rules, which shows precedence.
#include "core/session/status.h"

#include <gtest/gtest.h>

#include "core/session/random_journal_for_test.h"

namespace perdure {
namespace {

using testing::some_id;

const Moment now{.wall = {1'000'000}, .since_boot = {500'000}, .host_boot = "h1"};

enum class Last {
  none,
  completed,
  failed,
  cancelled,
  process_exit,
  process_restart,
  wait_timeout,
  wait_lost,
  forked
};
enum class Waiting { none, usable, overdue, both };

struct Case {
  bool open_run = false;
  Last last = Last::none;
  Waiting waiting = Waiting::none;
  Liveness liveness = Liveness::alive;
};

Wait make_wait(bool usable) {
  Moment asked = now;
  asked.wall.ms -= 100;
  asked.since_boot.ms -= 100;
  return {.deadline = Deadline::after(asked, usable ? 1000 : 50)};
}

State make_state(const Case& given) {
  State state;
  if (given.open_run) state.run = Run{.id = some_id<RunId>(2), .boot = some_id<BootId>(1)};
  if (given.last != Last::none) {
    EndedRun last{.id = some_id<RunId>(1), .end = RunEnd::interrupted};
    switch (given.last) {
      case Last::completed: last.end = RunEnd::completed; break;
      case Last::failed: last.end = RunEnd::failed; break;
      case Last::cancelled: last.end = RunEnd::cancelled; break;
      case Last::process_exit: last.interrupted = InterruptReason::process_exit; break;
      case Last::process_restart: last.interrupted = InterruptReason::process_restart; break;
      case Last::wait_timeout: last.interrupted = InterruptReason::wait_timeout; break;
      case Last::wait_lost: last.interrupted = InterruptReason::wait_lost; break;
      case Last::forked: last.interrupted = InterruptReason::forked; break;
      case Last::none: break;
    }
    state.last_run = last;
  }
  const bool usable = given.waiting == Waiting::usable || given.waiting == Waiting::both;
  const bool overdue = given.waiting == Waiting::overdue || given.waiting == Waiting::both;
  if (usable) state.waits[some_id<WaitTokenId>(1)] = make_wait(true);
  if (overdue) state.waits[some_id<WaitTokenId>(2)] = make_wait(false);
  return state;
}

Status status_of(const Case& given) {
  return derive_status(make_state(given),
                       {.liveness = given.liveness, .boot = some_id<BootId>(2), .now = now});
}

// P13: nothing runs and no person is asked, but the session waits for a time: not idle, which would
// mean that nothing happens until the next prompt.
TEST(Status, O9_P13_a_limit_that_is_waited_out_is_waiting) {
  State state = make_state({.last = Last::failed});
  state.limit = LimitWait{};
  EXPECT_EQ(derive_status(state, {.now = now}), Status::waiting);
  state.limit.reset();
  EXPECT_EQ(derive_status(state, {.now = now}), Status::idle);
}

TEST(Status, O9_table) {
  struct Row {
    const char* what;
    Case given;
    Status expected;
  };
  const Row rows[] = {
      {"nothing yet", {}, Status::idle},
      {"latest run ended", {.last = Last::completed}, Status::idle},
      {"failed is idle", {.last = Last::failed}, Status::idle},
      {"cancelled is idle", {.last = Last::cancelled}, Status::idle},
      {"a fork of an open run is idle", {.last = Last::forked}, Status::idle},
      {"open run", {.open_run = true}, Status::running},
      {"open run, agentctl dead",
       {.open_run = true, .liveness = Liveness::dead},
       Status::interrupted_startup},
      {"after run.interrupted(process_restart)",
       {.last = Last::process_restart},
       Status::interrupted_startup},
      {"after run.interrupted(process_exit)",
       {.last = Last::process_exit},
       Status::interrupted_startup},
      {"until a newer run", {.open_run = true, .last = Last::process_exit}, Status::running},
      {"waiting", {.open_run = true, .waiting = Waiting::usable}, Status::waiting},
      {"deadline passed",
       {.open_run = true, .waiting = Waiting::overdue},
       Status::interrupted_waiting},
      {"one question left to answer",
       {.open_run = true, .waiting = Waiting::both},
       Status::waiting},
      {"after run.interrupted(wait_timeout)",
       {.last = Last::wait_timeout},
       Status::interrupted_waiting},
      {"after run.interrupted(wait_lost)", {.last = Last::wait_lost}, Status::interrupted_waiting},
      {"a question outside any run", {.waiting = Waiting::usable}, Status::waiting},
  };
  for (const Row& row : rows) EXPECT_EQ(status_of(row.given), row.expected) << row.what;
}

TEST(Status, C19_unknown_is_not_dead) {
  EXPECT_EQ(status_of({.open_run = true, .liveness = Liveness::unknown}), Status::running);
}

// Each status has its condition; the highest that holds wins.
Status by_precedence(const Case& given) {
  const bool dead = given.liveness == Liveness::dead;
  const bool newest_was = !given.open_run;  // an interruption shows until a newer run
  if (given.open_run && dead) return Status::interrupted_startup;
  if (newest_was && (given.last == Last::process_exit || given.last == Last::process_restart)) {
    return Status::interrupted_startup;
  }
  if (given.open_run && given.waiting == Waiting::overdue) return Status::interrupted_waiting;
  if (newest_was && (given.last == Last::wait_timeout || given.last == Last::wait_lost)) {
    return Status::interrupted_waiting;
  }
  if (given.waiting != Waiting::none) return Status::waiting;
  return given.open_run ? Status::running : Status::idle;
}

TEST(Status, O10_O11_precedence_over_all_combinations) {
  for (const bool open_run : {false, true}) {
    for (int last = 0; last <= static_cast<int>(Last::forked); ++last) {
      for (int waiting = 0; waiting <= static_cast<int>(Waiting::both); ++waiting) {
        for (const Liveness liveness : {Liveness::alive, Liveness::dead, Liveness::unknown}) {
          const Case given{open_run, static_cast<Last>(last), static_cast<Waiting>(waiting),
                           liveness};
          EXPECT_EQ(status_of(given), by_precedence(given))
              << open_run << " " << last << " " << waiting << " " << enum_text(liveness);
          // O11: the recorded status has no influence.
          State state = make_state(given);
          state.status = "running";
          EXPECT_EQ(derive_status(state, {.liveness = liveness, .now = now}), status_of(given));
        }
      }
    }
  }
}

}  // namespace
}  // namespace perdure
