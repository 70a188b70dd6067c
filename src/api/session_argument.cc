#include "api/session_argument.h"

namespace perdure {

MaySee may_see(const Principal& principal) {
  return [principal](SessionId session) { return principal.may_see(session); };
}

Result<SessionId> session_of(ApiWorld& world, const Call& call) {
  return world.sessions.resolve(call.arguments.at(0), may_see(call.principal));
}

}  // namespace perdure
