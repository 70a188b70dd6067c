#include "perdure/offline/doctor.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/agents/presence.h"
#include "core/agents/profiles.h"
#include "daemon/daemon.h"
#include "daemon/hosting/container/engine_json.h"
#include "daemon/launch/agent_launch.h"
#include "daemon/launch/probe_runs.h"
#include "daemon/launch/programs.h"
#include "daemon/setup/config.h"
#include "daemon/setup/container_setup.h"
#include "daemon/setup/data_folder.h"
#include "daemon/setup/open_journal.h"
#include "env/posix/confine/confine.h"
#include "net/client.h"
#include "store/postgres/postgres_store.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;
using cli::DoctorCheck;

constexpr std::uint64_t space_low_bytes = 1UL << 30;
constexpr rlim_t descriptors_wanted = 4096;

DoctorCheck check_data(const Places& places) {
  std::error_code error;
  if (!fs::exists(places.data, error)) {
    return {"data", "ok", places.data + " (made at the first start)", ""};
  }
  if (access(places.data.c_str(), R_OK | W_OK | X_OK) != 0) {
    return {"data", "fail", places.data + ": " + std::strerror(errno),
            "make it yours: chown and chmod 700, or set PERDURE_HOME"};
  }
  const bool others = (fs::status(places.data, error).permissions() &
                       (fs::perms::group_all | fs::perms::others_all)) != fs::perms::none;
  if (others) {
    return {"data", "fail", places.data + " can be read by others", "chmod 700 " + places.data};
  }
  return {"data", "ok", places.data, ""};
}

DoctorCheck check_space(const Places& places) {
  fs::path path = places.data;
  std::error_code error;
  while (!fs::exists(path, error) && path.has_relative_path()) path = path.parent_path();
  struct statvfs found{};
  if (statvfs(path.c_str(), &found) != 0) {
    return {"disk", "warn", std::string("free space is not known: ") + std::strerror(errno), ""};
  }
  const std::uint64_t free_bytes = found.f_bavail * found.f_frsize;
  const std::string text = std::to_string(free_bytes >> 20) + " MiB free";
  if (free_bytes < space_low_bytes) {
    return {"disk", "warn", text, "make room: prompts are refused when the disk is full"};
  }
  return {"disk", "ok", text, ""};
}

DoctorCheck check_sqlite() {
  std::string text = std::string("SQLite ") + sqlite3_libversion();
  // Only one connection writes and checkpoints, so SQLite's WAL-reset bug cannot occur.
  return {"sqlite", "ok", text + ", one writer", ""};
}

// Only if the journal is in a database.
std::vector<DoctorCheck> check_database(const std::string& data) {
  const Result<std::optional<StorePlace>> place = find_journal(data);
  if (!place || !*place || (*place)->engine != EngineName::postgres) return {};
  const Result<bool> found = has_postgres_store((*place)->path);
  if (!found) {
    return {{"database", "fail", found.error().message(),
             "look at the server, and at PGPASSFILE for the password"}};
  }
  if (!*found) return {{"database", "fail", "no store is in it", "restore it from a dump"}};
  return {{"database", "ok", (*place)->path + ", as node " + (*place)->node, ""}};
}

DoctorCheck check_agentctl(const std::string& agentctl) {
  if (access(agentctl.c_str(), X_OK) == 0) return {"agentctl", "ok", agentctl, ""};
  return {"agentctl", "fail", agentctl + " is missing", "install perdure-agentctl beside perdure"};
}

DoctorCheck check_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const std::string text = std::to_string(limit.rlim_max) + " descriptors";
  if (limit.rlim_max < descriptors_wanted) {
    return {"limits", "warn", text, "raise it (ulimit -Hn, LimitNOFILE=) for many clients"};
  }
  return {"limits", "ok", text, ""};
}

// Really applies limits: the configured ones, or all three if none are set.
DoctorCheck check_session_limits(const AgentLimits& wanted) {
  const bool is_set = wanted.memory_bytes + wanted.processes + wanted.cpu_percent > 0;
  const AgentLimits tried =
      is_set ? wanted
             : AgentLimits{.memory_bytes = 1L << 30, .processes = 1000, .cpu_percent = 100};
  const Result<> can = can_limit(tried);
  if (can) return {"session limits", "ok", "memory, processes and CPU can be limited", ""};
  return {"session limits", is_set ? "fail" : "warn",
          "memory, processes and CPU of a session cannot be limited: " + can.error().message(),
          "run as root, or in a delegated control group (systemd: Delegate=yes)"};
}

