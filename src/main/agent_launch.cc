#include "main/agent_launch.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "base/hash.h"
#include "base/json.h"
#include "main/programs.h"

extern char** environ;

namespace perdure {
namespace {

// What every agent gets of the daemon's environment, where it is set. Nothing of ours is in it.
constexpr std::string_view passed_always[] = {"PATH",
                                              "HOME",
                                              "USER",
                                              "LOGNAME",
                                              "SHELL",
                                              "LANG",
                                              "LANGUAGE",
                                              "TERM",
                                              "TMPDIR",
                                              "TZ",
                                              "XDG_DATA_HOME",
                                              "XDG_CONFIG_HOME",
                                              "XDG_CACHE_HOME",
                                              "XDG_STATE_HOME",
                                              "XDG_RUNTIME_DIR",
                                              "SSH_AUTH_SOCK",
                                              "HTTP_PROXY",
                                              "HTTPS_PROXY",
                                              "NO_PROXY",
                                              "http_proxy",
                                              "https_proxy",
                                              "no_proxy",
                                              "SSL_CERT_FILE",
                                              "SSL_CERT_DIR",
                                              "NODE_EXTRA_CA_CERTS"};
constexpr std::int64_t download_ms = 300'000;  // for npx to fetch a package before it starts it

bool is_passed(std::string_view name, const AgentDefinition& agent) {
  const auto is_it = [&](std::string_view known) { return known == name; };
  const auto is_meant = [&](std::string_view known) {
    return known.ends_with('*') ? name.starts_with(known.substr(0, known.size() - 1))
                                : known == name;
  };
  // Never ours, whatever a pattern says: a token in there opens everything.
  if (name.starts_with("PERDURE_") && !std::ranges::any_of(agent.env_pass, is_it)) return false;
  if (std::ranges::any_of(agent.env_strip, is_meant)) return false;
  return name.starts_with("LC_") || std::ranges::any_of(passed_always, is_it) ||
         std::ranges::any_of(agent.env_pass, is_meant);
}

using Environment = std::map<std::string, std::string>;

Environment inherited(const AgentDefinition& agent, const Places& places) {
  Environment out;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    if (is_passed(name, agent)) out.emplace(name, text.substr(equals + 1));
  }
  // D9: a service manager may start us with next to nothing.
  out.try_emplace("PATH", path_otherwise);
  if (!places.home.empty()) out.try_emplace("HOME", places.home);
  if (!places.user.empty()) out.try_emplace("USER", places.user);
  return out;
}

// What of the above speaks of this machine's folders, and means nothing in a container.
constexpr std::string_view of_this_machine[] = {"PATH",
                                                "HOME",
                                                "USER",
                                                "LOGNAME",
                                                "SHELL",
                                                "TMPDIR",
                                                "XDG_DATA_HOME",
                                                "XDG_CONFIG_HOME",
                                                "XDG_CACHE_HOME",
                                                "XDG_STATE_HOME",
                                                "SSH_AUTH_SOCK",
                                                "XDG_RUNTIME_DIR",
                                                "SSL_CERT_FILE",
                                                "SSL_CERT_DIR",
                                                "NODE_EXTRA_CA_CERTS"};

// There the image says where programs and homes are.
void leave_to_image(Environment& environment, const AgentDefinition& agent) {
  for (const std::string_view name : of_this_machine) {
    if (std::ranges::find(agent.env_pass, name) == agent.env_pass.end()) {
      environment.erase(std::string(name));
    }
  }
}

std::string environment_name(SessionId session) { return session.text() + ".json"; }

Result<Environment> kept_environment(const DataFolder& data, SessionId session) {
  constexpr std::size_t bytes_max = 4UL << 20;
  const auto folder = TRY(PosixFolder::open(data.environments()));
  const Result<std::string> text = folder->read(environment_name(session), 0, bytes_max);
  if (!text) {
    if (text.error().code() == Code::not_found) return Environment{};
    return std::unexpected(text.error());
  }
  Environment out;
  const JsonObject object = TRY(JsonObject::parse(*text));
  for (const auto& [name, raw] : object.members()) out.emplace(name, TRY(json_string(raw)));
  return out;
}

std::string filled(std::string text, const LaunchSpec& spec) {
  const std::pair<std::string_view, const std::string&> places[] = {
      {"{session}", spec.agent_session_id}, {"{message}", spec.last_message_id}};
  for (const auto& [place, value] : places) {
    if (const std::size_t at = text.find(place); at != std::string::npos) {
      text.replace(at, place.size(), value);
    }
  }
  return text;
}

// What an image or another host has is not known here: the agent's own command it is.
bool is_by_npx(const AgentDefinition& agent, const LaunchSpec& spec) {
  return is_here(spec) && !agent.command.empty() &&
         presence_of(agent, programs_for(agent)) == AgentPresence::npx;
}

// K42: an agent that is resumed by its command line is told which session, and behind which
// message.
std::vector<std::string> command_of(const AgentDefinition& agent, const LaunchSpec& spec) {
  std::vector<std::string> out =
      is_by_npx(agent, spec) ? command_by(AgentPresence::npx, agent) : agent.command;
  if (spec.agent_session_id.empty() || !agent.profile.native_session_resume) return out;
  for (const std::string& word : agent.resume_args) out.push_back(filled(word, spec));
  if (spec.last_message_id.empty()) return out;
  for (const std::string& word : agent.resume_at_args) out.push_back(filled(word, spec));
  return out;
}

// The slot behind the one in which the session was opened, with a second for clocks that round.
Timestamp next_slot(Timestamp opened, std::int64_t slot_ms) {
  constexpr std::int64_t rounding_ms = 1'000;
  return {.ms = (opened.ms / slot_ms + 1) * slot_ms + rounding_ms};
}

AgentTimes times_of(const AgentDefinition& agent, const LaunchSpec& spec) {
  const AgentQuirks& quirks = agent.quirks;
  AgentTimes times;
  if (is_by_npx(agent, spec)) times.initialize_ms = download_ms;
  if (quirks.load_slot_ms > 0 && spec.context_opened.ms > 0) {
    times.load_not_before = next_slot(spec.context_opened, quirks.load_slot_ms);
  }
  if (!quirks.exits_on_eof) times.stop_grace_ms = 1;
  if (quirks.load_settle_ms > 0) times.load_settle_ms = quirks.load_settle_ms;
  if (quirks.stop_grace_ms > 0) times.stop_grace_ms = quirks.stop_grace_ms;
  if (quirks.stall_ms > 0) times.stall_ms = quirks.stall_ms;
  return times;
}

// Looked at again: a symlink in it may lead elsewhere by now. Another host's outpost looks where
// the path leads there; whose folder it names is known here.
Result<> check_folder(const LaunchSetting& setting, const LaunchSpec& spec) {
  const std::string& cwd = spec.workspace.cwd;
  SessionId owner = named_session(cwd);
  if (!is_remote(spec)) {
    const std::string real = real_path(cwd);
    owner = real.empty() ? SessionId() : TRY(own_folders(setting.data).session_of(cwd, real));
  }
  const bool is_own = !owner || owner == spec.session;
  if (is_own || (setting.shares_folder && setting.shares_folder(spec.session, owner))) return {};
  return fail(Code::invalid_argument,
              "cwd: " + cwd + " was made for the session " + owner.text() +
                  ". Choose another folder: perdure resume SESSION --cwd FOLDER");
}

}  // namespace

