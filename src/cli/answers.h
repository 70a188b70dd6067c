// The answers that a question offers, in the agent's own names, and what is said once one is
// chosen.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/session_brief.h"
#include "cli/style.h"

namespace perdure::cli {

// A plain yes or no. A yes is for this once, never for always.
enum class Answer { yes, no };
// The one option that it stands for; null when there is none, or when two could be meant.
const QuestionOption* option_for(const Question& question, Answer answer);
// No option could be meant by a plain no, so that it withdraws the question instead.
bool has_no_refusal(const Question& question);

// "allow once", "deny always"; empty for a kind that is not known.
std::string kind_of(const QuestionOption& option);
// The agent's name for it.
std::string name_of(const QuestionOption& option);

// One numbered row or more for each option: its name, and what kind of answer it is.
std::vector<std::string> option_rows(const Style& style, const Question& question,
                                     std::size_t cells, std::optional<std::size_t> chosen = {});

// "Allowed once in "two": Write counter.sh (+8 lines)". Generic words where each kind of answer is
// there once, otherwise the name of the chosen one. No option: the question was withdrawn.
std::string answered_words(const Question& question, const QuestionOption* option,
                           const std::string& session);
// The same without the session and what was asked: "Allowed once", `Answered "Yes, always"`.
std::string outcome_words(const Question& question, const QuestionOption& option);

}  // namespace perdure::cli
