// The pure core of a session: no clock, no I/O, no randomness. decide() determines what follows
// from an input; evolve() folds one event. Recovery only runs evolve() over the journal, so
// evolve() never rejects an event: the journal's content is true.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/session/effects.h"
#include "core/session/inputs.h"
#include "core/session/state.h"

namespace perdure {

// The answer to a client's command; only the fields that apply are set.
struct Reply {
  std::uint64_t seq = 0;  // the record of what was accepted
  SessionId session;      // of a creation: its session, also for a repeated request
  RunId run;
  MessageId message;
  std::optional<std::uint64_t> queue_position;  // 1 is next
  std::string placed;                           // started, queued, queued_front, steered
  bool already_running = false;
  bool nothing_to_do = false;                // the requested state already holds
  bool resume_pending = false;               // a receipt follows: boundary or resume.failed
  std::optional<PermissionOutcome> outcome;  // the decision that stands
  std::string option_id;
  std::string option_name;
  std::string decided_by;
  bool operator==(const Reply&) const = default;
};

struct Decision {
  std::vector<Event> events;
  std::vector<Effect> effects;
  std::vector<std::uint64_t> effect_numbers;  // one per effect; never decreasing
  Reply reply;
  bool essential = false;     // ends and cancels: may be written to a full disk
  std::uint64_t dropped = 0;  // fenced frames of an earlier life
};

// Decides one input. An error changes nothing. Frames and runtime inputs never fail.
Result<Decision> decide(const State& state, const Input& input);

// The state after one more event. Total: decide() CHECKs for what only a bug could cause.
State evolve(State state, const Event& event);

}  // namespace perdure
