// Connects a request to a session's workspace. If no agentctl runs, it is started, because files,
// git and shells need no agent (C1 phase 2, L20, L24), and the request waits for it.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "daemon/api/world.h"

namespace perdure {

using OnExecution = std::move_only_function<void(Result<ExecKey>)>;

// Calls `then` with the session's execution when it is ready and linked, or with the error of the
// start; unavailable after executor_ready_ms. `by` is the principal recorded as the starter.
void with_execution(ApiWorld& world, SessionId session, const std::string& by, OnExecution then);

}  // namespace perdure
