// Data about a session and about an agent that both ends of a connection use.
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"

namespace perdure::acp {

// A session's environment. An agent needs all of it again when a session is loaded or resumed.
struct SessionSetup {
  std::string cwd;
  RawJson mcp_servers;  // a JSON array; absent: none
  std::vector<std::string> additional_directories;
};

// An agent's capabilities, in the terms of v1.
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
