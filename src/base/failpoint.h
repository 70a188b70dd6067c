// FAILPOINT("commit.after") marks a place where a test may end or stop this process. The marks
// exist in every build and cost one load and a branch; only a test build can arm them, once, before
// there are threads.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace perdure {

// Null until points are armed. `name` is one of those below.
inline void (*failpoint_hook)(const char* name) = nullptr;

// All points of the daemon and of an agentctl.
std::span<const std::string_view> failpoint_names();
std::span<const std::string_view> agentctl_failpoint_names();

// "commit.after=37*off->1*kill;checkpoint.before=1*stop": the actions for successive hits of a
// point; off at the end of the list. `kill` and `stop` are SIGKILL and SIGSTOP. denied: not a test
// build; invalid_argument: malformed, or an unknown point; nothing is then armed.
Result<> arm_failpoints(std::string_view text);

}  // namespace perdure

#define FAILPOINT(name)                                             \
  do {                                                              \
    if (::perdure::failpoint_hook) ::perdure::failpoint_hook(name); \
  } while (false)
