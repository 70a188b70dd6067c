// Calendar arithmetic on integers; no time zone, no leap second, no clock. Deadlines may come from
// damaged bytes, so their arithmetic saturates.
#include "base/time.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

namespace perdure {
namespace {

constexpr std::int64_t ms_per_day = 86'400'000;

// Howard Hinnant's civil-date formulas, for the proleptic Gregorian calendar.
std::int64_t days_from_civil(std::int64_t year, unsigned month, unsigned day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const auto year_of_era = static_cast<unsigned>(year - era * 400);
  const unsigned day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + static_cast<std::int64_t>(day_of_era) - 719468;
}

struct Civil {
  std::int64_t year;
  unsigned month;
  unsigned day;
};

Civil civil_from_days(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const auto day_of_era = static_cast<unsigned>(days - era * 146097);
  const unsigned year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const unsigned day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const unsigned shifted_month = (5 * day_of_year + 2) / 153;
  const unsigned day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  const unsigned month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  const std::int64_t year =
      static_cast<std::int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0);
  return {year, month, day};
}

void put_digits(std::span<char> out, std::size_t at, std::int64_t value, int width) {
  for (int i = width - 1; i >= 0; --i) {
    out[at + static_cast<std::size_t>(i)] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

// The number in text[at, at+width), or -1 if a character there is not a digit.
std::int64_t take_digits(std::string_view text, std::size_t at, int width) {
  std::int64_t value = 0;
  for (int i = 0; i < width; ++i) {
    const char c = text[at + static_cast<std::size_t>(i)];
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::int64_t add_saturating(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

std::int64_t subtract_saturating(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

}  // namespace

Deadline Deadline::after(const Moment& now, std::int64_t granted_ms) {
  granted_ms = std::max<std::int64_t>(granted_ms, 0);
  return Deadline{{add_saturating(now.wall.ms, granted_ms)},
                  granted_ms,
                  {add_saturating(now.since_boot.ms, granted_ms)},
                  now.host_boot};
}

std::int64_t Deadline::remaining_ms(const Moment& now) const {
  const std::int64_t left = now.host_boot == host_boot
                                ? subtract_saturating(since_boot.ms, now.since_boot.ms)
                                : subtract_saturating(wall.ms, now.wall.ms);
  return std::clamp<std::int64_t>(left, 0, std::max<std::int64_t>(granted_ms, 0));
}

std::string format_timestamp(Timestamp at) {
  std::string out;
  append_timestamp(out, at);
  return out;
}

void append_timestamp(std::string& out, Timestamp at) {
  std::int64_t days = at.ms / ms_per_day;
  std::int64_t rest = at.ms % ms_per_day;
  if (rest < 0) {
    rest += ms_per_day;
    days -= 1;
  }
  const Civil date = civil_from_days(days);
  constexpr std::string_view pattern = "0000-00-00T00:00:00.000Z";
  std::array<char, pattern.size()> text{};
  std::ranges::copy(pattern, text.begin());
  put_digits(text, 0, std::clamp<std::int64_t>(date.year, 0, 9999), 4);
  put_digits(text, 5, date.month, 2);
  put_digits(text, 8, date.day, 2);
  put_digits(text, 11, rest / 3'600'000, 2);
  put_digits(text, 14, rest / 60'000 % 60, 2);
  put_digits(text, 17, rest / 1000 % 60, 2);
  put_digits(text, 20, rest % 1000, 3);
  out.append(text.data(), text.size());
}

Result<Timestamp> parse_timestamp(std::string_view text) {
  const auto bad = [&] {
    return fail(Code::invalid_argument, "'" + std::string(text.substr(0, 40)) +
                                            "' is not a time like 2026-11-15T12:26:55.123Z");
  };
  if (text.size() != 24 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':' || text[19] != '.' || text[23] != 'Z') {
    return bad();
  }
  const std::int64_t year = take_digits(text, 0, 4);
  const std::int64_t month = take_digits(text, 5, 2);
  const std::int64_t day = take_digits(text, 8, 2);
  const std::int64_t hour = take_digits(text, 11, 2);
  const std::int64_t minute = take_digits(text, 14, 2);
  const std::int64_t second = take_digits(text, 17, 2);
  const std::int64_t milli = take_digits(text, 20, 3);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 ||
      minute < 0 || minute > 59 || second < 0 || second > 59 || milli < 0) {
    return bad();
  }
  const std::int64_t days =
      days_from_civil(year, static_cast<unsigned>(month), static_cast<unsigned>(day));
  const Timestamp out{((days * 24 + hour) * 60 + minute) * 60'000 + second * 1000 + milli};
  if (format_timestamp(out) != text) return bad();  // 31 April and the like
  return out;
}

}  // namespace perdure
