#include "core/acp/agent/agent_reading.h"

#include <array>
#include <initializer_list>

#include "core/acp/updates/content.h"
#include "core/acp/updates/slices.h"

namespace perdure::acp {
namespace {

BadRequest lacks(const RpcMessage& message, std::string_view name) {
  return {message.id,
          {.code = rpc_code::invalid_params,
           .message = "Invalid params: " + message.method + " needs " + std::string(name)}};
}

// The first of the members that is not a text, if any.
std::optional<std::string_view> missing_text(const Slices& params,
                                             std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (!params.raw(name).starts_with('"')) return name;
  }
  return std::nullopt;
}

SessionSetup read_setup(const Slices& params) {
  SessionSetup setup{.cwd = params.text("cwd"), .mcp_servers = params.json("mcpServers")};
  for (const std::string_view raw : params.elements("additionalDirectories")) {
    if (auto directory = json_string(raw)) setup.additional_directories.push_back(*directory);
  }
  return setup;
}

AgentEvent read_initialize(const RpcMessage& message, const Slices& params) {
  const auto version = params.number_if("protocolVersion");
  if (!version) return lacks(message, "protocolVersion");
  const Slices self(params.raw(params.has("info") ? "info" : "clientInfo"));
  const Slices abilities(params.raw("clientCapabilities"));
  const Slices files(abilities.raw("fs"));
  return InitializeAsked{.id = message.id,
                         .protocol_version = *version,
                         .client_name = self.text("name"),
                         .client_version = self.text("version"),
                         .fs_read = files.is_true("readTextFile"),
                         .fs_write = files.is_true("writeTextFile"),
                         .terminal = abilities.is_true("terminal"),
                         .params = {std::string(message.params)}};
}

AgentEvent read_authenticate(const RpcMessage& message, const Slices& params) {
  if (const auto name = missing_text(params, {"methodId"})) return lacks(message, *name);
  return AuthenticateAsked{message.id, params.text("methodId")};
}

AgentEvent read_new(const RpcMessage& message, const Slices& params) {
  if (const auto name = missing_text(params, {"cwd"})) return lacks(message, *name);
  return SessionAsked{message.id, Call::open_new, "", read_setup(params), params.json("_meta")};
}

AgentEvent read_reopening(const RpcMessage& message, const Slices& params) {
  if (const auto name = missing_text(params, {"sessionId", "cwd"})) return lacks(message, *name);
  Call call = Call::resume;
  if (message.method == "session/load" || params.has("replayFrom")) call = Call::load;
  if (message.method == "session/fork") call = Call::fork;
  return SessionAsked{message.id, call, params.text("sessionId"), read_setup(params),
                      params.json("_meta")};
}

AgentEvent read_session_end(const RpcMessage& message, const Slices& params) {
  if (const auto name = missing_text(params, {"sessionId"})) return lacks(message, *name);
  const Call call = message.method == "session/close" ? Call::close : Call::remove;
  return SessionEndAsked{message.id, call, params.text("sessionId")};
}

AgentEvent read_list(const RpcMessage& message, const Slices& params) {
  return ListAsked{message.id, params.text("cwd"), params.text("cursor")};
}

AgentEvent read_prompt(const RpcMessage& message, const Slices& params) {
  if (const auto name = missing_text(params, {"sessionId"})) return lacks(message, *name);
  const std::string_view blocks = params.raw("prompt");
  if (!blocks.starts_with('[')) return lacks(message, "prompt");
  return PromptAsked{
      message.id, params.text("sessionId"), blocks_text(blocks), {std::string(blocks)}};
}

AgentEvent read_mode(const RpcMessage& message, const Slices& params) {
  if (const auto name = missing_text(params, {"sessionId", "modeId"})) {
    return lacks(message, *name);
  }
  return OptionAsked{message.id, params.text("sessionId"), {"mode", params.text("modeId")}, true};
}

AgentEvent read_option(const RpcMessage& message, const Slices& params) {
  if (const auto name = missing_text(params, {"sessionId", "configId"})) {
    return lacks(message, *name);
  }
  const std::string_view value = params.raw("value");
  if (!value.starts_with('"') && value != "true" && value != "false") {
    return lacks(message, "value");
  }
  return OptionAsked{message.id,
                     params.text("sessionId"),
                     {params.text("configId"), json_string(value).value_or(std::string(value))}};
}

struct Reader {
  std::string_view method;
  AgentEvent (*read)(const RpcMessage&, const Slices&);
};

constexpr auto readers = std::to_array<Reader>({
    {"initialize", read_initialize},
    {"authenticate", read_authenticate},
    {"auth/login", read_authenticate},
    {"session/new", read_new},
    {"session/load", read_reopening},
    {"session/resume", read_reopening},
    {"session/fork", read_reopening},
    {"session/close", read_session_end},
    {"session/delete", read_session_end},
    {"session/list", read_list},
    {"session/prompt", read_prompt},
    {"session/set_mode", read_mode},
    {"session/set_config_option", read_option},
});

}  // namespace

AgentEvent read_request(const RpcMessage& message) {
  const Slices params(message.params);
  for (const Reader& reader : readers) {
    if (reader.method == message.method) return reader.read(message, params);
  }
  return OtherAsked{message.id, message.method, {std::string(message.params)}};
}

}  // namespace perdure::acp
