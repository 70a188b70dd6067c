// One seed, from an empty disk to the last check: a safety phase with the seed's faults, then a
// healed world that must come to rest, serve again, and read the same after one more restart.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/verdict.h"

namespace perdure::sim {

// scripted: agentctls simulated at the border of runtime/ports.h. real: the supervisor and the
// executors themselves, with simulated processes, links and folders under them.
enum class AgentctlKind { scripted, real };

struct SeedOptions {
  AgentctlKind agentctls = AgentctlKind::real;
  std::uint64_t steps_max = 50'000;  // of the safety phase
  bool trace = false;
};

struct SeedResult {
  std::uint64_t seed = 0;
  std::uint64_t steps = 0;
  std::uint64_t safety_steps = 0;
  std::uint64_t records = 0;
  std::uint64_t crashes = 0;
  std::uint64_t trace_hash = 0;
  std::optional<Violation> violation;
};

SeedResult run_seed(std::uint64_t seed, const SeedOptions& options);

}  // namespace perdure::sim
