#include "sim/judges/cancel_watch.h"

#include <string>

#include "core/wire/agentctl/bootstrap.h"
#include "sim/world/universe.h"

namespace perdure::sim {
namespace {

// From docs/protocol/agentctl.md: time to end the turn, then SIGTERM, then SIGKILL.
constexpr std::int64_t cancel_ms_max = AgentTimes{}.cancel_grace_ms + AgentTimes{}.term_grace_ms;
constexpr std::int64_t slack_ms = 2'000;  // links and commits; a reconcile after a restart

}  // namespace

void CancelWatch::look(SessionId session, const std::optional<RunId>& cancelling, const Now& now) {
  const auto at = open_.find(session);
  if (at != open_.end()) {
    if (now.lives != at->second.since.lives) {
      at->second.since = now;
    } else {
      check(session, at->second, now);
    }
    if (cancelling == at->second.run) return;
    open_.erase(at);
  }
  if (cancelling) open_[session] = {*cancelling, now};
}

void CancelWatch::check(SessionId session, const Cancelled& cancelled, const Now& now) {
  verdict_.expect(now.ms - cancelled.since.ms <= cancel_ms_max + slack_ms, "RUN5", [&] {
    return tail(session) + ": " + tail(cancelled.run) + " was cancelled and has no end after " +
           std::to_string(now.ms - cancelled.since.ms) + " ms";
  });
}

}  // namespace perdure::sim