// Really enters them, in a child, because a process cannot leave a namespace.
DoctorCheck check_confinement() {
  const Confinement found = try_namespaces();
  switch (found.level) {
    case ConfinementLevel::full:
      return {"confinement", "ok", "full: agents have their own processes, mounts and user", ""};
    case ConfinementLevel::partial:
      return {"confinement", "warn", "partial: " + found.reason,
              geteuid() == 0 ? "run Perdure as an ordinary user" : "see SECURITY.md"};
    case ConfinementLevel::none: break;
  }
  return {"confinement", "warn", "none: " + found.reason,
          "allow user namespaces; until then an agent can act as you, see SECURITY.md"};
}

// A missing engine is not an error: sessions are plain processes then.
DoctorCheck check_engine(const ContainerSettings& settings) {
  constexpr HttpCallLimits limits{.connect_ms = 2'000, .answer_ms = 5'000};
  const Result<std::string> socket = find_engine_socket(settings);
  if (!socket) return {"containers", "ok", "no container engine is here", ""};
  const fs::path path(*socket);
  const auto io = HttpIo::create();
  const Result<HttpResponse> answer = http_call(
      *io, {.unix_folder = path.parent_path().string(), .unix_name = path.filename().string()},
      {.method = "GET", .target = "/v1.41/info"}, limits);
  if (!answer || answer->status != 200) {
    return {"containers", "warn",
            *socket + " does not answer" + (answer ? "" : ": " + answer.error().message()),
            "start the engine, or say which one: containers.socket"};
  }
  const Result<EngineAbilities> engine = decode_abilities(answer->body);
  if (!engine) return {"containers", "warn", *socket + ": " + engine.error().message(), ""};
  const std::string text = "engine " + engine->version + " at " + *socket;
  if (engine->limits_memory && engine->limits_processes) return {"containers", "ok", text, ""};
  return {"containers", "warn", text + ", which cannot limit memory or processes",
          "run it as root, or with delegated control groups"};
}

// Agents of the config must be installed; for the built-in ones, only lists which are.
std::vector<DoctorCheck> check_agents(const Config& config,
                                      const std::map<std::string, ProbeReport>& reports) {
  std::vector<DoctorCheck> out;
  for (const AgentDefinition& agent : config.agents) {
    const std::string label = "agent " + agent.profile.name;
    const Result<> there = check_presence(agent, programs_for(agent));
    if (there) {
      out.push_back({label, "ok", agent.command.front(), ""});
      continue;
    }
    const std::string install = install_command(agent);
    out.push_back({label, "fail", agent.command.front() + " is not found",
                   install.empty() ? "install it, or change its command" : install});
  }
  for (const auto& [name, report] : reports) {
    const auto failed = std::ranges::find(report.steps, ProbeOutcome::failed, &ProbeStep::outcome);
    const bool is_good = failed == report.steps.end();
    out.push_back({"probe of " + name, is_good ? "ok" : "warn",
                   is_good ? report.program_version + ", comes back by " + report.rung
                           : failed->name + ": " + failed->says,
                   is_good ? "" : "perdure agents probe " + name + " measures it again"});
  }
  std::string installed;
  for (const AgentDefinition& agent : known_agents()) {
    if (presence_of(agent, programs_for(agent)) != AgentPresence::installed) continue;
    installed += (installed.empty() ? "" : ", ") + agent.profile.name;
  }
  out.push_back({"known agents", "ok",
                 installed.empty() ? "none is installed; the demo agent is always there"
                                   : "installed: " + installed,
                 installed.empty() ? "perdure agents ls says how to install one" : ""});
  return out;
}

}  // namespace

std::vector<DoctorCheck> examine(const std::string& agentctl) {
  std::vector<DoctorCheck> out;
  const Result<Places> places = find_places();
  if (!places) {
    out.push_back({"data", "fail", places.error().message(), "set PERDURE_HOME"});
    return out;
  }
  out.push_back(check_data(*places));
  out.push_back(check_space(*places));
  const Result<Config> config = read_config(places->config);
  if (config) {
    out.push_back({"config", "ok", places->config, ""});
    for (DoctorCheck& check : check_agents(*config, read_probe_reports(places->data + "/probes")))
      out.push_back(std::move(check));
  } else {
    out.push_back({"config", "fail", config.error().message(), "correct the file"});
  }
  out.push_back(check_sqlite());
  for (DoctorCheck& check : check_database(places->data)) out.push_back(std::move(check));
  out.push_back(check_agentctl(agentctl));
  out.push_back(check_descriptors());
  out.push_back(check_session_limits(config ? config->limits : AgentLimits{}));
  out.push_back(check_confinement());
  out.push_back(check_engine(config ? config->containers : ContainerSettings{}));
  return out;
}

}  // namespace perdure
