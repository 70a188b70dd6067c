#include "testing/agent/test_agent_script.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace perdure::testagent {
namespace {

constexpr std::int64_t count_max = 1'000'000;
constexpr std::int64_t size_max = std::int64_t{1} << 30;

// The prompts that a probe sends to every agent, worded so that a model understands them.
struct PlainWords {
  std::string_view words;
  std::string_view script;
};
constexpr PlainWords plain_words[] = {{"Which word did I ask you to remember?", "recall"},
                                      {"Count from 1 to 300", "paced 300 20"},
                                      {"Use your shell tool to run exactly", "permission 1"}};

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  constexpr std::string_view blanks = " \t\r\n";
  while (true) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return words;
    text.remove_prefix(first);
    const std::size_t end = std::min(text.find_first_of(blanks), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::optional<std::int64_t> number_of(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// The rest of `text` from its n-th word on.
std::string rest_from(std::string_view text, const std::vector<std::string_view>& words,
                      std::size_t n) {
  if (n >= words.size()) return {};
  return std::string(words[n].data(), text.data() + text.size());
}

std::int64_t default_count(Verb verb) {
  switch (verb) {
    case Verb::say: return 3;
    case Verb::think: return 2;
    case Verb::output: return 3;
    case Verb::background: return 3;
    case Verb::sleep: return 100;
    case Verb::sleep_tool: return 1000;
    case Verb::exit: return 0;
    case Verb::error: return -32603;
    case Verb::flood:
    case Verb::stderr_text: return std::int64_t{1} << 20;
    default: return 1;
  }
}

std::optional<Step> parse_step(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.empty()) return std::nullopt;
  std::string_view name = words[0];
  if (name.starts_with('/')) name.remove_prefix(1);  // "/clear" as people type it
  const auto verb = enum_parse<Verb>(name);
  if (!verb) return std::nullopt;
  Step step{.verb = *verb, .count = default_count(*verb)};
  const auto count = words.size() > 1 ? number_of(words[1]) : std::nullopt;
  const std::int64_t least = *verb == Verb::error ? -count_max : 0;
  const bool is_size = *verb == Verb::flood || *verb == Verb::stderr_text;
  if (count) step.count = std::clamp(*count, least, is_size ? size_max : count_max);
  if (*verb == Verb::chunks || *verb == Verb::paced) {
    const auto size = words.size() > 2 ? number_of(words[2]) : std::nullopt;
    step.size = std::clamp(size.value_or(64), std::int64_t{1}, size_max);
  }
  step.text = rest_from(text, words, *verb == Verb::error ? 2 : 1);
  step.concurrent = std::ranges::find(words, "concurrent") != words.end();
  step.reused_id = std::ranges::find(words, "reused_id") != words.end();
  return step;
}

}  // namespace

std::deque<Step> parse_script(std::string_view prompt) {
  for (const auto& [words, script] : plain_words) {
    if (prompt.starts_with(words)) return parse_script(script);
  }
  std::deque<Step> steps;
  while (!prompt.empty()) {
    const std::size_t end = prompt.find(';');
    const std::string_view part = prompt.substr(0, end);
    if (!words_of(part).empty()) {
      auto step = parse_step(part);
      if (!step) return {Step{.verb = Verb::say, .count = 3}};
      steps.push_back(std::move(*step));
    }
    if (end == std::string_view::npos) break;
    prompt.remove_prefix(end + 1);
  }
  if (steps.empty()) steps.push_back(Step{.verb = Verb::say, .count = 3});
  return steps;
}

}  // namespace perdure::testagent
