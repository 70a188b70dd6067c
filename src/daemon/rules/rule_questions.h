// Finds what an agent reported about a question in the session's journal: the question's own record
// and earlier ones of its tool call. Bounded; if anything is missing, redacted, cut or too long to
// read, the result is absent and a person decides.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/rules/rule.h"
#include "core/session/state.h"
#include "core/wire/journal/record.h"
#include "core/wire/question/question_parts.h"
#include "store/store.h"

namespace perdure {

RuleScene scene_of(const State& state);

// Collects what records say about one tool call, oldest first, and reads a question about it.
class QuestionFold {
 public:
  QuestionFold(Store& store, std::string tool) : store_(store), tool_(std::move(tool)) {}

  void add(const Record& record);
  // Earlier records of the call are not known: no question about it is whole.
  void miss() { is_whole_ = false; }

  // Nothing: it cannot be read whole.
  std::optional<Question> question(const PermissionRequested& asked) const;
  ShownQuestion shown(const PermissionRequested& asked) const;

 private:
  std::optional<std::string> whole(const RawJson& update) const;
  void note(const RawJson& update);

  Store& store_;
  std::string tool_;
  RunId run_;
  std::vector<std::string> updates_;
  std::size_t bytes_ = 0;
  bool is_settled_ = false;
  bool is_whole_ = true;
};

// A question that is open in this state. Nothing: its record cannot be found.
struct OpenQuestion {
  std::optional<Question> for_rules;  // as QuestionFold::question()
  ShownQuestion shown;
};
std::optional<OpenQuestion> read_open_question(Store& store, const State& state,
                                               PermissionId permission);

}  // namespace perdure
