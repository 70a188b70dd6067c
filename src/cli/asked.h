// What an agent asks for, whole: the parts that the daemon made of its question. Rows that show
// them lose nothing: they are wrapped, never cut.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/json_view.h"
#include "cli/style.h"
#include "wire/question_parts.h"

namespace perdure::cli {

struct Asked {
  ShownQuestion question = {.is_whole = false};
  bool is_read = false;  // false: the daemon has not answered yet
  std::size_t options_left_out = 0;
};

// Of the answer of GET /api/permissions/{id}.
Asked read_asked(JsonView answer);
// Of a permission.requested record and the earlier updates of its tool call, for those who only
// show what happened. Details that the journal keeps elsewhere leave it not whole.
Asked read_asked_record(JsonView record, std::span<const std::string> updates);

// Where the action happens: "agent demo · session "two" rapsha0s · folder /srv/two".
struct AskedWhere {
  std::string session;  // its name
  std::string short_id;
  std::string agent;
  std::string folder;
  std::string place;  // a container, another host; empty: this machine
};

// The whole question, each row at most `cells` wide.
std::vector<std::string> asked_rows(const Style& style, const Asked& asked, const AskedWhere& where,
                                    std::size_t cells);

// "Write counter.sh (+8 lines)", on one line.
std::string asked_subject(const Asked& asked);

}  // namespace perdure::cli
