// Moves the contents of a data folder aside: all of it (U12), or only its journal (before a
// restore), and ends the agentctls that belong to it. Nothing is destroyed.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/setup/data_folder.h"

namespace perdure {

enum class Aside {
  everything,  // journal, spools, environments, workspaces, logs and keys; token and settings stay
  journal,     // and its spools; sessions of another journal keep their folders
};
// Moves it into <data>/archive/<time> after every agentctl of the folder has ended. Returns the
// folder, or an empty text if there was nothing. conflict: a daemon uses the data folder. The file
// that marks a journal moves first: after an interruption a start refuses the rest, and another
// call moves it.
Result<std::string> put_aside(const std::string& data, Aside what);

// The names of the parts of a journal in a data folder, complete or not.
std::vector<std::string> journal_parts(const std::string& data);

// Ends every agentctl that has a spool in this folder, and all its processes. The caller must hold
// the lock.
Result<> end_agentctls(const DataFolder& data);

}  // namespace perdure
