#include "auth/principal.h"

#include <algorithm>

namespace perdure {

bool Principal::may_see(SessionId session) const {
  return sessions.empty() || std::ranges::find(sessions, session) != sessions.end();
}

}  // namespace perdure
