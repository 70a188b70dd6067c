#include "core/acp/reset_time.h"

#include <array>
#include <charconv>
#include <string>

#include "base/check.h"

namespace perdure::acp {
namespace {

constexpr std::int64_t second_ms = 1000;
constexpr std::int64_t span_ms_max = 31LL * 24 * 3600 * second_ms;
constexpr double epoch_seconds_min = 1e9;  // 2001; smaller values are spans
constexpr double epoch_ms_min = 1e12;      // 2001 in milliseconds; no date in seconds is as large
constexpr double epoch_ms_max = 1e14;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

std::string_view skip_to_value(std::string_view text) {
  constexpr std::size_t between_bytes_max = 5;
  for (std::size_t i = 0; i < between_bytes_max && !text.empty(); ++i) {
    if (is_digit(text[0]) || is_letter(text[0])) break;
    text.remove_prefix(1);
  }
  return text;
}

// Removes a number from the front.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto parsed =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (text.empty() || !is_digit(text[0]) || parsed.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return value;
}

// The unit at the front, in milliseconds; a number without a unit is in seconds.
double take_unit_ms(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  std::size_t length = 0;
  while (length < text.size() && is_letter(text[length])) ++length;
  const std::string_view unit = text.substr(0, length);
  text.remove_prefix(length);
  if (unit.starts_with("ms") || unit.starts_with("milli")) return 1;
  if (unit.starts_with('m')) return 60.0 * second_ms;
  if (unit.starts_with('h')) return 3600.0 * second_ms;
  if (unit.starts_with('d')) return 24 * 3600.0 * second_ms;
  return second_ms;
}

// "4:08 AM", "3pm": a time of day in an unknown zone. It is not a span, and a wrong time is worse
// than none.
bool is_time_of_day(std::string_view text) {
  while (!text.empty() && is_digit(text[0])) text.remove_prefix(1);
  if (text.starts_with(':')) return true;
  while (text.starts_with(' ')) text.remove_prefix(1);
  return text.starts_with("am") || text.starts_with("pm");
}

// "20s", "1m30s", "45", "1.5 hours".
std::optional<std::int64_t> read_span(std::string_view text) {
  if (is_time_of_day(text)) return std::nullopt;
  double total_ms = 0;
  bool any = false;
  while (auto number = take_number(text)) {
    total_ms += *number * take_unit_ms(text);
    any = true;
  }
  if (!any || total_ms > static_cast<double>(span_ms_max)) return std::nullopt;
  return static_cast<std::int64_t>(total_ms);
}

constexpr std::size_t date_bytes = std::string_view("2026-11-15T12:26:55").size();

bool is_date(std::string_view text) {
  return text.size() > date_bytes && text[4] == '-' && text[10] == 'T';
}

// RFC 3339 in UTC, with or without a fraction, which is dropped.
std::optional<Timestamp> read_date(std::string_view text) {
  std::size_t end = date_bytes;
  if (text[end] == '.') ++end;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (!text.substr(end).starts_with('Z')) return std::nullopt;
  const auto parsed = parse_timestamp(std::string(text.substr(0, date_bytes)) + ".000Z");
  return parsed ? std::optional(*parsed) : std::nullopt;
}

// Seconds or milliseconds since 1970.
std::optional<Timestamp> read_epoch(std::string_view text) {
  const auto number = take_number(text);
  if (!number || *number < epoch_seconds_min || *number > epoch_ms_max) return std::nullopt;
  const double ms = *number < epoch_ms_min ? *number * second_ms : *number;
  return Timestamp{static_cast<std::int64_t>(ms)};
}

// Words that precede the time; of two with the same beginning, the longer is listed first.
constexpr auto anchors = std::to_array<std::string_view>(
    {"resets_in_seconds", "resetsinseconds", "retry-after-ms", "retry_after_ms", "retryafterms",
     "retry-after", "retry_after", "retryafter", "retrydelay", "resets_at", "reset_at", "resetsat",
     "resetat", "limit reached|", "try again in", "retry in", "try again at", "resets at",
     "resets in"});

}  // namespace

ResetTime find_reset_time(std::string_view told, std::string_view lower) {
  CHECK(told.size() == lower.size());
  for (const std::string_view anchor : anchors) {
    const std::size_t at = lower.find(anchor);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = skip_to_value(lower.substr(at + anchor.size()));
    const std::string_view rest_told = told.substr(told.size() - rest.size());
    if (is_date(rest_told)) return {.at = read_date(rest_told)};
    if (const auto point = read_epoch(rest)) return {.at = point};
    if (auto span = read_span(rest)) {
      const bool in_ms = anchor.ends_with("ms");
      return {.after_ms = in_ms ? *span / second_ms : *span};
    }
  }
  return {};
}

}  // namespace perdure::acp
