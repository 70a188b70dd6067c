// Runs many seeds, sums up, and prints one line for each that fails. Forks if more than one worker
// is requested.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/driver/simulation.h"

namespace perdure::sim {

struct SeedRange {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
};

struct Campaign {
  SeedRange seeds;
  SeedOptions options;
  unsigned jobs = 1;
  bool twice = false;  // runs each seed twice; the traces must be equal (J5)
  bool stop_at_first = false;
};

struct Summary {
  std::uint64_t seeds = 0;
  std::uint64_t steps = 0;
  std::uint64_t records = 0;
  std::uint64_t crashes = 0;
  std::uint64_t steps_median = 0;   // of the safety phase; per worker
  std::uint64_t combined_hash = 0;  // independent of the order of the seeds
  std::uint64_t safety_failures = 0;
  std::uint64_t liveness_failures = 0;
  std::uint64_t aborts = 0;
  std::vector<std::uint64_t> probe_counts;

  // 0 ok, 1 safety, 2 liveness, 3 crash.
  int exit_code() const;
};

// The line printed for a failed seed.
std::string failure_line(const SeedResult& result);

Summary run_campaign(const Campaign& campaign);

// Makes an abort (a failed CHECK) print the seed and exit with 3.
void print_seed_on_abort();

}  // namespace perdure::sim
