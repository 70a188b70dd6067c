// Putting what is in a data folder aside: all of it (U12), or its journal (before a restore); and
// ending the agentctls that belong to it. Nothing is destroyed.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "main/data_folder.h"

namespace perdure {

enum class Aside {
  everything,  // journal, spools, environments, workspaces, logs and keys; token and settings stay
  journal,     // and the spools, which belong to it: sessions of another journal keep their folders
};
// Moves it into <data>/archive/<time>, after every agentctl of the folder has ended. Gives the
// folder; empty when there was nothing. conflict: a daemon has the data folder. The file that says
// that a journal is there goes first: cut off in between, a start refuses what is left, and another
// try moves it.
Result<std::string> put_aside(const std::string& data, Aside what);

// What is in a data folder of a journal, whole or not, by name.
std::vector<std::string> journal_parts(const std::string& data);

// Ends every agentctl that has a spool in this folder, and all that runs under it. The caller holds
// the lock.
Result<> end_agentctls(const DataFolder& data);

}  // namespace perdure
