// What people look at of a session's past, kept so that the next look costs what is new: its
// timeline, and states at some of its records. Bounded; what nobody looked at longest goes first.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "runtime/timeline.h"

namespace perdure {

// States of one session by record, each `stride` records one, `past_states_max` of them.
class StateMarks {
 public:
  struct At {
    Seq seq = 0;
    State state;
  };
  // The last one at or before the record; an empty state at 0 when there is none.
  At before(Seq seq) const;
  // Keeps it if this is a place for one.
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
  // The timeline up to this record at least. From the loop, never from inside the call.
  void timeline(SessionId session, Seq upto, OnTimeline done);

  using OnState = std::move_only_function<void(Result<State>)>;
  // The state behind this record.
  void state(SessionId session, Seq seq, OnState done);

  // Its records have changed, or are gone.
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
