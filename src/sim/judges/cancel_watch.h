// RUN5: a run whose cancel was accepted ends within its published time. Checked after every step
// once the world is healed; a daemon's new life restarts the time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/id.h"
#include "sim/judges/verdict.h"

namespace perdure::sim {

class CancelWatch {
 public:
  explicit CancelWatch(Verdict& verdict) : verdict_(verdict) {}

  struct Now {
    std::int64_t ms = 0;
    std::uint64_t lives = 0;  // of daemons, so far
  };
  // Takes the session's open run whose cancel was accepted, or none.
  void look(SessionId session, const std::optional<RunId>& cancelling, const Now& now);

 private:
  struct Cancelled {
    RunId run;
    Now since;
  };
  void check(SessionId session, const Cancelled& cancelled, const Now& now);

  Verdict& verdict_;
  std::map<SessionId, Cancelled> open_;
};

}  // namespace perdure::sim
