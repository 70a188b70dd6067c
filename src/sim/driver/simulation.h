// One seed, from an empty disk to the last check: a safety phase with the seed's faults, then a
// healed world that must come to rest, serve again, and read the same data after another restart.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/judges/verdict.h"

namespace perdure::sim {

// real: the actual supervisor and executors on simulated processes, links and folders. scripted:
// simulated at the border of daemon/runtime/ports.h, where they can do what no supervisor would.
// by_seed: every fourth seed uses scripted ones.
enum class AgentctlKind { by_seed, real, scripted };

// The engine under the daemon. sqlite: over the fault VFS, always one daemon.
enum class StoreKind { memory, sqlite };

struct SeedOptions {
  StoreKind store = StoreKind::memory;
  AgentctlKind agentctls = AgentctlKind::by_seed;
  std::uint64_t daemons = 0;         // on one disk; 0: by seed, one or several
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
