// What an agent asks for, whole: the command, the changes, what they touch, and everything else
// that came with the question. Rows that show it lose nothing: they are wrapped, never cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json_view.h"
#include "cli/style.h"

namespace perdure::cli {

struct AskedDiff {
  std::string path;
  bool is_new = false;  // there was no such file
  std::string before;
  std::string after;
};

struct AskedInput {
  std::string name;
  std::string value;  // of a text, the text; otherwise JSON
};

struct Asked {
  std::string title;  // in the agent's words
  std::string kind;   // execute, edit, …
  std::string command;
  std::string cwd;                // of the command, when it names one
  std::vector<std::string> said;  // what the agent adds in words
  std::vector<AskedDiff> diffs;
  std::vector<std::string> paths;  // that it touches
  std::vector<AskedInput> input;   // the rest of the raw input
  bool is_whole = true;            // false: not all of it is known here
  std::string blob;                // names the part that is kept elsewhere
  std::size_t options_left_out = 0;
};

// Of a permission.requested record. `details` stands in for the record's `update` where that was
// kept elsewhere. `earlier` are the updates of the same tool, oldest first: an agent may name there
// what its question leaves out.
struct AskedSources {
  JsonView record;
  JsonView details = {};
  std::vector<JsonView> earlier = {};
};
Asked read_asked(const AskedSources& sources);

// Where it happens: "agent demo · session "two" rapsha0s · folder /srv/two".
struct AskedWhere {
  std::string session;  // its name
  std::string short_id;
  std::string agent;
  std::string folder;
  std::string place;  // a container, another host; empty: this machine
};

// All of it, each row at most `cells` wide.
std::vector<std::string> asked_rows(const Style& style, const Asked& asked, const AskedWhere& where,
                                    std::size_t cells);

// "Write counter.sh (+8 lines)", on one line.
std::string asked_subject(const Asked& asked);

}  // namespace perdure::cli
