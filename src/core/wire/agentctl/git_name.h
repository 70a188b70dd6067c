// External names used on git's command line: of a branch, of a commit. git treats an argument that
// begins with `-` as an option, so no such name is accepted.
#pragma once

#include <string>

#include "base/result.h"

namespace perdure {

// The name unchanged, if it is not an option, has no control character and is not too long.
// Otherwise invalid_argument.
Result<std::string> checked_git_name(std::string name);

}  // namespace perdure
