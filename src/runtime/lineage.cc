#include "runtime/lineage.h"

#include <algorithm>
#include <limits>
#include <set>

#include "runtime/forks_of.h"

namespace perdure {
namespace {

SessionId parent_of(SessionList& sessions, SessionId session) {
  const Result<const SessionRow*> row = sessions.find(session);
  return row && *row ? (*row)->summary.parent : SessionId();
}

// Everything above the session, nearest first. An imported journal may name any parent, so that a
// circle ends where it closes.
std::vector<SessionId> ancestors_of(SessionList& sessions, SessionId session) {
  std::vector<SessionId> above;
  std::set<SessionId> seen{session};
  for (SessionId at = parent_of(sessions, session); at && seen.insert(at).second;
       at = parent_of(sessions, at)) {
    above.push_back(at);
  }
  return above;
}

}  // namespace

SessionId top_of_lineage(Runtime& runtime, SessionId session) {
  // The list does not know a session yet whose first commit starts its agent.
  const State* const state = runtime.state_in_memory(session);
  const SessionId parent = state ? state->parent : parent_of(runtime.sessions(), session);
  if (!parent) return {};
  const std::vector<SessionId> above = ancestors_of(runtime.sessions(), parent);
  return above.empty() ? parent : above.back();
}

bool stems_from(Runtime& runtime, SessionId session, SessionId origin) {
  constexpr std::size_t looked_at_max = 64;
  std::vector<SessionId> open{session};
  for (std::size_t i = 0; i < open.size() && i < looked_at_max; ++i) {
    if (open[i] == origin) return true;
    const State* const state = runtime.state_in_memory(open[i]);
    const SessionId maker = state ? state->parent : parent_of(runtime.sessions(), open[i]);
    for (const SessionId from :
         {maker, copied_from(runtime.store(), open[i]).value_or(SessionId())}) {
      if (from && std::ranges::find(open, from) == open.end()) open.push_back(from);
    }
  }
  return false;
}

Result<std::vector<const SessionRow*>> live_descendants(SessionList& sessions, SessionId session) {
  std::vector<SessionId> found;
  const auto live = TRY(sessions.executors({}, std::numeric_limits<std::size_t>::max(), {}));
  for (const SessionRow* const row : live) {
    const ExecutorStatus status = row->summary.executor->status;
    if (status != ExecutorStatus::starting && status != ExecutorStatus::ready) continue;
    const std::vector<SessionId> above = ancestors_of(sessions, row->session);
    if (std::ranges::find(above, session) != above.end()) found.push_back(row->session);
  }
  std::vector<const SessionRow*> rows;
  for (const SessionId each : found) {
    if (const SessionRow* const row = TRY(sessions.find(each))) rows.push_back(row);
  }
  return rows;
}

}  // namespace perdure
