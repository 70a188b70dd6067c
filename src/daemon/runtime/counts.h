// Event counts since the daemon started: one counter per kind of event, and for kinds with outcomes
// one per outcome (U13, O33). Only durable events are counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/session/events.h"

namespace perdure {

class EventCounts {
 public:
  // The kind and the outcome: why a run was interrupted, which rung restored a context …; empty for
  // kinds without outcomes.
  using Key = std::pair<std::string_view, std::string>;

  void add(const Event& event) { counts_[key_of(event)] += 1; }
  void add(const EventCounts& others);
  const std::map<Key, std::uint64_t>& all() const { return counts_; }

 private:
  static Key key_of(const Event& event);
  std::map<Key, std::uint64_t> counts_;
};

}  // namespace perdure
