// Any bytes as an agent's question and as a command line. If an allow rule matches a command,
// another, independent reader must find it simple too; and a deny rule for the same words must
// match it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "core/wire/question/question.h"

namespace perdure {
namespace {

// Whether each letter outside quotes is literal, and quotes contain nothing that expands.
bool is_harmless(std::string_view text) {
  char quote = 0;
  for (const char c : text) {
    if (c < ' ' || c > '~') return false;
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && std::string_view("\\$`;|&<>(){}*?[]~!#^").contains(c)) {
      return false;
    } else if (quote == '"' && std::string_view("\\$`!").contains(c)) {
      return false;
    }
  }
  return quote == 0;
}

void check_command(const std::string& text) {
  const auto words = simple_command(text);
  const auto within = commands_within(text);
  if (!words) return;
  CHECK(is_harmless(text), "a letter with a meaning was taken for a simple command");
  CHECK(!words->empty() && !words->front().contains('='));
  CHECK(std::ranges::find(within, *words) != within.end(), "a deny rule would not see it");
}

void check_question(std::string_view params) {
  const RuleScene scene{.agent = "a", .session = SessionId(Ulid{1, 1}), .cwd = "/w"};
  const Question question = read_question(params, {});
  for (const RuleOffer& offer : offer_rules(scene, question)) {
    CHECK(check_typed_rule(offer.rule).has_value());
    CHECK(match_rule(offer.rule, scene, question) == RuleMatch::yes);
  }
  const TypedRule edits{.effect = "allow", .tools = {"edit"}, .path = "workspace"};
  if (match_rule(edits, scene, question) == RuleMatch::yes) {
    for (const std::string& path : question.paths) {
      const auto plain = plain_path(path, "/w");
      CHECK(plain && is_below(*plain, "/w") && !plain->contains("/../"));
    }
  }
  if (question.words) check_command(question.command);
}

}  // namespace
}  // namespace perdure

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  perdure::check_command(text);
  perdure::check_command("a " + text);
  perdure::check_question(text);
  perdure::JsonWriter input;
  input.begin_object().key("toolCall").begin_object().key("kind").string("execute");
  input.key("rawInput").begin_object().key("command").string(text).end_object();
  input.end_object().end_object();
  perdure::check_question(input.text());
  return 0;
}
