// The way from a request to a session's workspace: its agentctl is started when none runs, since
// files, git and shells need no agent (C1 phase 2, L20, L24), and the request waits for it.
#pragma once

#include <functional>
#include <string>

#include "api/world.h"
#include "base/result.h"

namespace perdure {

using OnExecution = std::move_only_function<void(Result<ExecKey>)>;

// Gives the session's execution once it is ready and linked, at most executor_ready_ms later:
// unavailable then, or what the start failed with. `by` is the principal who is noted as the
// starter.
void with_execution(ApiWorld& world, SessionId session, const std::string& by, OnExecution then);

}  // namespace perdure
