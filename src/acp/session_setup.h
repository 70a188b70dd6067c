// What both ends of a connection say about a session and about themselves.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace perdure::acp {

// Where a session lives. An agent wants all of it again when a session is loaded or resumed.
struct SessionSetup {
  std::string cwd;
  RawJson mcp_servers;  // a JSON array; absent: none
  std::vector<std::string> additional_directories;
};

// What an agent can do, in the terms of v1.
struct AgentAbilities {
  bool load = false;
  bool resume = false;
  bool list = false;
  bool close = false;
  bool remove = false;  // session/delete
  bool fork = false;
  bool image = false;
  bool audio = false;
  bool embedded_context = false;
};

}  // namespace perdure::acp
