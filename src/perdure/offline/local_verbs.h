// The verbs of `perdure` that need no daemon and use the data folder under its lock.
#pragma once

#include <string>

#include "perdure/verbs/call/cli.h"

namespace perdure {

// `program` is this executable; agentctl is searched for beside it.
cli::LocalVerbs local_verbs(const std::string& program);

}  // namespace perdure
