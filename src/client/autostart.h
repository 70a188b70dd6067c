// Starting the daemon when nobody listens. Whoever holds the start lock starts it, and all others
// wait for that one: two commands at the same time make one daemon (D4).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace perdure::client {

struct StartRequest {
  std::string data_folder;
  std::string program = "/proc/self/exe";
  // It returns once the daemon it leaves behind is ready.
  std::vector<std::string> arguments = {"serve", "--background"};
  std::int64_t ready_ms = 0;  // 0: daemon_ready_ms
};

enum class StartOutcome { was_there, started, waited };

// `is_there` says whether a daemon answers; it is asked before anything is started, again under
// the lock, and afterwards. Blocks. `unavailable` holds what the program wrote to stderr.
Result<StartOutcome> ensure_daemon(const StartRequest& request,
                                   const std::function<bool()>& is_there);

}  // namespace perdure::client
