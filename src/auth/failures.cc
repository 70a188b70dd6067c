#include "auth/failures.h"

#include <algorithm>

#include "base/limits.h"

namespace perdure {

bool AuthFailures::note(const std::string& source, BootTime now) {
  const auto debt = [&](const Source& known) {
    return std::max<std::int64_t>(0,
                                  known.debt_ms - std::max<std::int64_t>(0, now.ms - known.at.ms));
  };
  if (!sources_.contains(source) && sources_.size() >= auth_sources_max) {
    std::erase_if(sources_, [&](const auto& entry) { return debt(entry.second) == 0; });
    // All of them failed just now: the one that did so least is forgotten.
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
