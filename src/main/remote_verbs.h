// `perdure remote …`: brings the outpost to another host by ssh, keeps how it is known, and calls
// it.
#pragma once

#include <string>

#include "cli/cli.h"

namespace perdure {

// `program` is this executable; the static programs are looked for beside it.
void give_remote_verbs(cli::LocalVerbs& verbs, const std::string& program);

}  // namespace perdure
