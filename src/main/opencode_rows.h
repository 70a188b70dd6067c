// The sessions in OpenCode's database. Its files are copied first and only the copy is opened: to
// open a database, even for reading, may write beside it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace perdure {

// Each session as lines for adopt::read_opencode(); subagents' are left out. not_found: there is no
// such file; limit_reached: it is too long; damaged: it was written to meanwhile, or is broken.
Result<std::vector<std::string>> opencode_sessions(const std::string& file);

}  // namespace perdure
