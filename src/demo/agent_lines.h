// The agent's side of JSON-RPC over lines: bytes from the client become messages, answers become
// lines. Independent of any method. Bad input is an error for one line only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "base/result.h"

namespace perdure::demo {

// Splits a stream into lines without their ends. A line longer than agent_line_bytes_max is dropped
// and counted, so that memory stays bounded for any input.
class LineSplitter {
 public:
  void feed(std::string_view bytes);
  // The next complete line, if any. Empty lines are skipped.
  std::optional<std::string> next();
  std::uint64_t lines_dropped() const { return lines_dropped_; }

 private:
  std::string buffer_;
  std::size_t searched_ = 0;  // no line end before this offset
  bool skipping_ = false;     // within a line that is too long
  std::uint64_t lines_dropped_ = 0;
};

// The id of a request as its original JSON text; empty: none.
struct RequestId {
  std::string json;
  bool operator==(const RequestId&) const = default;
  auto operator<=>(const RequestId&) const = default;
};

// One message of the client. A request has a method and an id, a notification has no id, an answer
// has no method.
struct ClientMessage {
  RequestId id;
  std::string method;
  RawJson params;  // "{}" if there were none
  RawJson result;
  RawJson error;

  bool is_request() const { return !method.empty() && !id.json.empty(); }
  bool is_answer() const { return method.empty(); }
};

// Parses one line. invalid_argument: not JSON, or not a message; batches are not supported.
Result<ClientMessage> parse_client_message(std::string_view line);

// Lenient access to an object's members: a missing member or one of another type reads as empty or
// zero.
class LooseObject {
 public:
  // Keeps a copy of the text.
  explicit LooseObject(std::string text);
  LooseObject(const LooseObject&) = delete;
  LooseObject& operator=(const LooseObject&) = delete;

  std::string_view raw(std::string_view key) const;
  std::string text(std::string_view key) const;
  std::int64_t number(std::string_view key) const;

 private:
  std::string text_;
  std::optional<JsonObject> object_;
};

// The text blocks of a prompt; `all` joins them with newlines, `last` is the last one, which a
// person typed.
struct PromptText {
  std::string all;
  std::string last;
};
PromptText prompt_text(std::string_view blocks);

// The person's choice. Empty: cancelled, an error, or malformed.
std::string chosen_option(const ClientMessage& answer);

// An error object's fields.
struct RpcFault {
  std::int64_t code = -32603;
  std::string message;
  RawJson details;  // its `data`; absent when empty
};

// Lines for the client, each with its newline.
std::string result_line(const RequestId& id, const RawJson& result);
std::string error_line(const RequestId& id, const RpcFault& fault);
std::string request_line(const RequestId& id, std::string_view method, const RawJson& params);
std::string notification_line(std::string_view method, const RawJson& params);
// A session/update.
struct Update {
  std::string json;
};
std::string update_line(std::string_view session_id, const Update& update);

}  // namespace perdure::demo
