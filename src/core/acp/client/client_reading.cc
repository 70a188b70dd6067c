#include "core/acp/client/client_reading.h"

#include <algorithm>

#include "core/acp/updates/slices.h"

namespace perdure::acp {
namespace {

// v1 has true or an object, v2 an object.
bool is_able(const Slices& abilities, std::string_view name) {
  const std::string_view raw = abilities.raw(name);
  return raw == "true" || raw.starts_with('{');
}

AgentAbilities abilities_v1(const Slices& abilities) {
  const Slices session(abilities.raw("sessionCapabilities"));
  const Slices prompt(abilities.raw("promptCapabilities"));
  return {.load = is_able(abilities, "loadSession"),
          .resume = is_able(session, "resume"),
          .list = is_able(session, "list"),
          .close = is_able(session, "close"),
          .remove = is_able(session, "delete"),
          .fork = is_able(session, "fork"),
          .image = is_able(prompt, "image"),
          .audio = is_able(prompt, "audio"),
          .embedded_context = is_able(prompt, "embeddedContext")};
}

// An agent with sessions must have list, resume and close; load is a resume with replay.
AgentAbilities abilities_v2(const Slices& abilities) {
  const bool has_sessions = is_able(abilities, "session");
  const Slices session(abilities.raw("session"));
  const Slices prompt(session.raw("prompt"));
  return {.load = has_sessions,
          .resume = has_sessions,
          .list = has_sessions,
          .close = has_sessions,
          .remove = is_able(session, "delete"),
          .fork = is_able(session, "fork"),
          .image = is_able(prompt, "image"),
          .audio = is_able(prompt, "audio"),
          .embedded_context = is_able(prompt, "embeddedContext")};
}

void add_if_missing(std::vector<OptionValue>& values, OptionValue value) {
  if (value.value.empty()) return;
  if (std::ranges::find(values, value.option, &OptionValue::option) != values.end()) return;
  values.push_back(std::move(value));
}

}  // namespace

Initialized read_initialized(std::string_view result) {
  const Slices members(result);
  Initialized initialized{.result = {std::string(result)}};
  if (members.has("protocolVersion")) {
    initialized.protocol_version = members.number_if("protocolVersion").value_or(-1);
  }
  const bool is_v2 = initialized.protocol_version == 2;
  const Slices self(members.raw(is_v2 ? "info" : "agentInfo"));
  initialized.agent_name = self.text("name");
  initialized.agent_version = self.text("version");
  initialized.abilities = is_v2 ? abilities_v2(Slices(members.raw("capabilities")))
                                : abilities_v1(Slices(members.raw("agentCapabilities")));
  return initialized;
}

std::vector<OptionValue> read_options_shown(std::string_view result) {
  const Slices members(result);
  std::vector<OptionValue> values = option_values(parse_options(members.raw("configOptions")));
  add_if_missing(values, {"mode", Slices(members.raw("modes")).text("currentModeId")});
  add_if_missing(values, {"model", Slices(members.raw("models")).text("currentModelId")});
  return values;
}

void remember_options(std::string_view result, KnownSession& session) {
  const Slices members(result);
  if (members.has("configOptions")) session.options = parse_options(members.raw("configOptions"));
  session.has_modes |= members.has("modes");
  session.has_models |= members.has("models");
}

PermissionAsked read_permission(const RpcMessage& message) {
  const Slices params(message.params);
  PermissionAsked asked{.id = message.id,
                        .session_id = params.text("sessionId"),
                        .title = params.text("title"),
                        .choices = parse_choices(params.raw("options")),
                        .params = {std::string(message.params)}};
  const Slices subject(params.raw("subject"));  // v2: a tool, a command, or nothing
  const std::string_view tool =
      params.has("toolCall") ? params.raw("toolCall") : subject.raw("toolCall");
  if (!tool.empty()) {
    asked.tool = parse_tool(tool);
    asked.tool_call_id = asked.tool->tool_call_id;
    if (asked.title.empty()) asked.title = asked.tool->title.value_or(std::string());
  } else {
    asked.tool_call_id = subject.text("toolCallId");
    if (asked.title.empty()) asked.title = subject.text("command");
  }
  return asked;
}

}  // namespace perdure::acp
