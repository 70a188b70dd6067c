// What a person is asked to allow, as a list of labelled parts that leaves nothing out. The daemon
// makes the list, and the command line and the page show it: GET /api/permissions/{id}.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace perdure {

inline constexpr std::size_t question_parts_max = 2000;  // more: the question is not whole

struct QuestionPart {
  enum class Kind {
    command,  // text: as a shell would read it; label: the member that holds it
    folder,   // text: where the command runs
    diff,     // label: the file; before: absent for a new one; text: after
    path,     // text: a file or folder; label: empty, or its line
    value,    // text: anything else; label: where it stands, `env.PATH`
    said,     // text: the agent's words
  };
  Kind kind = Kind::value;
  std::string label;
  std::string text;
  std::optional<std::string> before = {};
  bool is_other = false;  // of a mention of the tool call that a newer one replaces
  bool operator==(const QuestionPart&) const = default;
};

struct ShownQuestion {
  std::string title;  // in the agent's words
  std::string tool_kind;
  std::vector<QuestionPart> parts;  // in the order of Kind
  // Each text, number and flag that the agent sent is in a part (or is the title or the kind).
  // False: some of it could not be read, so nothing may be allowed from these parts.
  bool is_whole = true;
  bool operator==(const ShownQuestion&) const = default;
};

// `params` and `updates` as for read_question(): any bytes.
ShownQuestion show_question(std::string_view params, std::span<const std::string> updates);

// Members of an object that is open: title, tool_kind, is_whole, parts.
void write_question(JsonWriter& json, const ShownQuestion& question);
// The same back. What cannot be read, or is missing, leaves the question not whole.
ShownQuestion read_shown_question(std::string_view json);

}  // namespace perdure
