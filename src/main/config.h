// config.toml: everything in it is optional. A key that is not known is an error that names it:
// a setting that silently does nothing is worse than none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agents/definition.h"
#include "base/result.h"
#include "base/secret_mask.h"
#include "executors/remote_place.h"
#include "runtime/reach.h"
#include "session/values.h"

namespace perdure {

struct NotifySettings {
  std::string webhook_url;           // http:// or https://; empty: none
  std::string webhook_secret;        // signs the body; empty: unsigned
  std::vector<std::string> command;  // run for each notification; empty: none
  std::vector<std::string> events;   // needs_input, finished, …; empty: all
  std::int64_t debounce_ms = 2'000;  // of equal ones of a session
  bool operator==(const NotifySettings&) const = default;
};

struct ContainerSettings {
  std::string socket;               // of the engine; empty: looked for
  std::string network;              // empty: the engine's own default
  std::string image;                // of sessions that name none
  std::vector<std::string> mounts;  // HOST:CONTAINER or HOST:CONTAINER:ro, besides the workspace
  bool operator==(const ContainerSettings&) const = default;
};

struct Config {
  std::string listen = "127.0.0.1:7433";
  bool listen_given = false;  // else the next free port may be taken (D5)
  std::vector<std::string> public_urls;
  std::string tls_certificate;
  std::string tls_key;

  // Of a database that daemons share.
  std::string advertise;        // where the others reach this one; empty: chosen when it listens
  std::string executions;       // a folder that the daemons of a host share; empty: the data folder
  std::int64_t lease_secs = 0;  // so long silent, its sessions are taken over; 0: the usual time

  std::string default_agent = "demo";
  std::vector<AgentDefinition> agents;
  Policy policy;  // of sessions that say nothing else
  std::string resume_on_open = "active";
  std::size_t resume_parallel = 2;
  bool confine = true;                               // agents do not see the data folder
  AgentsReach agents_reach = AgentsReach::children;  // what a process inside a session sees

  std::size_t live_agents_max = 64;
  AgentLimits limits;  // of sessions that say nothing else; kept where the machine can
  std::int64_t log_bytes_max = 16L << 20;  // then the log is rotated
  std::size_t log_files = 4;
  std::size_t streams_per_principal_max = 1024;

  std::int64_t audit_keep_days = 90;  // older entries of the audit trail are deleted; 0: never

  NotifySettings notify;
  ContainerSettings containers;
  std::map<std::string, RemoteTimes> remotes;  // by the name of the remote
  bool operator==(const Config&) const = default;
};

// Of the settings for daemons that share a database: invalid_argument names the wrong one.
Result<> check_sharing(const Config& config);
// `name` stands in front of errors, with the line. invalid_argument: not TOML, an unknown key, a
// value of another type or out of range.
Result<Config> parse_config(std::string_view text, const std::string& name);
// The defaults when there is no such file.
Result<Config> read_config(const std::string& path);
// Values of the config that are secrets, wherever they turn up.
SecretMask config_secrets(const Config& config);
// As TOML, every key with its present value. Secrets are left out, or `***` stands for them.
std::string show_config(const Config& config);

}  // namespace perdure
