// `perdure doctor` without a daemon: checks this machine and this data folder, and says how to fix
// the problems.
#pragma once

#include <string>
#include <vector>

#include "perdure/verbs/call/cli.h"

namespace perdure {

std::vector<cli::DoctorCheck> examine(const std::string& agentctl);

}  // namespace perdure
