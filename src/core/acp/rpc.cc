#include "core/acp/rpc.h"

#include <algorithm>

namespace perdure::acp {
namespace {

bool is_id(std::string_view raw) {
  return raw.starts_with('"') || raw.starts_with('-') || json_is_null(raw) ||
         (!raw.empty() && raw.front() >= '0' && raw.front() <= '9');
}

// A message is one line. Strings in valid JSON contain no newline, so every newline is between
// tokens.
void append_on_one_line(std::string& out, std::string_view json) {
  const std::size_t from = out.size();
  out += json;
  if (json.find_first_of("\n\r") == std::string_view::npos) return;
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(from), out.end(),
      [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

void append_call(std::string& out, const RpcCall& call) {
  out += R"("method":)";
  json_append_string(out, call.method);
  if (!call.params.empty()) {
    out += R"(,"params":)";
    append_on_one_line(out, call.params);
  }
  out += "}\n";
}

void append_answer(std::string& out, const RpcId& id) {
  out += R"({"jsonrpc":"2.0","id":)";
  out += id.text;
}

}  // namespace

std::optional<RpcMessage> parse_rpc(std::string_view object) {
  std::string_view version;
  std::string_view id;
  std::string_view method;
  RpcMessage message;
  for (JsonWalk walk(object); walk.next();) {
    const std::string_view key = walk.quoted_key();
    if (key == R"("jsonrpc")") version = walk.value();
    if (key == R"("id")") id = walk.value();
    if (key == R"("method")") method = walk.value();
    if (key == R"("params")") message.params = walk.value();
    if (key == R"("result")") message.result = walk.value();
    if (key == R"("error")") message.error = walk.value();
  }
  if (version != R"("2.0")" || (!id.empty() && !is_id(id))) return std::nullopt;
  if (!id.empty()) message.id.text = id;
  if (!method.empty()) {
    auto name = json_string(method);
    if (!name) return std::nullopt;
    message.method = *std::move(name);
    message.kind = id.empty() ? RpcMessage::Kind::notification : RpcMessage::Kind::request;
    message.result = message.error = {};
    return message;
  }
  message.params = {};
  if (!message.error.empty() && !json_is_null(message.error)) {
    // Some agents answer an unknown notification, with the id null or without one.
    message.kind = RpcMessage::Kind::error;
    message.result = {};
    return message;
  }
  message.error = {};
  if (id.empty()) return std::nullopt;
  // A JavaScript agent that returns nothing omits `result`.
  message.kind = RpcMessage::Kind::result;
  if (message.result.empty()) message.result = "null";
  return message;
}

RpcError parse_rpc_error(std::string_view raw) {
  RpcError error{.code = 0};
  if (raw.starts_with('"')) error.message = json_string(raw).value_or("");
  for (JsonWalk walk(raw); walk.next();) {
    const std::string_view key = walk.quoted_key();
    if (key == R"("code")") error.code = json_int(walk.value()).value_or(0);
    if (key == R"("message")") error.message = json_string(walk.value()).value_or("");
    if (key == R"("data")") error.data.text = walk.value();
  }
  return error;
}

std::string print_rpc_error(const RpcError& error) {
  std::string out = R"({"code":)" + std::to_string(error.code) + R"(,"message":)";
  json_append_string(out, error.message);
  if (!error.data.text.empty()) {
    out += R"(,"data":)";
    append_on_one_line(out, error.data.text);
  }
  out += '}';
  return out;
}

void append_request(std::string& out, const RpcId& id, const RpcCall& call) {
  append_answer(out, id);
  out += ',';
  append_call(out, call);
}

void append_notification(std::string& out, const RpcCall& call) {
  out += R"({"jsonrpc":"2.0",)";
  append_call(out, call);
}

void append_result(std::string& out, const RpcId& id, std::string_view result) {
  append_answer(out, id);
  out += R"(,"result":)";
  append_on_one_line(out, result.empty() ? "null" : result);
  out += "}\n";
}

void append_error(std::string& out, const RpcId& id, const RpcError& error) {
  append_answer(out, id);
  out += R"(,"error":)" + print_rpc_error(error) + "}\n";
}

}  // namespace perdure::acp
