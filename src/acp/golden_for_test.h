// Files under tests/golden/acp: exchanges with real agents, shortened, as lines.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace perdure::acp {

inline std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline std::vector<std::string> golden_lines(const std::string& name) {
  return lines_of(std::string(PERDURE_SOURCE_DIR "/tests/golden/acp/") + name);
}

}  // namespace perdure::acp
