#include "perdure/verbs/question/rule_words.h"

#include <vector>

#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/width.h"

namespace perdure::cli {
namespace {

constexpr std::uint64_t default_days = 30;
constexpr std::size_t lines_before_question = 10;

std::string effect_words(const std::string& effect) {
  if (effect == "allow") return "would have allowed ";
  return effect == "deny" ? "would have refused " : "would have left to you ";
}

std::string count_words(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + ' ' + std::string(count == 1 ? one : many);
}

void print_question(VerbCall& call, JsonView tried) {
  const std::string at = tried["ts"].text();
  const std::string command = tried["command"].text();
  const std::string what = clean_line(command.empty() ? tried["title"].text() : command);
  const std::size_t cells = call.world().console.size().cells;
  const std::string lead = "  " + at.substr(0, 10) + ' ' + at.substr(at.find('T') + 1, 5) + "  " +
                           pad(shorten(clean_line(tried["session_title"].text()), 16), 18) +
                           pad(clean_line(tried["answer"].text()), 14);
  const std::size_t used = text_width(lead);
  call.print_line(lead + shorten(what, cells > used + 20 ? cells - used : 20));
}

}  // namespace

Outcome<Answered> try_rule(VerbCall& call, const std::string& body, std::uint64_t days) {
  std::string with_days = body;
  with_days.insert(with_days.rfind('}'), ",\"days\":" + std::to_string(days));
  return call.change({.path = "/api/rules/test", .body = std::move(with_days)});
}

void print_trial(VerbCall& call, JsonView trial, std::size_t lines_max) {
  const std::string days = count_words(trial["days"].number(), "day", "days");
  call.print_line(clean_line(trial["text"].text()) + ": " + effect_words(trial["effect"].text()) +
                  std::to_string(trial["matched"].number()) + " of " +
                  count_words(trial["questions"].number(), "question", "questions") +
                  " of the last " + days + ".");
  if (const std::uint64_t count = trial["answered_otherwise"].number(); count > 0) {
    call.print_line(call.style().paint(
        Ink::yellow, count_words(count, "of them was", "of them were") + " answered otherwise."));
  }
  if (const std::uint64_t count = trial["overruled"].number(); count > 0) {
    call.print_line(count_words(count, "more matches", "more match") +
                    ", but another rule asks or denies first.");
  }
  if (!trial["complete"].flag()) call.print_line("Older questions were not looked at.");
  const std::vector<JsonView> list = trial["list"].items();
  for (std::size_t i = 0; i < list.size() && i < lines_max; ++i) print_question(call, list[i]);
  const std::uint64_t all = trial["matched"].number() + trial["overruled"].number();
  const std::size_t shown = std::min(list.size(), lines_max);
  if (all > shown) call.print_line("  and " + std::to_string(all - shown) + " more");
}

void print_trial_of(VerbCall& call, const Answered& made) {
  // A daemon of an earlier version tries nothing here.
  if (!call.args().has("yes") || !made["trial"].is_there()) return;
  print_trial(call, made["trial"], lines_before_question);
}

Outcome<bool> confirm_rule(VerbCall& call, const std::string& body) {
  if (call.args().has("yes")) return true;
  if (!call.world().console.is_interactive()) {
    return usage("Not a terminal: pass --yes to add the rule without confirmation.");
  }
  const Answered trial = TRY(try_rule(call, body, default_days));
  print_trial(call, trial.view(), lines_before_question);
  const auto typed = call.world().console.ask("Keep this rule? [y/N] ");
  return typed && (*typed == "y" || *typed == "Y" || *typed == "yes");
}

Outcome<std::optional<std::string>> choose_rule_for(VerbCall& call, const std::string& permission) {
  const Answered answer = TRY(call.get("/api/permissions/" + permission + "/rules"));
  const std::vector<JsonView> offers = answer["suggested_rules"].items();
  if (offers.empty()) {
    return std::unexpected(Trouble::of(
        Error(Code::conflict,
              "no rule can be made from this question: a rule needs one plain command, or paths "
              "inside the workspace. Answer without --always.")));
  }
  std::size_t chosen = 0;
  if (!call.args().has("yes")) {
    for (std::size_t i = 0; i < offers.size(); ++i) {
      call.print_line("  " + std::to_string(i + 1) + "  " + clean_line(offers[i]["text"].text()));
    }
    const auto typed = call.world().console.ask("Which rule? [1-" + std::to_string(offers.size()) +
                                                ", Enter: none] ");
    const std::string digits = typed.value_or("");
    if (digits.size() != 1 || digits[0] < '1' || digits[0] > '9') return std::nullopt;
    chosen = static_cast<std::size_t>(digits[0] - '1');
    if (chosen >= offers.size()) return std::nullopt;
  }
  std::string body(offers[chosen]["rule"].raw());
  if (!TRY(confirm_rule(call, body))) return std::nullopt;
  return body;
}

Outcome<void> keep_rule(VerbCall& call, const std::string& body) {
  const Answered made = TRY(call.change({.path = "/api/rules", .body = body}));
  if (call.is_json()) return {};
  print_trial_of(call, made);
  call.print_line("Rule kept: " + clean_line(made["rule"]["text"].text()) + " (" +
                  made["rule"]["id"].text() + ")");
  return {};
}

}  // namespace perdure::cli
