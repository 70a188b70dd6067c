// The sessions in OpenCode's database. Only a copy of its files is opened, because opening a
// database even for reading may write beside it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace perdure {

// Each session as lines for adopt::read_opencode(), without subagents. not_found: the file does not
// exist; limit_reached: it is too large; damaged: it was written during the copy, or is broken.
Result<std::vector<std::string>> opencode_sessions(const std::string& file);

}  // namespace perdure
