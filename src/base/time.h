// Time as plain numbers. Nothing here reads a clock: each input carries a Moment.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perdure {

// Wall-clock milliseconds since 1970, UTC.
struct Timestamp {
  std::int64_t ms = 0;
  auto operator<=>(const Timestamp&) const = default;
};

// Milliseconds on CLOCK_BOOTTIME: counts suspended time, never jumps, starts again at host boot.
struct BootTime {
  std::int64_t ms = 0;
  auto operator<=>(const BootTime&) const = default;
};

// One reading of the clocks. `host_boot` identifies the boot of the kernel: BootTimes of different
// host boots cannot be compared.
struct Moment {
  Timestamp wall;
  BootTime since_boot;
  std::string host_boot;
  bool operator==(const Moment&) const = default;
};

// A deadline as the journal stores it: within one host boot it runs on BootTime; after a reboot on
// the wall clock, and never longer than granted.
struct Deadline {
  Timestamp wall;
  std::int64_t granted_ms = 0;
  BootTime since_boot;
  std::string host_boot;
  bool operator==(const Deadline&) const = default;

  // A grant below 0 counts as 0.
  static Deadline after(const Moment& now, std::int64_t granted_ms);
  // Milliseconds until it passes, 0 when it has passed; at most granted_ms.
  std::int64_t remaining_ms(const Moment& now) const;
};

// RFC 3339 in UTC with milliseconds: 2026-11-15T12:26:55.123Z. Years 0000 to 9999.
std::string format_timestamp(Timestamp at);
void append_timestamp(std::string& out, Timestamp at);
Result<Timestamp> parse_timestamp(std::string_view text);

}  // namespace perdure
