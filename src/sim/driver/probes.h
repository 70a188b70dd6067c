// Counts the SIM_PROBE marks that runs pass, for the list that the build finds in the sources.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace perdure::sim {

// Every name in the folders that the build scans, sorted.
std::span<const std::string_view> known_probes();

// Starts counting and calls `reached` at every mark. An empty function only ends the calls.
void on_probe(std::function<void(std::string_view name)> reached);

// How often each of known_probes() was passed since the start of the process.
std::vector<std::uint64_t> probe_counts();

}  // namespace perdure::sim
