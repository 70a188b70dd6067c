#include "core/agents/definition.h"

#include <utility>

namespace perdure {

void AgentCatalog::add(AgentDefinition definition) {
  std::string name = definition.profile.name;
  agents_.insert_or_assign(std::move(name), std::move(definition));
}

Result<const AgentDefinition*> AgentCatalog::find(std::string_view name) const {
  const auto found = agents_.find(name);
  if (found != agents_.end()) return &found->second;
  std::string message =
      name.empty() ? "no agent is named" : "no agent is called '" + std::string(name) + "'";
  message += "; there are:";
  for (const auto& [known, definition] : agents_) message += " " + known;
  return fail(Code::agent_unknown, std::move(message));
}

}  // namespace perdure
