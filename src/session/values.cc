// The bounds of values that people give.
#include "session/values.h"

#include <string>

#include "base/limits.h"

namespace perdure {
namespace {

struct Bounds {
  const char* name;
  std::int64_t value;
  std::int64_t least;
  std::int64_t most;
};

}  // namespace

Result<> check_limits(const AgentLimits& limits) {
  for (const Bounds& bounds : {Bounds{"memory_bytes", limits.memory_bytes,
                                      static_cast<std::int64_t>(memory_limit_bytes_min), INT64_MAX},
                               Bounds{"processes", limits.processes,
                                      static_cast<std::int64_t>(processes_limit_min), INT64_MAX},
                               Bounds{"cpu_percent", limits.cpu_percent, 1,
                                      static_cast<std::int64_t>(cpu_limit_percent_max)},
                               Bounds{"run_ms", limits.run_ms, 1, run_limit_ms_max}}) {
    if (bounds.value == 0) continue;
    if (bounds.value < bounds.least || bounds.value > bounds.most) {
      return fail(Code::invalid_argument, std::string(bounds.name) + ": 0 (no limit), or from " +
                                              std::to_string(bounds.least) + " to " +
                                              std::to_string(bounds.most));
    }
  }
  return {};
}

Result<> check_continue(const ContinueAtReset& terms) {
  if (terms.times < 1 || terms.times > continue_times_max) {
    return fail(Code::invalid_argument,
                "continue_at_reset: times is between 1 and " + std::to_string(continue_times_max));
  }
  if (terms.hours < 1 || terms.hours > continue_hours_max) {
    return fail(Code::invalid_argument,
                "continue_at_reset: hours is between 1 and " + std::to_string(continue_hours_max));
  }
  return {};
}

}  // namespace perdure
