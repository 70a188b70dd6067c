// Parses a command line by a table of verbs. The same table produces the help, the manual page and
// the completions, so that they cannot contradict each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "perdure/verbs/call/trouble.h"

namespace perdure::cli {

// The kind of word that a shell can complete in a position.
enum class Completes { nothing, session, agent, token, permission, verb, file, shell };

struct Option {
  std::string_view name;        // without its dashes
  char letter = 0;              // 0: none
  std::string_view value_name;  // empty: a switch
  std::string_view help;
  Completes completes = Completes::nothing;
};

enum class Count { one, optional, at_least_one, any };

struct Positional {
  std::string_view name;
  Count count = Count::one;
  Completes completes = Completes::nothing;
};

enum class Group { live, open, read, decide, care, plumbing };

// How a verb depends on the daemon.
enum class Needs {
  nothing,         // works without one, or looks for one itself
  daemon,          // started if it does not run
  running_daemon,  // must already run; never started for this
};

class VerbCall;

struct Verb {
  std::string_view name;  // "token create": two words form one verb
  Group group = Group::live;
  std::string_view summary;  // one line, no full stop
  std::vector<Positional> positionals;
  std::vector<Option> options;
  std::string_view detail;   // sentences; may be empty
  std::string_view example;  // lines, one command per line
  Needs needs = Needs::daemon;
  Outcome<int> (*run)(VerbCall& call) = nullptr;
  bool is_hidden = false;
};

// Options that every verb takes.
std::span<const Option> common_options();

class Args {
 public:
  bool has(std::string_view option) const { return values_.contains(option); }
  // The last value given.
  std::optional<std::string> value(std::string_view option) const;
  const std::vector<std::string>& words() const { return words_; }
  // The positional at this place; empty if it was not given.
  std::string word(std::size_t place) const;
  // The positionals from this place on, joined by spaces.
  std::string rest(std::size_t place) const;

  // A usage error unless it is an integer of 0 or more.
  Outcome<std::optional<std::uint64_t>> number(std::string_view option) const;
  // 30, 30s, 500ms, 5m, 2h, 1d: in milliseconds. A usage error for everything else.
  Outcome<std::optional<std::int64_t>> duration_ms(std::string_view option) const;

  void add(std::string_view option, std::string value);
  void add_word(std::string word) { words_.push_back(std::move(word)); }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> words_;
};

struct ParsedCall {
  const Verb* verb = nullptr;
  Args args;
  bool wants_help = false;
};

// Parses the words after the program's name. An error has exit code 2 and suggests the intended
// word if it can be guessed. `session` before a verb is skipped.
Outcome<ParsedCall> parse_words(std::span<const Verb> verbs, const std::vector<std::string>& words);

// The verb with that name; null if there is none.
const Verb* find_verb(std::span<const Verb> verbs, std::string_view name);

// The name closest to a mistyped one; empty if none is close.
std::string nearest(std::string_view typed, const std::vector<std::string_view>& names);

}  // namespace perdure::cli
