// One table for each function; see failures.h.
#include "agentctl/supervisor/agent/failures.h"

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"

namespace perdure {
namespace {

RawJson refused(std::string_view what, const acp::RpcError& error) {
  JsonWriter json;
  json.begin_object().key("perdure").string(what);
  json.key("message").string(error_text(error)).end_object();
  return RawJson{std::move(json).take()};
}

}  // namespace

OpenFailure open_failure(acp::Failure failure) {
  switch (failure) {
    case acp::Failure::method_missing: return OpenFailure::capability_missing;
    case acp::Failure::session_unknown: return OpenFailure::session_unknown;
    case acp::Failure::auth: return OpenFailure::auth;
    case acp::Failure::cancelled: return OpenFailure::cancelled;
    case acp::Failure::transport: return OpenFailure::transport;
    case acp::Failure::version: return OpenFailure::startup;
    default: return OpenFailure::other;
  }
}

std::string error_text(const acp::RpcError& error) {
  std::string text(utf8_prefix(error.message, agent_error_bytes_max));
  text += " (" + std::to_string(error.code) + ")";
  if (!error.data.text.empty()) {
    text += ' ';
    text += utf8_prefix(error.data.text, agent_error_bytes_max);
  }
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

acp::RpcError no_such_option(const acp::OptionValue& option) {
  return {acp::rpc_code::invalid_params, "the agent has shown no option " + option.option, {}};
}

acp::RpcError too_many_requests() {
  return {acp::rpc_code::internal_error, "too many requests at once", {}};
}

RawJson own_note(const OwnNote& note) {
  JsonWriter json;
  json.begin_object().key("perdure").string(note.what);
  json.key(note.counted).number(note.number).end_object();
  return RawJson{std::move(json).take()};
}

RawJson option_refused(const acp::RpcError& error) { return refused("option_refused", error); }

RawJson prompt_refused(const acp::RpcError& error) { return refused("prompt_refused", error); }

}  // namespace perdure
