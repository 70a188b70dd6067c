// What `perdure` can do without a daemon, on the data folder itself and under its lock.
#pragma once

#include <string>

#include "cli/cli.h"

namespace perdure {

// `program` is this executable; agentctl is looked for beside it.
cli::LocalVerbs local_verbs(const std::string& program);

}  // namespace perdure
