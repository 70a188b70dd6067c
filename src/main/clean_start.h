// Putting everything of a data folder aside (U12), and ending the agentctls that belong to it
// (before a restore). Nothing is destroyed.
#pragma once

#include <string>

#include "base/result.h"
#include "main/data_folder.h"

namespace perdure {

// Moves journal, spools, environments, workspaces and logs into <data>/archive/<time>, after every
// agentctl of the folder has ended; token and settings stay. Gives the folder; empty when there was
// nothing. conflict: a daemon has the data folder.
Result<std::string> put_aside(const std::string& data);

// Ends every agentctl that has a spool in this folder, and all that runs under it. The caller holds
// the lock.
Result<> end_agentctls(const DataFolder& data);

}  // namespace perdure
