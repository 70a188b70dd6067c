// JSON-RPC 2.0 messages as ACP uses them: one object a line, no batches, ids counted apart in each
// direction. Reading is lenient where real agents are sloppy and never guesses who is meant.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace perdure::acp {

// A request's id as its JSON text: a number, a string with its quotes, or null. Ids of the two
// directions have nothing to do with each other.
struct RpcId {
  std::string text = "null";
  auto operator<=>(const RpcId&) const = default;

  static RpcId number(std::int64_t value) { return {std::to_string(value)}; }
  bool is_null() const { return text == "null"; }
};

// Codes with a meaning of their own. Agents use others as well, HTTP's among them.
namespace rpc_code {
inline constexpr std::int64_t parse_error = -32700;
inline constexpr std::int64_t invalid_request = -32600;
inline constexpr std::int64_t method_not_found = -32601;
inline constexpr std::int64_t invalid_params = -32602;
inline constexpr std::int64_t internal_error = -32603;
inline constexpr std::int64_t auth_required = -32000;
inline constexpr std::int64_t not_found = -32002;
inline constexpr std::int64_t version_unsupported = -32022;
inline constexpr std::int64_t cancelled = -32800;
}  // namespace rpc_code

struct RpcError {
  std::int64_t code = rpc_code::internal_error;
  std::string message;
  RawJson data;  // as it came; many agents say only there what happened
  bool operator==(const RpcError&) const = default;
};

// One message. The slices are raw JSON of the text it was parsed from, which outlives it; empty
// means absent.
struct RpcMessage {
  enum class Kind { request, notification, result, error };

  Kind kind = Kind::notification;
  RpcId id;                 // not of a notification
  std::string method;       // of a request or notification
  std::string_view params;  // of a request or notification
  std::string_view result;  // of a result; "null" where the agent left it out
  std::string_view error;   // of an error
};

// Takes the text of one valid JSON object. None: it is no message of JSON-RPC 2.0.
std::optional<RpcMessage> parse_rpc(std::string_view object);

// Takes the raw `error` member of a message. What is missing or of another type is left empty, and
// a code that is no whole number is 0: an error is an error, however badly told.
RpcError parse_rpc_error(std::string_view raw);
// The error as a JSON object, as an answer carries it.
std::string print_rpc_error(const RpcError& error);

// What a request or notification says. `params` is valid JSON, or empty for none; newlines between
// its tokens become spaces, since a message is one line.
struct RpcCall {
  std::string_view method;
  std::string_view params;
};

// Each appends one line with its newline.
void append_request(std::string& out, const RpcId& id, const RpcCall& call);
void append_notification(std::string& out, const RpcCall& call);
void append_result(std::string& out, const RpcId& id, std::string_view result);
void append_error(std::string& out, const RpcId& id, const RpcError& error);

}  // namespace perdure::acp
