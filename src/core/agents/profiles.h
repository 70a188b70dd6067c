// The agents that Perdure knows without configuration: how each is started, what was measured,
// where it differs. The data has the form of a table in config.toml, which may override any of it.
#pragma once

#include <string_view>
#include <vector>

#include "core/agents/definition.h"

namespace perdure {

// By name; built_in is set in all of them. Those with `measured` were run with the named version,
// the others are as their makers describe them.
const std::vector<AgentDefinition>& known_agents();

// Null for an unknown name.
const AgentDefinition* known_agent(std::string_view name);

}  // namespace perdure
