// A session whose journal an attacker wrote: the records of a random life reordered, some
// repeated, some missing, imported as from a file and then used. Every decision on such a journal
// must return: a failed CHECK or an exception would end the daemon.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "core/session/machine_checker_for_test.h"
#include "core/session/random_inputs_for_test.h"
#include "core/session/transitions/fork.h"

namespace perdure {

struct ForeignDice {
  Dice life;
  Dice disorder;
  Dice after;
};

inline std::vector<Record> records_out_of_order(const std::vector<Record>& records, Dice& dice) {
  std::vector<Record> out;
  for (const Record& record : records) {
    if (out.empty()) {
      out.push_back(record);  // an import begins with its creation and has only one
      continue;
    }
    if (dice.one_in(5)) continue;
    out.push_back(record);
    if (dice.one_in(8)) out.push_back(records[1 + dice.below(records.size() - 1)]);
    if (out.size() > 2 && dice.one_in(4)) {
      std::swap(out.back(), out[1 + dice.below(out.size() - 1)]);
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i].seq = i + 1;
  return out;
}

// Returns the number of accepted inputs.
inline std::size_t live_in_foreign_journal(ForeignDice dice, CopyKind kind,
                                           std::size_t inputs_max) {
  RandomInputs before(dice.life);
  MachineChecker original(1000);
  (void)original.feed(before.create());
  for (std::size_t i = 0; i < inputs_max && !before.exhausted(); ++i) {
    (void)original.feed(before.next(original.state()));
  }
  Forker forker({.from = original.state().id,
                 .to = SessionId(Ulid{7, 7}),
                 .by = "uid:1",
                 .now = {{1'790'000'500'000}, {2'000'000}, "host-1"},
                 .kind = kind,
                 .binding = {}});
  forker.copy(records_out_of_order(original.records(), dice.disorder));
  forker.close();
  State state = forker.state();
  RandomInputs after(dice.after);
  std::size_t taken = 0;
  for (std::size_t i = 0; i < inputs_max && !after.exhausted(); ++i) {
    const Input input = after.next(state);
    const Result<Decision> decided = decide(state, input);
    CHECK(decided || is_client_command(input.body), "the runtime takes no refusal of its own");
    if (!decided) continue;
    ++taken;
    for (const Event& event : decided->events) state = evolve(std::move(state), event);
  }
  return taken;
}

}  // namespace perdure