OwnFolders own_folders(const DataFolder& data) {
  std::vector<std::string> paths{data.path()};
  if (data.shares_executions()) paths.push_back(data.executions());
  return OwnFolders(std::move(paths));
}

Bootstrap make_identity(const LaunchSetting& setting, const LaunchSpec& spec) {
  const std::string exec = spec.exec.text();
  Bootstrap bootstrap{.session = spec.session,
                      .exec = spec.exec,
                      .gen = spec.gen,
                      .secret = hmac_sha256(setting.key, "agentctl " + exec).hex(),
                      .owner = setting.data.identity(),
                      .run_folder = setting.data.agentctl_run(),
                      .spool_folder = setting.data.spool() + "/" + exec,
                      .cwd = spec.workspace.cwd,
                      .survive = spec.survive};
  if (in_container(spec)) {
    bootstrap.run_folder = setting.data.container_run() + "/" + spec.session.text();
  }
  return bootstrap;
}

Result<Bootstrap> make_launch(const LaunchSetting& setting, const LaunchSpec& spec) {
  static const AgentDefinition nobody;
  const bool is_alone = spec.agent.name.empty() && !spec.wants_agent;
  const AgentDefinition& agent = is_alone ? nobody : *TRY(setting.agents.find(spec.agent.name));
  // C13: what was imported is bound anew before it works.
  if (spec.workspace.cwd.empty()) {
    return fail(Code::workspace_missing, "the session has no folder here: bind it to one first");
  }
  TRY_VOID(check_folder(setting, spec));
  Bootstrap bootstrap = make_identity(setting, spec);
  // What this machine cannot keep an engine may. Of another host nothing is known: there only what
  // was asked for is, and a host that cannot keep it refuses the start.
  const AgentLimits& usual = in_container(spec) ? setting.config.limits : setting.limits;
  bootstrap.limits =
      spec.limits.value_or(is_remote(spec) ? AgentLimits{.run_ms = usual.run_ms} : usual);
  bootstrap.agent.times = times_of(agent, spec);
  bootstrap.agent.times.run_ms = bootstrap.limits.run_ms;
  if (setting.config.confine && !in_container(spec)) {
    bootstrap.hide = setting.data.hidden();
    // An outpost puts its own in the place of what is said here.
    if (is_remote(spec)) bootstrap.hide = {.folder = setting.data.path()};
  }
  AgentLaunch& launch = bootstrap.agent;
  launch.command = command_of(agent, spec);
  launch.environment = inherited(agent, setting.places);
  if (!is_here(spec)) leave_to_image(launch.environment, agent);
  for (const auto& [name, value] : agent.env) launch.environment.insert_or_assign(name, value);
  for (auto& [name, value] : TRY(kept_environment(setting.data, spec.session))) {
    launch.environment.insert_or_assign(name, std::move(value));
  }
  launch.protocol_version = agent.quirks.protocol_version;
  launch.fs = agent.quirks.fs;
  launch.terminal = agent.quirks.terminal;
  launch.steer = agent.profile.steer;
  launch.mcp_servers = spec.mcp_servers;
  launch.clear_commands = agent.quirks.clear_commands;
  return bootstrap;
}

