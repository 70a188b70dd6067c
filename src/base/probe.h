// SIM_PROBE("name") marks an interesting place. The simulator counts the marks and fails if a run
// of many seeds leaves one unvisited; elsewhere a mark costs one load and a branch.
#pragma once

namespace perdure {

// Set by the simulator only; null otherwise. `name` is a string literal.
inline void (*probe_hook)(const char* name) = nullptr;

}  // namespace perdure

#define SIM_PROBE(name)                                     \
  do {                                                      \
    if (::perdure::probe_hook) ::perdure::probe_hook(name); \
  } while (false)
