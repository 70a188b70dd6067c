// Names that reach git's command line from outside: of a branch, of a commit. The one rule: git
// takes an argument that begins with `-` for an option, so no such name passes.
#pragma once

#include <string>

#include "base/result.h"

namespace perdure {

// The name as it came: no option, no control character, of bounded length. Otherwise
// invalid_argument.
Result<std::string> checked_git_name(std::string name);

}  // namespace perdure
