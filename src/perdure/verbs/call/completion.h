// Completions for a command line, and the shell scripts that request them. Completing never starts
// a daemon and never takes noticeably long.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "perdure/verbs/call/args.h"

namespace perdure::cli {

struct Candidate {
  std::string word;
  std::string about;  // may be empty
  bool operator==(const Candidate&) const = default;
};

// Completions of the last word from the table, and the kind that only the daemon can add.
struct Offer {
  std::vector<Candidate> candidates;
  Completes more = Completes::nothing;
};
// The words after the program's name; the last one is being typed.
Offer complete_words(std::span<const Verb> verbs, const std::vector<std::string>& words);

// The script for that shell; empty if unknown.
std::string completion_script(std::string_view shell);
// bash, zsh, fish.
std::span<const std::string_view> known_shells();

}  // namespace perdure::cli
