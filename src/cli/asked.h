// The complete request of an agent: the command, the changes, what they affect, and everything else
// in the question. The rows that show it lose nothing: they are wrapped, never cut.
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
  bool is_new = false;  // the file did not exist
  std::string before;
  std::string after;
};

struct AskedInput {
  std::string name;
  std::string value;  // text as it is, anything else as JSON
};

struct Asked {
  std::string title;  // in the agent's words
  std::string kind;   // execute, edit, …
  std::string command;
  std::string cwd;                // the command's folder, if named
  std::vector<std::string> said;  // additional words of the agent
  std::vector<AskedDiff> diffs;
  std::vector<std::string> paths;  // files and folders that it affects
  std::vector<AskedInput> input;   // the rest of the raw input
  bool is_whole = true;            // false: part of it is not available here
  std::string blob;                // names the part stored separately
  std::size_t options_left_out = 0;
};

// Input: a permission.requested record. `details` replaces the record's `update` if that was stored
// separately. `earlier` are the updates of the same tool, oldest first: they may name what the
// question omits.
struct AskedSources {
  JsonView record;
  JsonView details = {};
  std::vector<JsonView> earlier = {};
};
Asked read_asked(const AskedSources& sources);

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
