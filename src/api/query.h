// Reading a request's query and headers: each parameter once, whole or refused. A number is decimal
// digits and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "http/message.h"

namespace perdure {

// Nothing but decimal digits of a number below 2^64; anything else is invalid_argument.
Result<std::uint64_t> parse_number(std::string_view text);

// Nothing when the parameter is not given; invalid_argument names it when it is no number.
Result<std::optional<std::uint64_t>> number_parameter(const HttpRequest& request,
                                                      std::string_view name);
// The text of the parameter, or the empty one.
std::string text_parameter(const HttpRequest& request, std::string_view name);
// A time in RFC 3339; nothing when it is not given.
Result<std::optional<Timestamp>> time_parameter(const HttpRequest& request, std::string_view name);
// Given and neither empty, "0" nor "false".
bool flag_parameter(const HttpRequest& request, std::string_view name);

// One of the names of the enum; nothing when it is not given.
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

// What a client accepts, as far as we give it different things.
enum class Wanted { json, ndjson, sse, markdown };
Wanted wanted_form(const HttpRequest& request);

// Where a stream goes on: behind `after`, in the log of that name if one is given.
struct StreamCursor {
  std::uint64_t after = 0;
  std::string log_id;
  bool from_header = false;  // Last-Event-ID: a browser connects again by itself
  bool operator==(const StreamCursor&) const = default;
};
// Last-Event-ID wins over ?after=, which a reconnecting browser repeats from its first request.
Result<StreamCursor> stream_cursor(const HttpRequest& request);

}  // namespace perdure
