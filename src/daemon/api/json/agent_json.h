// An agent of the catalogue as clients see it, and whether its program is on this machine.
#pragma once

#include <string>

#include "core/agents/definition.h"
#include "core/agents/presence.h"
#include "daemon/api/world.h"

namespace perdure {

// `world` must outlive the result.
HasProgram programs_of(const ApiWorld& world, const AgentDefinition& agent);

// Lists the names of environment variables, never their values.
std::string agent_json(const AgentDefinition& agent, const ApiWorld& world);

}  // namespace perdure
