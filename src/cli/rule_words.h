// Typed permission rules on the command line: what a trial found, and the question before a rule is
// kept. Shared by `rules add`, `rules test` and `approve --always`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/verb_call.h"

namespace perdure::cli {

// Tries the rule on the journal. `body` is what POST /api/rules takes.
Outcome<Answered> try_rule(VerbCall& call, const std::string& body, std::uint64_t days);
// Prints the counts, and at most so many of the questions.
void print_trial(VerbCall& call, JsonView trial, std::size_t lines_max);
// Prints what the trial found that came with a rule which was made without asking (--yes).
void print_trial_of(VerbCall& call, const Answered& made);
// Tries it, prints that, and asks. With --yes it asks nothing. False: the person said no.
Outcome<bool> confirm_rule(VerbCall& call, const std::string& body);

// A rule that would allow this open question from now on: shows what the daemon suggests, tries the
// chosen one and asks. Gives the body for POST /api/rules; nothing: the person wants none. With
// --yes it is the first one. An error: no rule can be made of this question.
Outcome<std::optional<std::string>> choose_rule_for(VerbCall& call, const std::string& permission);
// Makes it, and says so.
Outcome<void> keep_rule(VerbCall& call, const std::string& body);

}  // namespace perdure::cli
