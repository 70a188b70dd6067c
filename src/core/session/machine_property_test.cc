// Thousands of random lives of a session: for any inputs in any order, the invariants of
// MachineChecker hold and no CHECK fires. A failure prints its seed.
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/probe.h"
#include "core/session/foreign_journal_for_test.h"
#include "core/session/machine_checker_for_test.h"
#include "core/session/random_inputs_for_test.h"

namespace perdure {
namespace {

constexpr std::uint64_t lives = 2000;
constexpr std::size_t inputs_per_life = 250;

// The first broken rule of this life; empty: none.
std::string violation_of(std::uint64_t seed) {
  RandomInputs inputs{Dice(seed * 1'000'003)};
  MachineChecker machine(64);
  const auto created = machine.feed(inputs.create());
  if (!created) return "the session was not made: " + created.error().message();
  for (std::size_t i = 0; i < inputs_per_life && !machine.violation(); ++i) {
    (void)machine.feed(inputs.next(machine.state()));
  }
  machine.check_replay();
  return machine.violation().value_or("");
}

std::set<std::string>& probes_hit() {
  static std::set<std::string> names;
  return names;
}

}  // namespace

TEST(MachinePropertyLong, J1_J4_J5_RUN1_RUN2_RUN3_RUN4_PROC2_PROC3_TOK1_TOK3_TOK4_in_random_lives) {
  for (std::uint64_t seed = 1; seed <= lives; ++seed) {
    ASSERT_EQ(violation_of(seed), "") << "seed " << seed;
  }
}

// A file is imported unchanged, and its author may be malicious.
TEST(MachinePropertyLong, J1_no_journal_of_somebody_else_reaches_a_check) {
  std::size_t taken = 0;
  for (std::uint64_t seed = 1; seed <= lives; ++seed) {
    SCOPED_TRACE(seed);
    const CopyKind kind = seed % 3 == 0 ? CopyKind::forked : CopyKind::imported;
    taken += live_in_foreign_journal({.life = Dice(seed * 1'000'003),
                                      .disorder = Dice(seed * 7'919),
                                      .after = Dice(seed * 104'729)},
                                     kind, inputs_per_life / 2);
  }
  EXPECT_GT(taken, lives * 20) << "the copies are lived in";
}

// A driver proves nothing about corners that it never reaches: it must visit every mark in
// session/.
TEST(MachinePropertyLong, the_random_lives_reach_every_corner) {
  probe_hook = [](const char* name) { probes_hit().insert(name); };
  for (std::uint64_t seed = 1; seed <= 200; ++seed) ASSERT_EQ(violation_of(seed), "");
  probe_hook = nullptr;
  for (const char* name : {"frame of an earlier life dropped",
                           "prompt steered into the open run",
                           "steered prompt has left the queue already",
                           "prompt ends the open run",
                           "history injected with a prompt",
                           "cancel forced ahead of the frames",
                           "cancelled run ends with its agent",
                           "auto_continue after an interruption",
                           "end of a run that has ended already",
                           "cancel raced with the end of the turn",
                           "second answer learns the first",
                           "question refused: its run is over",
                           "wait deadline passed",
                           "new life after a stop with a waiting caller",
                           "executor was not ready in time",
                           "execution reattached by a new daemon",
                           "second resume joins the first",
                           "agent answered with another session",
                           "agent loaded an empty session",
                           "ladder goes down a rung",
                           "resume failed and kept the id",
                           "late frame journalled with after_run"}) {
    EXPECT_TRUE(probes_hit().contains(name)) << name;
  }
}

}  // namespace perdure
