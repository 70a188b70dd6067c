// Files under tests/golden/acp: exchanges with real agents, shortened, as lines.
#pragma once

#include <string>
#include <vector>

namespace perdure::acp {

// A missing file fails the test.
std::vector<std::string> lines_of(const std::string& path);
std::vector<std::string> golden_lines(const std::string& name);

}  // namespace perdure::acp
