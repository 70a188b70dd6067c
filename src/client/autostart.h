// Starts the daemon if none is listening. The holder of the start lock starts it and all others
// wait for it, so that two concurrent commands start one daemon (D4).
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
  // The program returns once the daemon that it forked is ready.
  std::vector<std::string> arguments = {"serve", "--background"};
  std::int64_t ready_ms = 0;  // 0: daemon_ready_ms
};

enum class StartOutcome { was_there, started, waited };

// `is_there` reports whether a daemon responds; it is called before the start, again under the
// lock, and afterwards. Blocks. `unavailable` holds what the program wrote to stderr.
Result<StartOutcome> ensure_daemon(const StartRequest& request,
                                   const std::function<bool()>& is_there);

}  // namespace perdure::client
