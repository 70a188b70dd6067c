#include "daemon/api/gate/query.h"

#include <charconv>

namespace perdure {

Result<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t out = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    return fail(Code::invalid_argument, "a number was expected");
  }
  return out;
}

Result<std::optional<std::uint64_t>> number_parameter(const HttpRequest& request,
                                                      std::string_view name) {
  const std::optional<std::string_view> text = request.parameter(name);
  if (!text) return std::nullopt;
  const Result<std::uint64_t> number = parse_number(*text);
  if (!number) return fail(Code::invalid_argument, std::string(name) + " has to be a number");
  return *number;
}

std::string text_parameter(const HttpRequest& request, std::string_view name) {
  return std::string(request.parameter(name).value_or(std::string_view()));
}

Result<std::optional<Timestamp>> time_parameter(const HttpRequest& request, std::string_view name) {
  const std::string text = text_parameter(request, name);
  if (text.empty()) return std::nullopt;
  const Result<Timestamp> at = parse_timestamp(text);
  if (!at) {
    return fail(Code::invalid_argument,
                std::string(name) + " has to be a time such as 2026-11-15T12:00:00.000Z");
  }
  return *at;
}

bool flag_parameter(const HttpRequest& request, std::string_view name) {
  const std::string text = text_parameter(request, name);
  return !text.empty() && text != "0" && text != "false";
}

Wanted wanted_form(const HttpRequest& request) {
  const std::string_view accept = request.header("Accept").value_or(std::string_view());
  if (accept.contains("text/event-stream")) return Wanted::sse;
  if (accept.contains("application/x-ndjson")) return Wanted::ndjson;
  if (accept.contains("text/markdown")) return Wanted::markdown;
  return Wanted::json;
}

Result<StreamCursor> stream_cursor(const HttpRequest& request) {
  StreamCursor out{.log_id = text_parameter(request, "log_id")};
  if (request.count("Last-Event-ID") > 1) {
    return fail(Code::invalid_argument, "Last-Event-ID is there twice");
  }
  const std::optional<std::string_view> last = request.header("Last-Event-ID");
  if (last && !last->empty()) {
    const Result<std::uint64_t> after = parse_number(*last);
    if (!after) return fail(Code::invalid_argument, "Last-Event-ID has to be a number");
    out.after = *after;
    out.from_header = true;
    return out;
  }
  out.after = TRY(number_parameter(request, "after")).value_or(0);
  return out;
}

}  // namespace perdure
