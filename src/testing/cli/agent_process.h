// Runs a TestAgent as this process: stdin and SIGTERM go in, its acts are done in order. Reading
// goes on while stdout is full, as in an agent with an event loop; the output that waits is bounded
// by the core.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testing/test_agent.h"

namespace perdure::testagent {

// Milliseconds since 1970 as a clock that never jumps: the wall clock is read once.
std::int64_t steady_wall_ms();

// Starts this same program again with these arguments. child: with our stdio; setsid: in a session
// of its own, on /dev/null. Gives its pid, or -1.
int start_again(const std::vector<std::string>& arguments, ChildKind kind);

// Blocks SIGTERM, SIGCHLD and SIGPIPE for this process; before run_agent().
void take_signals();

// Returns the exit code; does not return when the agent ends by a signal.
int run_agent(TestAgent& agent);

}  // namespace perdure::testagent
