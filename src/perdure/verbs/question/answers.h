// The answers that a question offers, in the agent's own names, and the text shown after an answer.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "perdure/terminal/style.h"
#include "perdure/verbs/session_brief.h"

namespace perdure::cli {

// A plain yes or no. A yes applies once, never always.
enum class Answer { yes, no };
// The only option that matches; null if none or several match.
const QuestionOption* option_for(const Question& question, Answer answer);
// No option matches a plain no, so a no withdraws the question instead.
bool has_no_refusal(const Question& question);

// "allow once", "deny always"; empty for an unknown kind.
std::string kind_of(const QuestionOption& option);
// The agent's name for the option.
std::string name_of(const QuestionOption& option);

// One or more numbered rows per option: its name and the kind of answer.
std::vector<std::string> option_rows(const Style& style, const Question& question,
                                     std::size_t cells, std::optional<std::size_t> chosen = {});

// "Allowed once in "two": Write counter.sh (+8 lines)". Uses generic words if each kind of answer
// occurs only once, otherwise the name of the option. No option: the question was withdrawn.
std::string answered_words(const Question& question, const QuestionOption* option,
                           const std::string& session);
// The same without the session and the subject: "Allowed once", `Answered "Yes, always"`.
std::string outcome_words(const Question& question, const QuestionOption& option);

}  // namespace perdure::cli
