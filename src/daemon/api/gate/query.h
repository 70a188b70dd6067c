// Reads a request's query and headers. Each parameter is parsed as a whole or refused; a number
// consists of decimal digits only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "net/message.h"

namespace perdure {

// Only decimal digits of a number below 2^64; anything else is invalid_argument.
Result<std::uint64_t> parse_number(std::string_view text);

// nullopt if the parameter is absent; invalid_argument names a parameter that is not a number.
Result<std::optional<std::uint64_t>> number_parameter(const HttpRequest& request,
                                                      std::string_view name);
// The parameter's text; empty if it is absent.
std::string text_parameter(const HttpRequest& request, std::string_view name);
// A time in RFC 3339; nullopt if absent.
Result<std::optional<Timestamp>> time_parameter(const HttpRequest& request, std::string_view name);
// True if the parameter is present and not empty, "0" or "false".
bool flag_parameter(const HttpRequest& request, std::string_view name);

// One of the enum's names; nullopt if absent.
template <TextEnum Enum>
Result<std::optional<Enum>> enum_parameter(const HttpRequest& request, std::string_view name) {
  const std::optional<std::string_view> text = request.parameter(name);
  if (!text || text->empty()) return std::nullopt;
  for (std::size_t i = 0; i < EnumText<Enum>::names.size(); ++i) {
    if (EnumText<Enum>::names[i] == *text) return static_cast<Enum>(i);
  }
  return fail(Code::invalid_argument,
              std::string(name) + " cannot be '" + std::string(*text) + "'");
}

// The form that a client accepts, if we distinguish it.
enum class Wanted { json, ndjson, sse, markdown };
Wanted wanted_form(const HttpRequest& request);

// Where a stream resumes: after record `after`, in the log with that id if one is given.
struct StreamCursor {
  std::uint64_t after = 0;
  std::string log_id;
  bool from_header = false;  // Last-Event-ID: a browser reconnects automatically
  bool operator==(const StreamCursor&) const = default;
};
// Last-Event-ID wins over ?after=, which a reconnecting browser repeats from its first request.
Result<StreamCursor> stream_cursor(const HttpRequest& request);

}  // namespace perdure
