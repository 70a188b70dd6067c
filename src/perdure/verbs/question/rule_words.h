// Typed permission rules on the command line: the result of a trial, and the confirmation before a
// rule is saved. Shared by `rules add`, `rules test` and `approve --always`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "perdure/verbs/call/verb_call.h"

namespace perdure::cli {

// Tries the rule on the journal. `body` is that of POST /api/rules.
Outcome<Answered> try_rule(VerbCall& call, const std::string& body, std::uint64_t days);
// Prints the counts and at most lines_max of the questions.
void print_trial(VerbCall& call, JsonView trial, std::size_t lines_max);
// Prints what the trial found that came with a rule which was made without asking (--yes).
void print_trial_of(VerbCall& call, const Answered& made);
// Tries it, prints that, and asks. With --yes it asks nothing. False: the person said no.
Outcome<bool> confirm_rule(VerbCall& call, const std::string& body);

// A rule that would allow this open question from now on: shows the daemon's suggestions, tries the
// chosen one and asks for confirmation. Returns the body for POST /api/rules, or nothing if the
// person wants none. With --yes it takes the first one. An error: no rule fits this question.
Outcome<std::optional<std::string>> choose_rule_for(VerbCall& call, const std::string& permission);
// Creates the rule and prints a confirmation.
Outcome<void> keep_rule(VerbCall& call, const std::string& body);

}  // namespace perdure::cli
