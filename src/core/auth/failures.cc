#include "core/auth/failures.h"

#include <algorithm>

#include "base/limits.h"

namespace perdure {

std::int64_t AuthFailures::Source::debt_at(BootTime now) const {
  return std::max<std::int64_t>(0, debt_ms - std::max<std::int64_t>(0, now.ms - at.ms));
}

std::int64_t AuthFailures::delay_ms(const std::string& source, BootTime now) const {
  const auto known = sources_.find(source);
  if (known == sources_.end()) return 0;
  const std::int64_t debt_ms = known->second.debt_at(now);
  const std::int64_t failures = (debt_ms + auth_failure_ms - 1) / auth_failure_ms;
  std::int64_t delay_ms = 0;
  for (std::int64_t n = auth_free_failures; n < failures && delay_ms < auth_delay_max_ms; ++n) {
    delay_ms = delay_ms == 0 ? auth_delay_first_ms : 2 * delay_ms;
  }
  return std::min(delay_ms, auth_delay_max_ms);
}

bool AuthFailures::note(const std::string& source, BootTime now) {
  const auto debt = [&](const Source& known) { return known.debt_at(now); };
  if (!sources_.contains(source) && sources_.size() >= auth_sources_max) {
    std::erase_if(sources_, [&](const auto& entry) { return debt(entry.second) == 0; });
    // All of them failed recently: forget the one with the fewest failures.
    if (sources_.size() >= auth_sources_max) {
      sources_.erase(std::ranges::min_element(
          sources_, {}, [&](const auto& entry) { return debt(entry.second); }));
    }
  }
  Source& known = sources_[source];
  known.debt_ms = debt(known);
  known.at = now;
  if (known.debt_ms > auth_failure_ms * (auth_failures_max - 1)) return true;
  known.debt_ms += auth_failure_ms;
  return false;
}

}  // namespace perdure
