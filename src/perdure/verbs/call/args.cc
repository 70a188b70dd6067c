#include "perdure/verbs/call/args.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "perdure/terminal/clean_text.h"

namespace perdure::cli {
namespace {

constexpr auto every_verb = std::to_array<Option>({
    {.name = "json", .help = "print JSON; streams print one object per line"},
    {.name = "no-start", .help = "fail (exit 5) instead of starting the daemon"},
    {.name = "host",
     .value_name = "URL",
     .help = "a daemon elsewhere; its token is in "
             "$PERDURE_TOKEN or --token-file"},
    {.name = "token-file",
     .value_name = "FILE",
     .help = "read the token from this file",
     .completes = Completes::file},
    {.name = "help", .letter = 'h', .help = "this text"},
});

std::string quoted(std::string_view word) { return "'" + clean_line(word) + "'"; }

// Names of these verbs in other tools.
constexpr auto words_elsewhere = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"prompt", "send"},
    {"ask", "send"},
    {"list", "ls"},
    {"ps", "ls"},
    {"sessions", "ls"},
    {"create", "new"},
    {"start", "run"},
    {"delete", "rm"},
    {"remove", "rm"},
    {"kill", "stop"},
    {"inspect", "show"},
    {"daemon", "serve"},
    {"web", "open"},
});

struct Mistyped {
  std::string_view word;
  std::string_view before;  // the prefix of every name
};

std::string hint(const Mistyped& typed, const std::vector<std::string_view>& names) {
  const std::string near = nearest(typed.word, names);
  return near.empty() ? "" : "; did you mean " + std::string(typed.before) + near + "?";
}

// Reads the words of a command line from left to right.
class Reader {
 public:
  Reader(std::span<const Verb> verbs, const std::vector<std::string>& words)
      : verbs_(verbs), words_(words) {}

  Outcome<ParsedCall> read() {
    TRY_VOID(read_before_verb());
    if (call_.verb == nullptr) return std::move(call_);
    while (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      if (only_words_ || word.size() < 2 || word[0] != '-') {
        call_.args.add_word(word);
      } else if (word == "--") {
        only_words_ = true;
      } else {
        TRY_VOID(word[1] == '-' ? read_long(word.substr(2)) : read_letters(word.substr(1)));
      }
    }
    call_.wants_help = call_.args.has("help");
    if (!call_.wants_help) TRY_VOID(check_count());
    return std::move(call_);
  }

 private:
  Outcome<> read_before_verb() {
    while (at_ < words_.size() && words_[at_].starts_with('-')) {
      const std::string& word = words_[at_++];
      if (word == "--version") {
        call_.verb = find_verb(verbs_, "version");
        return {};
      }
      if (word.starts_with("--") && word.size() > 2) {
        TRY_VOID(read_long(word.substr(2)));
      } else {
        TRY_VOID(read_letters(word.substr(1)));
      }
    }
    if (at_ == words_.size()) {
      call_.wants_help = call_.args.has("help");
      return call_.wants_help ? Outcome<>() : usage("no command given; `perdure help` lists them");
    }
    if (words_[at_] == "session" && at_ + 1 < words_.size()) at_ += 1;
    return read_verb();
  }

  Outcome<> read_verb() {
    const std::string& first = words_[at_++];
    std::vector<std::string_view> seconds;
    for (const Verb& verb : verbs_) {
      if (verb.name == first) {
        call_.verb = &verb;
        return {};
      }
      if (verb.name.starts_with(first + " ")) seconds.push_back(verb.name.substr(first.size() + 1));
    }
    if (!seconds.empty()) return read_second(first, seconds);
    std::vector<std::string_view> names;
    for (const Verb& verb : verbs_) {
      if (!verb.is_hidden) names.push_back(verb.name.substr(0, verb.name.find(' ')));
    }
    const auto* const known =
        std::ranges::find(words_elsewhere, first, &decltype(words_elsewhere)::value_type::first);
    const std::string guess = known != words_elsewhere.end()
                                  ? "; did you mean " + std::string(known->second) + "?"
                                  : hint({.word = first, .before = ""}, names);
    return usage("unknown verb " + quoted(first) +
                 (guess.empty() ? "; `perdure help` lists them" : guess));
  }

  Outcome<> read_second(const std::string& first, const std::vector<std::string_view>& seconds) {
    std::string list;
    for (const std::string_view name : seconds)
      list += (list.empty() ? "" : ", ") + std::string(name);
    const std::string word = at_ < words_.size() ? words_[at_] : "";
    if (word == "--help" || word == "-h" || word.empty() || word.starts_with('-')) {
      return usage("'" + first + "' needs one of: " + list);
    }
    at_ += 1;
    call_.verb = find_verb(verbs_, first + " " + word);
    if (call_.verb != nullptr) return {};
    return usage("unknown verb " + quoted(first + " " + word) +
                 hint({.word = word, .before = first + " "}, seconds) + " (" + list + ")");
  }

  const Option* find(const auto& is_it) const {
    if (call_.verb != nullptr) {
      for (const Option& option : call_.verb->options) {
        if (is_it(option)) return &option;
      }
    }
    for (const Option& option : common_options()) {
      if (is_it(option)) return &option;
    }
    return nullptr;
  }

