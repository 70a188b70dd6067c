// The agents that Perdure knows without being told: how each is started, what of it was measured,
// where it differs. Data in the form that a table of config.toml has, which may change any of it.
#pragma once

#include <string_view>
#include <vector>

#include "agents/definition.h"

namespace perdure {

// By name; built_in is set in all of them. Those with `measured` were run with the version that
// they name, the others are as their makers describe them.
const std::vector<AgentDefinition>& known_agents();

// Null for a name that is none of theirs.
const AgentDefinition* known_agent(std::string_view name);

}  // namespace perdure
