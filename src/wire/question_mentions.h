// The one place that says which parts of an agent's question are about its tool call. Both readers
// use it: question_parts.h for people, question.h for rules. So a rule never looks at another call
// than a person sees.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace perdure {

struct Mention {
  std::string_view raw;  // a tool call, or an update of it
  // As read: empty where the object repeats a name, so that only `raw` shows all of it.
  std::vector<JsonObject::Member> members;
};

struct Mentions {
  std::vector<Mention> of_tool;            // oldest first; the question's own are the last
  std::vector<JsonObject::Member> others;  // of the question, neither known nor about a tool call
  std::string title;                       // the question's own (ACP v2); empty: none
  bool is_json = true;                     // false: some of it is not an object at all
  bool is_clear = true;                    // false: it can be read in two ways
  std::deque<std::string> kept;            // texts that `of_tool` looks into
};

// `params` and `updates` outlive the mentions.
Mentions mentions_of(std::string_view params, std::span<const std::string> updates);

// null, "", [] and {}: a later mention of these does not take back an earlier one.
bool says_nothing(std::string_view raw);

// The names under which agents give a command, its folder and the texts of a change.
bool is_command_name(std::string_view name);
bool is_folder_name(std::string_view name);
// Members of every tool call that only serve the protocol.
bool is_bookkeeping(std::string_view name);

}  // namespace perdure
