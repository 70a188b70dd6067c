#include "api/session_argument.h"

namespace perdure {

Result<SessionId> session_of(ApiWorld& world, const Call& call) {
  const Principal& principal = call.principal;
  return world.sessions.resolve(call.arguments.at(0),
                                [&](SessionId session) { return principal.may_see(session); });
}

}  // namespace perdure
