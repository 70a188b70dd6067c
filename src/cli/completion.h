// What a shell can offer for a command line, and the scripts that ask for it. Answering never
// starts a daemon and never takes longer than a person notices.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/args.h"

namespace perdure::cli {

struct Candidate {
  std::string word;
  std::string about;  // may be empty
  bool operator==(const Candidate&) const = default;
};

// What could stand in the place of the last word, as far as the table knows, and what only the
// daemon could add.
struct Offer {
  std::vector<Candidate> candidates;
  Completes more = Completes::nothing;
};
// The words behind the program's name, the last one being typed.
Offer complete_words(std::span<const Verb> verbs, const std::vector<std::string>& words);

// The script of that shell; empty for one that is not known.
std::string completion_script(std::string_view shell);
// bash, zsh, fish.
std::span<const std::string_view> known_shells();

}  // namespace perdure::cli
