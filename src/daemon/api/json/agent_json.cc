#include "daemon/api/json/agent_json.h"

#include <utility>

#include "base/json/fields_json.h"
#include "base/json/json.h"

namespace perdure {

HasProgram programs_of(const ApiWorld& world, const AgentDefinition& agent) {
  if (!world.has_program) return [](const std::string&) { return true; };
  return [&world, &agent](const std::string& program) { return world.has_program(agent, program); };
}

std::string agent_json(const AgentDefinition& agent, const ApiWorld& world) {
  const std::string& default_name = world.agents.default_name();
  const AgentPresence presence = presence_of(agent, programs_of(world, agent));
  std::vector<std::string> env_names = agent.env_pass;
  for (const auto& [name, value] : agent.env) env_names.push_back(name);
  std::string command;
  append_json(command, command_by(presence, agent));
  std::string names;
  append_json(names, env_names);
  const AgentProfile& profile = agent.profile;
  JsonWriter out;
  out.begin_object().key("name").string(profile.name).key("title").string(agent.title);
  out.key("default").boolean(profile.name == default_name).key("command").raw(command);
  out.key("env_names").raw(names);
  out.key("supports_session_resume").boolean(profile.supports_session_resume);
  out.key("native_session_resume").boolean(profile.native_session_resume);
  out.key("history_context_injection").boolean(profile.history_context_injection);
  out.key("steer").boolean(profile.steer).key("measured").boolean(agent.measured);
  std::string abilities;
  append_json(abilities, agent.abilities);
  out.key("measured_version").string(agent.measured_version).key("abilities").raw(abilities);
  out.key("built_in").boolean(agent.built_in).key("presence").string(enum_text(presence));
  out.key("install").string(install_command(agent));
  out.key("resume_command").string(agent.resume_command);
  out.key("fork_command").string(agent.fork_command);
  out.key("continue_command").string(agent.continue_command);
  out.key("login_hint").string(agent.login_hint);
  if (world.probed) {
    const ApiWorld::Probed probed = world.probed(profile.name);
    out.key("probing").boolean(probed.is_running);
    if (probed.report) out.key("probe").raw(encode_fields(*probed.report));
  }
  out.key("quirks").raw(encode_fields(agent.quirks)).end_object();
  return std::move(out).take();
}

}  // namespace perdure
