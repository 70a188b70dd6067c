// Runs a TestAgent as this process: stdin and SIGTERM go in, its acts are executed in order. It
// continues to read while stdout is full, like an agent with an event loop; the core bounds the
// pending output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testing/agent/test_agent.h"

namespace perdure::testagent {

// Milliseconds since 1970 on a clock that never jumps: the wall clock is read once.
std::int64_t steady_wall_ms();

// Starts this program again with these arguments. child: with our stdio; setsid: in its own
// session, on /dev/null. Returns its pid, or -1.
int start_again(const std::vector<std::string>& arguments, ChildKind kind);

// Blocks SIGTERM, SIGCHLD and SIGPIPE for this process; call before run_agent().
void take_signals();

// Returns the exit code; does not return if the agent ends by a signal.
int run_agent(TestAgent& agent);

}  // namespace perdure::testagent
