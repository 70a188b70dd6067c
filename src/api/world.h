// What the handlers work on. The wiring owns all of it and keeps it alive for as long as the API.
#pragma once

#include <functional>
#include <string>

#include "agents/definition.h"
#include "env/env.h"
#include "runtime/node.h"
#include "runtime/runtime.h"

namespace perdure {

struct ApiWorld {
  Runtime& runtime;
  Node& node;
  Clock& clock;
  Random& random;
  Loop& loop;
  Files& files;
  Workspaces& workspaces;
  const AgentCatalog& agents;
  std::string version;
  std::string workspaces_folder;  // for sessions without a cwd
};

}  // namespace perdure
