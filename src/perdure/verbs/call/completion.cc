#include "perdure/verbs/call/completion.h"

#include <algorithm>
#include <array>

namespace perdure::cli {
namespace {

constexpr auto shells = std::to_array<std::string_view>({"bash", "zsh", "fish"});

// An empty answer leaves file names to the shell.
constexpr std::string_view bash_script = R"sh(# bash completion for perdure
_perdure() {
  local word candidates
  COMPREPLY=()
  word="${COMP_WORDS[COMP_CWORD]}"
  candidates="$(perdure __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)"
  if [[ -n "$candidates" ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _perdure perdure
)sh";

constexpr std::string_view zsh_script = R"sh(#compdef perdure
_perdure() {
  local -a lines candidates
  local line
  lines=("${(@f)$(perdure __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    [[ -z "$line" ]] && continue
    candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  if (( ${#candidates} )); then
    _describe 'perdure' candidates
  else
    _files
  fi
}
if [[ "$funcstack[1]" = "_perdure" ]]; then
  _perdure "$@"
else
  compdef _perdure perdure
fi
)sh";

constexpr std::string_view fish_script = R"sh(# fish completion for perdure
function __perdure_complete
    set -l words (commandline -opc) (commandline -ct)
    perdure __complete -- $words[2..-1] 2>/dev/null
end
complete -c perdure -f -a '(__perdure_complete)'
complete -c perdure -n '__fish_seen_subcommand_from import backup restore' -F
)sh";

void offer_options(std::span<const Option> options, std::vector<Candidate>& out) {
  for (const Option& option : options) {
    out.push_back({"--" + std::string(option.name), std::string(option.help)});
  }
}

void offer_verbs(std::span<const Verb> verbs, std::vector<Candidate>& out) {
  for (const Verb& verb : verbs) {
    if (verb.is_hidden) continue;
    const std::string first(verb.name.substr(0, verb.name.find(' ')));
    const bool is_pair = first != verb.name;
    if (std::ranges::find(out, first, &Candidate::word) == out.end()) {
      out.push_back({first, is_pair ? "" : std::string(verb.summary)});
    }
  }
}

const Option* find_option(const Verb& verb, std::string_view word) {
  const auto is_it = [&](const Option& option) {
    return word == "--" + std::string(option.name) ||
           (option.letter != 0 && word == std::string("-") + option.letter);
  };
  const auto own = std::ranges::find_if(verb.options, is_it);
  if (own != verb.options.end()) return &*own;
  const auto common = std::ranges::find_if(common_options(), is_it);
  return common != common_options().end() ? &*common : nullptr;
}

Completes positional_at(const Verb& verb, std::size_t place) {
  if (verb.positionals.empty()) return Completes::nothing;
  const Positional& last = verb.positionals.back();
  const bool is_open = last.count == Count::any || last.count == Count::at_least_one;
  if (place < verb.positionals.size()) return verb.positionals[place].completes;
  return is_open ? last.completes : Completes::nothing;
}

// The verb's own words: options and positionals after its name.
Offer complete_verb(const Verb& verb, const std::vector<std::string>& words, std::size_t at) {
  Offer offer;
  std::size_t place = 0;
  bool only_words = false;
  for (; at + 1 < words.size(); ++at) {
    const std::string& word = words[at];
    if (only_words || !word.starts_with('-') || word == "-") {
      ++place;
    } else if (word == "--") {
      only_words = true;
    } else if (const Option* option = find_option(verb, word);
               option != nullptr && !option->value_name.empty()) {
      if (at + 2 == words.size()) {
        offer.more = option->completes;
        return offer;
      }
      ++at;
    }
  }
  if (words.back().starts_with('-') && !only_words) {
    offer_options(verb.options, offer.candidates);
    offer_options(common_options(), offer.candidates);
    return offer;
  }
  offer.more = positional_at(verb, place);
  return offer;
}

}  // namespace

std::span<const std::string_view> known_shells() { return shells; }

Offer complete_words(std::span<const Verb> verbs, const std::vector<std::string>& words) {
  Offer offer;
  std::size_t at = 0;
  while (at + 1 < words.size() && words[at].starts_with('-')) ++at;
  if (at + 1 < words.size() && words[at] == "session") ++at;
  if (at + 1 >= words.size()) {
    if (!words.empty() && words.back().starts_with('-')) {
      offer_options(common_options(), offer.candidates);
    } else {
      offer_verbs(verbs, offer.candidates);
    }
  } else if (const Verb* verb = find_verb(verbs, words[at])) {
    offer = complete_verb(*verb, words, at + 1);
  } else if (at + 2 == words.size()) {
    for (const Verb& second : verbs) {
      if (!second.name.starts_with(words[at] + " ")) continue;
      offer.candidates.push_back(
          {std::string(second.name.substr(words[at].size() + 1)), std::string(second.summary)});
    }
  } else if (const Verb* pair = find_verb(verbs, words[at] + " " + words[at + 1])) {
    offer = complete_verb(*pair, words, at + 2);
  }
  if (offer.more == Completes::verb) {
    offer_verbs(verbs, offer.candidates);
  } else if (offer.more == Completes::shell) {
    for (const std::string_view shell : shells)
      offer.candidates.push_back({std::string(shell), ""});
  }
  const std::string typed = words.empty() ? "" : words.back();
  std::erase_if(offer.candidates,
                [&](const Candidate& candidate) { return !candidate.word.starts_with(typed); });
  return offer;
}

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return std::string(bash_script);
  if (shell == "zsh") return std::string(zsh_script);
  if (shell == "fish") return std::string(fish_script);
  return {};
}

}  // namespace perdure::cli
