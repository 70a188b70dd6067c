// How often what happened, since this daemon began: one counter for each kind of event, and for
// the kinds that have outcomes one for each of them (U13, O33). Only what is durable is counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "session/events.h"

namespace perdure {

class EventCounts {
 public:
  // The kind, and the outcome: why a run was interrupted, by which rung a context came …; empty for
  // kinds without.
  using Key = std::pair<std::string_view, std::string>;

  void add(const Event& event) { counts_[key_of(event)] += 1; }
  void add(const EventCounts& others);
  const std::map<Key, std::uint64_t>& all() const { return counts_; }

 private:
  static Key key_of(const Event& event);
  std::map<Key, std::uint64_t> counts_;
};

}  // namespace perdure
