#include "agentctl/workspace/search/glob.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace perdure {
namespace {

char folded(char c, LetterCase letters) {
  return letters == LetterCase::ignored && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

// One step of a pattern.
struct Step {
  enum class Kind { letter, any, set, star, globstar, folders } kind = Kind::letter;
  char letter = 0;
  std::string_view set;  // between the brackets
};

bool in_set(std::string_view set, char c) {
  const bool inverted = set.starts_with('!') || set.starts_with('^');
  if (inverted) set.remove_prefix(1);
  bool found = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const bool range = i + 2 < set.size() && set[i + 1] == '-';
    const auto low = static_cast<unsigned char>(set[i]);
    const auto high = static_cast<unsigned char>(range ? set[i + 2] : set[i]);
    const auto byte = static_cast<unsigned char>(c);
    found = found || (byte >= low && byte <= high);
    if (range) i += 2;
  }
  return found != inverted;
}

// The set that starts after a bracket; none if it is never closed (then `[` is a letter). A closing
// bracket in first place belongs to the set.
std::optional<std::string_view> set_at(std::string_view rest) {
  std::size_t from = rest.starts_with('!') || rest.starts_with('^') ? 1 : 0;
  const std::size_t end = rest.find(']', from + 1);
  if (end == std::string_view::npos) return std::nullopt;
  return rest.substr(0, end);
}

std::vector<Step> steps_of(std::string_view pattern) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view rest = pattern.substr(i);
    const bool at_start = i == 0 || pattern[i - 1] == '/';
    if (at_start && rest.starts_with("**/")) {
      steps.push_back({Step::Kind::folders});
      i += 2;
    } else if (rest.starts_with("**")) {
      steps.push_back({Step::Kind::globstar});
      ++i;
    } else if (rest.front() == '*') {
      steps.push_back({Step::Kind::star});
    } else if (rest.front() == '?') {
      steps.push_back({Step::Kind::any});
    } else if (const auto set = rest.front() == '[' ? set_at(rest.substr(1)) : std::nullopt) {
      steps.push_back({Step::Kind::set, 0, *set});
      i += set->size() + 1;
    } else {
      if (rest.front() == '\\' && rest.size() > 1) ++i;
      steps.push_back({Step::Kind::letter, pattern[i]});
    }
  }
  return steps;
}

bool takes(const Step& step, char c, LetterCase letters) {
  switch (step.kind) {
    case Step::Kind::letter: return folded(step.letter, letters) == folded(c, letters);
    case Step::Kind::any: return c != '/';
    case Step::Kind::set:
      return c != '/' && (in_set(step.set, c) || in_set(step.set, folded(c, letters)));
    case Step::Kind::star: return c != '/';
    case Step::Kind::globstar:
    case Step::Kind::folders: return true;
  }
  return false;
}

bool repeats(const Step& step) {
  return step.kind == Step::Kind::star || step.kind == Step::Kind::globstar ||
         step.kind == Step::Kind::folders;
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view path, LetterCase letters) {
  if (pattern.find('/') == std::string_view::npos) {
    path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
  } else if (pattern.starts_with('/')) {
    pattern.remove_prefix(1);
  }
  const std::vector<Step> steps = steps_of(pattern);
  // reached[i]: the first i steps match the text read so far.
  std::vector<char> reached(steps.size() + 1, 0);
  const auto skip_empty = [&] {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (reached[i] != 0 && repeats(steps[i]) && reached[i + 1] == 0) reached[i + 1] = 1;
    }
  };
  reached[0] = 1;
  skip_empty();
  for (const char c : path) {
    std::vector<char> next(steps.size() + 1, 0);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (reached[i] == 0 || !takes(steps[i], c, letters)) continue;
      next[repeats(steps[i]) ? i : i + 1] = 1;
      // Whole folders only: the rest starts after a slash.
      if (steps[i].kind == Step::Kind::folders && c == '/') next[i + 1] = 1;
    }
    reached = std::move(next);
    // `folders` matches the empty text only at its beginning, so it is not skipped in the middle.
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (reached[i] == 0 || !repeats(steps[i])) continue;
      if (steps[i].kind != Step::Kind::folders || c == '/') reached[i + 1] = 1;
    }
  }
  return reached[steps.size()] != 0;
}

}  // namespace perdure
