#include "sim/driver/probes.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/probe.h"

namespace perdure::sim {
namespace {

constexpr std::string_view probes[] = {
#include "sim_probes.inc"
    "",  // so that the list is never empty
};

// Keyed by the literal's address, which is cheap; equal texts may have several addresses.
std::unordered_map<const char*, std::uint64_t>& counts() {
  static std::unordered_map<const char*, std::uint64_t> by_literal;
  return by_literal;
}

std::function<void(std::string_view)>& listener() {
  static std::function<void(std::string_view)> reached;
  return reached;
}

void count(const char* name) {
  counts()[name] += 1;
  if (listener()) listener()(name);
}

}  // namespace

std::span<const std::string_view> known_probes() {
  return std::span<const std::string_view>(probes).first(std::size(probes) - 1);
}

void on_probe(std::function<void(std::string_view)> reached) {
  listener() = std::move(reached);
  probe_hook = count;
}

std::vector<std::uint64_t> probe_counts() {
  std::vector<std::uint64_t> out(known_probes().size());
  for (const auto& [literal, hits] : counts()) {
    const auto at = std::ranges::find(known_probes(), std::string_view(literal));
    if (at != known_probes().end())
      out[static_cast<std::size_t>(at - known_probes().begin())] += hits;
  }
  return out;
}

}  // namespace perdure::sim