  Outcome<> read_long(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const Option* option = find([&](const Option& o) { return o.name == name; });
    if (option == nullptr) {
      std::vector<std::string_view> names;
      if (call_.verb != nullptr) {
        for (const Option& o : call_.verb->options) names.push_back(o.name);
      }
      for (const Option& o : common_options()) names.push_back(o.name);
      return usage(unknown_option("--" + name) + hint({.word = name, .before = "--"}, names));
    }
    if (option->value_name.empty()) {
      if (equals != std::string::npos) return usage("--" + name + " takes no value");
      call_.args.add(option->name, "");
      return {};
    }
    if (equals != std::string::npos) {
      call_.args.add(option->name, text.substr(equals + 1));
      return {};
    }
    return read_value(*option);
  }

  // -f, -fd for two switches, -n5 and -n 5 for one with a value.
  Outcome<> read_letters(const std::string& letters) {
    if (letters.empty()) return usage("'-' is not a command");
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const Option* option = find([&](const Option& o) { return o.letter == letters[i]; });
      if (option == nullptr) return usage(unknown_option("-" + letters.substr(i)));
      if (option->value_name.empty()) {
        call_.args.add(option->name, "");
        continue;
      }
      if (i + 1 == letters.size()) return read_value(*option);
      call_.args.add(option->name, letters.substr(i + 1));
      return {};
    }
    return {};
  }

  Outcome<> read_value(const Option& option) {
    if (at_ == words_.size()) {
      return usage("--" + std::string(option.name) +
                   " needs a value: " + std::string(option.value_name));
    }
    call_.args.add(option.name, words_[at_++]);
    return {};
  }

  std::string unknown_option(const std::string& word) const {
    const std::string of = call_.verb == nullptr ? "perdure" : std::string(call_.verb->name);
    return "'" + of + "' has no option " + quoted(word);
  }

  Outcome<> check_count() const {
    const std::size_t given = call_.args.words().size();
    std::size_t least = 0;
    bool is_open = false;
    for (const Positional& positional : call_.verb->positionals) {
      const bool is_needed =
          positional.count == Count::one || positional.count == Count::at_least_one;
      if (is_needed && given < ++least) {
        return usage("'" + std::string(call_.verb->name) + "' needs " +
                     std::string(positional.name));
      }
      is_open |= positional.count == Count::any || positional.count == Count::at_least_one;
    }
    if (!is_open && given > call_.verb->positionals.size()) {
      return usage("'" + std::string(call_.verb->name) + "' does not know what to do with " +
                   quoted(call_.args.words()[call_.verb->positionals.size()]));
    }
    return {};
  }

  std::span<const Verb> verbs_;
  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  bool only_words_ = false;
  ParsedCall call_;
};

// Edit distance: insertions, removals, changes and swaps of neighbours.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                             cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::span<const Option> common_options() { return every_verb; }

std::optional<std::string> Args::value(std::string_view option) const {
  const auto found = values_.find(option);
  if (found == values_.end()) return std::nullopt;
  return found->second.back();
}

std::string Args::word(std::size_t place) const {
  return place < words_.size() ? words_[place] : std::string();
}

std::string Args::rest(std::size_t place) const {
  std::string out;
  for (std::size_t i = place; i < words_.size(); ++i) out += (i > place ? " " : "") + words_[i];
  return out;
}

void Args::add(std::string_view option, std::string value) {
  values_[std::string(option)].push_back(std::move(value));
}

Outcome<std::optional<std::uint64_t>> Args::number(std::string_view option) const {
  const auto text = value(option);
  if (!text) return std::nullopt;
  std::uint64_t number = 0;
  const char* end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, number);
  if (read.ec == std::errc() && read.ptr == end) return number;
  return usage("--" + std::string(option) + " takes a number, not " + quoted(*text));
}

Outcome<std::optional<std::int64_t>> Args::duration_ms(std::string_view option) const {
  const auto text = value(option);
  if (!text) return std::nullopt;
  std::int64_t number = 0;
  const char* end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, number);
  const std::string_view unit(read.ptr, static_cast<std::size_t>(end - read.ptr));
  constexpr std::pair<std::string_view, std::int64_t> units[] = {
      {"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  if (read.ec == std::errc() && number >= 0) {
    for (const auto& [name, factor] : units) {
      if (name == unit && number <= std::numeric_limits<std::int64_t>::max() / 2 / factor) {
        return number * factor;
      }
    }
  }
  return usage("--" + std::string(option) + " takes a time as 30s, 5m or 2h, not " + quoted(*text));
}

Outcome<ParsedCall> parse_words(std::span<const Verb> verbs,
                                const std::vector<std::string>& words) {
  return Reader(verbs, words).read();
}

const Verb* find_verb(std::span<const Verb> verbs, std::string_view name) {
  const auto found = std::ranges::find(verbs, name, &Verb::name);
  return found == verbs.end() ? nullptr : &*found;
}

std::string nearest(std::string_view typed, const std::vector<std::string_view>& names) {
  std::string best;
  std::size_t best_distance = std::min<std::size_t>(2, typed.size() / 2) + 1;
  if (typed.size() > 40) return best;
  for (const std::string_view name : names) {
    const std::size_t d = distance(typed, name);
    if (d < best_distance) {
      best_distance = d;
      best = name;
    }
  }
  return best;
}

}  // namespace perdure::cli
