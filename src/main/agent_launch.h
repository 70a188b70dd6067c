// How an execution of a session is started on this machine: the agent's command and environment
// out of the catalogue, the daemon's own environment and <data>/env. Equal specs give equal secrets
// and folders in every life of the daemon, so that an agentctl is found again by them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agents/definition.h"
#include "agents/probe_report.h"
#include "base/result.h"
#include "base/secret_mask.h"
#include "env_posix/own_folders.h"
#include "main/config.h"
#include "main/data_folder.h"
#include "runtime/ports.h"
#include "session/state.h"
#include "wire/bootstrap.h"

namespace perdure {

// Of agents where nobody has said a PATH.
inline constexpr std::string_view path_otherwise = "/usr/local/bin:/usr/bin:/bin";

inline bool in_container(const LaunchSpec& spec) { return spec.runtime == "local_docker"; }
inline bool is_remote(const LaunchSpec& spec) { return spec.runtime == "remote"; }
// Programs and homes are those of this machine.
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

// The folders of this data folder, in which no session works but in its own place.
OwnFolders own_folders(const DataFolder& data);

// Of an execution: its ids, its secret and its folders. By it one that lives is found again,
// whatever has become of its agent's definition, or of anything else that a start needs.
Bootstrap make_identity(const LaunchSetting& setting, const LaunchSpec& spec);

// agent_unknown (A9), workspace_missing, damaged for an environment that cannot be read. Without an
// agent's name, where none is wanted: its workspace alone, with an empty command.
Result<Bootstrap> make_launch(const LaunchSetting& setting, const LaunchSpec& spec);

// How that agent is started to be probed: as for a session that says nothing of its own.
Result<ProbeOrder> make_probe_order(const LaunchSetting& setting, std::string_view agent);

// Values that a person gave for one session; never in the journal (K19).
Result<> keep_environment(const DataFolder& data, SessionId session,
                          const std::map<std::string, std::string>& values);

// What this machine knows to be secret of a session: values of its environment, of its agent's, and
// of its MCP servers. What cannot be read is not known.
SecretMask secrets_of(const LaunchSetting& setting, SessionId session, const State& state);

// The agents that come with the program: the demo agent, run by this very executable.
AgentDefinition demo_agent_definition(const std::string& program);

// What agentctl itself is started with.
std::vector<std::string> agentctl_environment(const Places& places);

}  // namespace perdure
