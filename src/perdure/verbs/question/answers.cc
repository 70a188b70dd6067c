#include "perdure/verbs/question/answers.h"

#include <algorithm>
#include <array>

#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/width.h"
#include "perdure/verbs/question/asked.h"

namespace perdure::cli {
namespace {

struct Kind {
  std::string_view name;
  std::string_view words;
  std::string_view done;
};
constexpr auto kinds = std::to_array<Kind>({
    {"allow_once", "allow once", "Allowed once"},
    {"allow_always", "allow always", "Allowed always"},
    {"reject_once", "deny once", "Denied"},
    {"reject_always", "deny always", "Denied always"},
});

const Kind* find_kind(const QuestionOption& option) {
  const auto found = std::ranges::find(kinds, std::string_view(option.kind), &Kind::name);
  return found == kinds.end() ? nullptr : &*found;
}

auto count(const Question& question, std::string_view kind) {
  return std::ranges::count(question.options, kind, &QuestionOption::kind);
}

// Ignores case.
bool is_same(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

const QuestionOption* option_for(const Question& question, Answer answer) {
  std::string_view kind = answer == Answer::yes ? "allow_once" : "reject_once";
  if (answer == Answer::no && count(question, kind) == 0) kind = "reject_always";
  if (count(question, kind) != 1) return nullptr;
  return &*std::ranges::find(question.options, kind, &QuestionOption::kind);
}

bool has_no_refusal(const Question& question) {
  return count(question, "reject_once") + count(question, "reject_always") == 0;
}

std::string kind_of(const QuestionOption& option) {
  const Kind* kind = find_kind(option);
  return kind == nullptr ? std::string() : std::string(kind->words);
}

std::string name_of(const QuestionOption& option) {
  return clean_line(option.name.empty() ? option.id : option.name);
}

std::vector<std::string> option_rows(const Style& style, const Question& question,
                                     std::size_t cells, std::optional<std::size_t> chosen) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    const QuestionOption& option = question.options[i];
    const bool is_chosen = chosen == i;
    const std::string kind = kind_of(option);
    std::string text = exact_text(option.name.empty() ? option.id : option.name);
    std::ranges::replace(text, '\n', ' ');
    if (!kind.empty() && !is_same(text, kind)) text += " (" + kind + ")";
    const std::string number = std::to_string(i + 1);
    std::string lead = (is_chosen ? "▸" : " ") + std::string(number.size() < 2 ? " " : "") + number;
    lead += "  ";
    const std::size_t used = text_width(lead);
    for (const std::string& row :
         wrap(expand_tabs(text), std::max<std::size_t>(cells, used + 10) - used)) {
      rows.push_back(style.paint(is_chosen ? Ink::bold : Ink::plain, lead + row));
      lead = std::string(used, ' ');
    }
  }
  return rows;
}

std::string outcome_words(const Question& question, const QuestionOption& option) {
  const Kind* kind = find_kind(option);
  const bool is_generic = std::ranges::all_of(question.options, [&](const QuestionOption& one) {
    return find_kind(one) != nullptr && count(question, one.kind) == 1;
  });
  if (kind != nullptr && is_generic) return std::string(kind->done);
  return "Answered \"" + name_of(option) + "\"";
}

std::string answered_words(const Question& question, const QuestionOption* option,
                           const std::string& session) {
  const std::string outcome = option == nullptr ? std::string("Withdrawn without an answer")
                                                : outcome_words(question, *option);
  return outcome + " in \"" + clean_line(session) + "\": " + asked_subject(question.asked);
}

}  // namespace perdure::cli
