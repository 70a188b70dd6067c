// Finds what an agent reported about a question in the session's journal: the question's own record
// and earlier ones of its tool call. Bounded; if anything is missing, redacted, cut or too long to
// read, the result is absent and a person decides.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "session/rule.h"
#include "session/state.h"
#include "store/store.h"
#include "wire/record.h"

namespace perdure {

RuleScene scene_of(const State& state);

// A question that is open in this state.
std::optional<Question> read_open_question(Store& store, const State& state,
                                           PermissionId permission);

// Collects what records report about tool calls, oldest first, and derives a question from it.
class QuestionFold {
 public:
  explicit QuestionFold(Store& store) : store_(store) {}

  void add(const Record& record);
  // Absent: it cannot be read completely.
  std::optional<Question> question(const PermissionRequested& asked) const;

 private:
  struct Mentions {
    std::vector<std::string> updates;
    bool is_whole = true;
  };
  std::optional<std::string> whole(const RawJson& update) const;
  void note(const std::string& tool, const RawJson& update);
  void forget_oldest();

  Store& store_;
  std::map<std::string, Mentions> tools_;
  std::deque<std::string> order_;
};

}  // namespace perdure
