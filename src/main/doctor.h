// `perdure doctor` without a daemon: what this machine and this data folder are like, and what to
// do about what is wrong.
#pragma once

#include <string>
#include <vector>

#include "cli/cli.h"

namespace perdure {

std::vector<cli::DoctorCheck> examine(const std::string& agentctl);

}  // namespace perdure
