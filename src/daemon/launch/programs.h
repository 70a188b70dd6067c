// Programs of this machine, as a shell would find them.
#pragma once

#include <string>
#include <string_view>

#include "core/agents/presence.h"

namespace perdure {

// Whether `program` can be started with that PATH: a name is searched for in it, a path is used as
// is.
bool has_program(const std::string& program, std::string_view path);

// The same with the PATH that an agent gets: its own, otherwise the daemon's or the default.
HasProgram programs_for(const AgentDefinition& agent);

}  // namespace perdure
