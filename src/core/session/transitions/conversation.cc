// The agent's output: recorded as received, with its run, or marked as late.
#include "base/probe.h"
#include "core/session/transitions/draft.h"

namespace perdure {

Origin frame_origin(const Draft& draft, const Frame& frame) {
  Origin origin{.exec = frame.exec, .gen = frame.gen, .frame = frame.number};
  if (!frame.run) return origin;
  if (draft.state.run && draft.state.run->id == frame.run) {
    origin.run = frame.run;
  } else {
    SIM_PROBE("late frame journalled with after_run");
    origin.after_run = frame.run;  // RUN2: no event carries a run's id after its end
  }
  return origin;
}

}  // namespace perdure
