#include "core/auth/principal.h"

#include <algorithm>

namespace perdure {

bool Principal::may_see(SessionId session) const {
  const bool is_reached =
      !hosted || hosted == session || (reach && reach->reaches(hosted, session));
  if (!is_reached) return false;
  return sessions.empty() || std::ranges::find(sessions, session) != sessions.end();
}

}  // namespace perdure
