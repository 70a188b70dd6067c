// When a rate limit ends, out of the words of an error. Agents pass on what their model's server
// said: a point in time or a span, as a number or in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace perdure::acp {

struct ResetTime {
  std::optional<Timestamp> at;
  std::optional<std::int64_t> after_ms;  // at most 31 days; a longer span is taken for a mistake
  bool operator==(const ResetTime&) const = default;
};

// Takes the text and the same text in lower case.
ResetTime find_reset_time(std::string_view told, std::string_view lower);

}  // namespace perdure::acp