Result<ProbeOrder> make_probe_order(const LaunchSetting& setting, std::string_view agent) {
  const AgentDefinition& found = *TRY(setting.agents.find(agent));
  TRY_VOID(check_presence(found, programs_for(found)));
  ProbeOrder order{.agent = found.profile.name,
                   .command = command_of(found, {}),
                   .environment = inherited(found, setting.places),
                   .start_ms = times_of(found, {}).initialize_ms,
                   .hide = setting.config.confine ? setting.data.path() : "",
                   .hide_identity = setting.data.hidden().identity,
                   .quirks = found.quirks};
  for (const auto& [name, value] : found.env) order.environment.insert_or_assign(name, value);
  return order;
}

Result<> keep_environment(const DataFolder& data, SessionId session, const Environment& values) {
  if (values.empty()) return {};
  JsonWriter json;
  json.begin_object();
  for (const auto& [name, value] : values) {
    if (name.empty() || name.find('=') != std::string::npos || name.starts_with("PERDURE_")) {
      return fail(Code::invalid_argument, "'" + name + "' cannot be set for an agent");
    }
    json.key(name).string(value);
  }
  json.end_object();
  const auto folder = TRY(PosixFolder::open(data.environments()));
  return folder->replace(environment_name(session), json.text());
}

SecretMask secrets_of(const LaunchSetting& setting, SessionId session, const State& state) {
  SecretMask mask;
  const auto add = [&](const Environment& values) {
    for (const auto& [name, value] : values) mask.add(name, value);
  };
  if (const auto agent = setting.agents.find(state.agent.name)) {
    add(inherited(**agent, setting.places));
    for (const auto& [name, value] : (*agent)->env) mask.add(name, value);
  }
  if (const auto kept = kept_environment(setting.data, session)) add(*kept);
  mask.add_mcp_servers(state.mcp_servers);
  return mask;
}

AgentDefinition demo_agent_definition(const std::string& program) {
  return {.profile = {.name = "demo", .native_session_resume = true},
          .title = "Demo agent (bundled, needs no key)",
          .command = {program, "demo-agent"},
          .env_pass = {"PERDURE_DEMO_HOME"},
          .measured = true};
}

std::vector<std::string> agentctl_environment(const Places& places) {
  const char* const path = std::getenv("PATH");
  std::vector<std::string> out{"PATH=" + std::string(path ? path : path_otherwise)};
  if (!places.home.empty()) out.push_back("HOME=" + places.home);
  return out;
}

}  // namespace perdure
