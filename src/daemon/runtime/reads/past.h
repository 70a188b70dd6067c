// What people view of a session's past, cached so that the next view costs only what is new: its
// timeline, and states at some of its records. Bounded; the least recently used is evicted first.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "daemon/runtime/reads/timeline.h"

namespace perdure {

// States of one session by record, one per `stride` records, at most `past_states_max`.
class StateMarks {
 public:
  struct At {
    Seq seq = 0;
    State state;
  };
  // The last one at or before the record; an empty state at 0 if there is none.
  At before(Seq seq) const;
  // Stores the state if this record should have one.
  void offer(Seq seq, const State& state);
  std::size_t size() const { return marks_.size(); }

 private:
  Seq stride_ = 2048;
  std::map<Seq, State> marks_;
};

class KeptPast {
 public:
  // The runtime outlives it; it outlives the runtime's loop callbacks.
  explicit KeptPast(Runtime& runtime) : runtime_(runtime) {}

  using OnTimeline = std::move_only_function<void(Result<std::shared_ptr<const Timeline>>)>;
  // The timeline up to at least this record. `done` is called later, from the loop.
  void timeline(SessionId session, Seq upto, OnTimeline done);

  using OnState = std::move_only_function<void(Result<State>)>;
  // The state after this record.
  void state(SessionId session, Seq seq, OnState done);

  // Its records have changed or were deleted.
  void forget(SessionId session) { sessions_.erase(session); }

 private:
  struct Kept {
    std::shared_ptr<Timeline> timeline = std::make_shared<Timeline>();
    std::shared_ptr<StateMarks> states = std::make_shared<StateMarks>();
    std::uint64_t used = 0;
  };
  Kept& kept(SessionId session);

  Runtime& runtime_;
  std::map<SessionId, Kept> sessions_;
  std::uint64_t uses_ = 0;
};

}  // namespace perdure
