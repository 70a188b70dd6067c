// How an execution starts on this machine: the agent's command and environment from the catalogue,
// the daemon's own environment and <data>/env. Equal specs give equal secrets and folders in every
// life of the daemon, so that it finds its agentctls again.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret_mask.h"
#include "core/agents/definition.h"
#include "core/agents/probe_report.h"
#include "core/session/state.h"
#include "core/wire/agentctl/bootstrap.h"
#include "daemon/runtime/ports.h"
#include "daemon/setup/config.h"
#include "daemon/setup/data_folder.h"
#include "env/posix/confine/own_folders.h"

namespace perdure {

// For agents if no PATH is configured anywhere.
inline constexpr std::string_view path_otherwise = "/usr/local/bin:/usr/bin:/bin";

inline bool in_container(const LaunchSpec& spec) { return spec.runtime == "local_docker"; }
inline bool is_remote(const LaunchSpec& spec) { return spec.runtime == "remote"; }
// The agent uses the programs and home folders of this machine.
inline bool is_here(const LaunchSpec& spec) { return !in_container(spec) && !is_remote(spec); }

struct LaunchSetting {
  const DataFolder& data;
  const Places& places;
  const AgentCatalog& agents;
  const Config& config;
  std::string key;          // of the data folder
  AgentLimits limits = {};  // of sessions that say nothing else, as far as they can be kept
  // Whether the session may work in the folder that was made for that other one; null: it may not.
  std::function<bool(SessionId session, SessionId owner)> shares_folder = {};
};

// The folders in this data folder; a session may work there only in its own.
OwnFolders own_folders(const DataFolder& data);

// An execution's ids, secret and folders. They identify a living execution, even if its agent's
// definition or anything else that a start needs has changed since.
Bootstrap make_identity(const LaunchSetting& setting, const LaunchSpec& spec);

// agent_unknown (A9), workspace_missing, or damaged for an unreadable environment. If no agent is
// named or wanted: the workspace alone, with an empty command.
Result<Bootstrap> make_launch(const LaunchSetting& setting, const LaunchSpec& spec);

// How to start that agent for a probe: as for a session without settings.
Result<ProbeOrder> make_probe_order(const LaunchSetting& setting, std::string_view agent);

// Values that a person set for one session; never in the journal (K19).
Result<> keep_environment(const DataFolder& data, SessionId session,
                          const std::map<std::string, std::string>& values);

// The secrets of a session that this machine knows: values of its environment, of its agent's, and
// of its MCP servers. Unreadable ones are left out.
SecretMask secrets_of(const LaunchSetting& setting, SessionId session, const State& state);

// The agents that come with the program: the demo agent, which this executable runs.
AgentDefinition demo_agent_definition(const std::string& program);

// The environment of agentctl itself.
std::vector<std::string> agentctl_environment(const Places& places);

}  // namespace perdure
