// The pure heart of a session: no clock, no I/O, no randomness. decide() says what happens because
// of an input; evolve() folds one event. Recovery is evolve() over the journal and nothing else, so
// evolve() never refuses: what was journalled is true.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/effects.h"
#include "session/inputs.h"
#include "session/state.h"

namespace perdure {

// The answer to a client's command; only the fields that apply are set.
struct Reply {
  std::uint64_t seq = 0;  // the record that holds what was accepted
  SessionId session;      // of a creation: which session it was, whoever asks again
  RunId run;
  MessageId message;
  std::optional<std::uint64_t> queue_position;  // 1 is next
  std::string placed;                           // started, queued, queued_front, steered
  bool already_running = false;
  bool nothing_to_do = false;                // the wish was true already
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
  std::vector<std::uint64_t> effect_numbers;  // one each; they grow over the life of the session
  Reply reply;
  bool essential = false;     // ends and cancels: may be written when the disk is full
  std::uint64_t dropped = 0;  // fenced frames of an earlier life
};

// What follows from the input. An error changes nothing. Frames and runtime inputs never fail.
Result<Decision> decide(const State& state, const Input& input);

// The state behind one more event. Total: what could only come from a bug is CHECKed by decide().
State evolve(State state, const Event& event);

}  // namespace perdure
