#include "daemon/runtime/counts.h"

namespace perdure {
namespace {

// Outcomes are our own words, never an agent's text, so their number is bounded.
struct OutcomeOf {
  std::string operator()(const RunInterrupted& event) const {
    return std::string(enum_text(event.reason));
  }
  std::string operator()(const ContextBoundary& event) const {
    return std::string(enum_text(event.how));
  }
  std::string operator()(const ResumeFailed& event) const {
    return std::string(enum_text(event.failure));
  }
  std::string operator()(const PermissionResolved& event) const {
    return std::string(enum_text(event.outcome));
  }
  std::string operator()(const auto&) const { return {}; }
};

}  // namespace

EventCounts::Key EventCounts::key_of(const Event& event) {
  return {event_kind(event), visit(OutcomeOf{}, event.body)};
}

void EventCounts::add(const EventCounts& others) {
  for (const auto& [key, count] : others.counts_) counts_[key] += count;
}

}  // namespace perdure
