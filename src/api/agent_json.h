// An agent of the catalogue as clients see it, and whether its program is on this machine.
#pragma once

#include <string>

#include "agents/definition.h"
#include "agents/presence.h"
#include "api/world.h"

namespace perdure {

// The world outlives it.
HasProgram programs_of(const ApiWorld& world, const AgentDefinition& agent);

// Names of variables only, never a value.
std::string agent_json(const AgentDefinition& agent, const ApiWorld& world);

}  // namespace perdure
