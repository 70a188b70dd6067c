// Whether an agent's program is on a machine, and the command line that starts it there: the
// program on the PATH first, otherwise its package by npx. Pure: `HasProgram` does the lookups.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/fields.h"
#include "base/result.h"
#include "core/agents/definition.h"

namespace perdure {

enum class AgentPresence { installed, npx, missing };
ENUM_TEXT(AgentPresence, "installed", "npx", "missing");

// Whether a program, given by name or path, can be started.
using HasProgram = std::function<bool(const std::string& program)>;

AgentPresence presence_of(const AgentDefinition& agent, const HasProgram& has_program);

// Also for a missing agent: its command then fails with the program's name.
std::vector<std::string> command_by(AgentPresence presence, const AgentDefinition& agent);

// The command that installs it, for a person to run; empty: none is known.
std::string install_command(const AgentDefinition& agent);

// agent_missing, with that command in the message.
Result<> check_presence(const AgentDefinition& agent, const HasProgram& has_program);

}  // namespace perdure
