// Programs of this machine, as a shell would find them.
#pragma once

#include <string>
#include <string_view>

#include "agents/presence.h"

namespace perdure {

// Whether `program` can be started with that PATH: a name is looked for there, a path is taken as
// is.
bool has_program(const std::string& program, std::string_view path);

// The same with the PATH that an agent gets: its own, else the daemon's, else the usual one.
HasProgram programs_for(const AgentDefinition& agent);

}  // namespace perdure
