// JSON-RPC 2.0 messages as ACP uses them: one object per line, no batches, separate ids for each
// direction. Reading tolerates sloppy agents, but never guesses the recipient.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"

namespace perdure::acp {

// A request's id as its JSON text: a number, a string with its quotes, or null. The ids of the two
// directions are independent.
struct RpcId {
  std::string text = "null";
  auto operator<=>(const RpcId&) const = default;

  static RpcId number(std::int64_t value) { return {std::to_string(value)}; }
  bool is_null() const { return text == "null"; }
};

// Codes with a meaning of their own. Agents use others as well, including HTTP's.
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
  RawJson data;  // unchanged; many agents explain the error only here
  bool operator==(const RpcError&) const = default;
};

// One message. The slices are raw JSON of the parsed text, which outlives it; empty means absent.
struct RpcMessage {
  enum class Kind { request, notification, result, error };

  Kind kind = Kind::notification;
  RpcId id;                 // absent for a notification
  std::string method;       // of a request or notification
  std::string_view params;  // of a request or notification
  std::string_view result;  // of a result; "null" if the agent omitted it
  std::string_view error;   // of an error
};

// Takes the text of one valid JSON object. Absent: it is not a JSON-RPC 2.0 message.
std::optional<RpcMessage> parse_rpc(std::string_view object);

// Takes the raw `error` member of a message. Missing members or other types are left empty, and a
// code that is not an integer is 0: an error stays an error, however malformed.
RpcError parse_rpc_error(std::string_view raw);
// The error as a JSON object, for an answer.
std::string print_rpc_error(const RpcError& error);

// The content of a request or notification. `params` is valid JSON, or empty for none; newlines
// between its tokens become spaces, since a message is one line.
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
