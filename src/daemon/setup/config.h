// config.toml: every key is optional. An unknown key is an error that names it, so that no setting
// is silently ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret_mask.h"
#include "core/agents/definition.h"
#include "core/session/values.h"
#include "daemon/hosting/remote/remote_place.h"
#include "daemon/runtime/reads/reach.h"

namespace perdure {

struct NotifySettings {
  std::string webhook_url;           // http:// or https://; empty: none
  std::string webhook_secret;        // signs the body; empty: unsigned
  std::vector<std::string> command;  // run for each notification; empty: none
  std::vector<std::string> events;   // needs_input, finished, …; empty: all
  std::int64_t debounce_ms = 2'000;  // merges identical ones for one session
  bool operator==(const NotifySettings&) const = default;
};

struct ContainerSettings {
  std::string socket;               // the engine's socket; empty: find it
  std::string network;              // empty: the engine's own default
  std::string image;                // for sessions that name no image
  std::vector<std::string> mounts;  // HOST:CONTAINER or HOST:CONTAINER:ro, beyond the workspace
  bool operator==(const ContainerSettings&) const = default;
};

struct Config {
  std::string listen = "127.0.0.1:7433";
  bool listen_given = false;  // otherwise the next free port may be used (D5)
  std::vector<std::string> public_urls;
  std::string tls_certificate;
  std::string tls_key;

  // For daemons that share a database.
  std::string advertise;        // the address for other daemons; empty: chosen when it listens
  std::string executions;       // a folder that the daemons of a host share; empty: the data folder
  std::int64_t lease_secs = 0;  // silence after which its sessions are taken over; 0: the default

  std::string default_agent = "demo";
  std::vector<AgentDefinition> agents;
  Policy policy;  // the default for sessions
  std::string resume_on_open = "active";
  std::size_t resume_parallel = 2;
  bool confine = true;                               // agents do not see the data folder
  AgentsReach agents_reach = AgentsReach::children;  // which sessions a process in a session sees

  std::size_t live_agents_max = 64;
  AgentLimits limits;  // the default for sessions; enforced where the machine can
  std::int64_t log_bytes_max = 16L << 20;  // the log is rotated at this size
  std::size_t log_files = 4;
  std::size_t streams_per_principal_max = 1024;

  std::int64_t audit_keep_days = 90;  // older entries of the audit trail are deleted; 0: never

  NotifySettings notify;
  ContainerSettings containers;
  std::map<std::string, RemoteTimes> remotes;  // by the remote's name
  bool operator==(const Config&) const = default;
};

// Checks the settings for daemons that share a database; invalid_argument names the wrong one.
Result<> check_sharing(const Config& config);
// Errors start with `name` and the line. invalid_argument: not TOML, an unknown key, or a value of
// the wrong type or out of range.
Result<Config> parse_config(std::string_view text, const std::string& name);
// Returns the defaults if the file does not exist.
Result<Config> read_config(const std::string& path);
// Secret values of the config, to be masked everywhere.
SecretMask config_secrets(const Config& config);
// As TOML, every key with its current value. Secrets are omitted or shown as `***`.
std::string show_config(const Config& config);

}  // namespace perdure
