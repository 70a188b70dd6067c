// `perdure remote …`: copies the outpost to another host over ssh, records how to reach it, and
// calls it.
#pragma once

#include <string>

#include "perdure/verbs/call/cli.h"

namespace perdure {

// `program` is this executable; the static programs are searched for beside it.
void give_remote_verbs(cli::LocalVerbs& verbs, const std::string& program);

}  // namespace perdure
