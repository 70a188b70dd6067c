// Whether an agent's program is on a machine, and the command line that starts it there: the
// program of the PATH first, else its package by npx. Looks at nothing itself.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/definition.h"
#include "base/fields.h"
#include "base/result.h"

namespace perdure {

enum class AgentPresence { installed, npx, missing };
ENUM_TEXT(AgentPresence, "installed", "npx", "missing");

// Whether a program, a name or a path, can be started.
using HasProgram = std::function<bool(const std::string& program)>;

AgentPresence presence_of(const AgentDefinition& agent, const HasProgram& has_program);

// The command of an agent that is missing too: starting it fails with its program's name.
std::vector<std::string> command_by(AgentPresence presence, const AgentDefinition& agent);

// The command that a person runs to have it; empty: none is known.
std::string install_command(const AgentDefinition& agent);

// agent_missing, with that command in the message.
Result<> check_presence(const AgentDefinition& agent, const HasProgram& has_program);

}  // namespace perdure
