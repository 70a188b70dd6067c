// Extracts the end of a rate limit from the words of an error. Agents pass on their model server's
// words: a point in time or a span, as a number or in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace perdure::acp {

struct ResetTime {
  std::optional<Timestamp> at;
  std::optional<std::int64_t> after_ms;  // at most 31 days; a longer span is treated as a mistake
  bool operator==(const ResetTime&) const = default;
};

// The text, and the same text in lower case.
ResetTime find_reset_time(std::string_view told, std::string_view lower);

}  // namespace perdure::acp
