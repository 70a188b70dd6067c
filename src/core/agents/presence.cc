#include "core/agents/presence.h"

#include "base/check.h"

namespace perdure {

AgentPresence presence_of(const AgentDefinition& agent, const HasProgram& has_program) {
  CHECK(!agent.command.empty(), "an agent has a command");
  if (has_program(agent.command.front())) return AgentPresence::installed;
  if (!agent.npm.empty() && has_program("npx")) return AgentPresence::npx;
  return AgentPresence::missing;
}

std::vector<std::string> command_by(AgentPresence presence, const AgentDefinition& agent) {
  if (presence != AgentPresence::npx) return agent.command;
  std::vector<std::string> out{"npx", "-y", agent.npm};
  out.insert(out.end(), agent.command.begin() + 1, agent.command.end());
  return out;
}

std::string install_command(const AgentDefinition& agent) {
  if (!agent.install.empty()) return agent.install;
  return agent.npm.empty() ? "" : "npm install -g " + agent.npm;
}

Result<> check_presence(const AgentDefinition& agent, const HasProgram& has_program) {
  if (presence_of(agent, has_program) != AgentPresence::missing) return {};
  std::string message = "the agent '" + agent.profile.name +
                        "' is not on this machine: there is no " + agent.command.front() +
                        " on the PATH";
  if (!agent.npm.empty()) message += ", nor npx";
  if (const std::string install = install_command(agent); !install.empty()) {
    message += "; to install it: " + install;
  }
  return fail(Code::agent_missing, std::move(message));
}

}  // namespace perdure
