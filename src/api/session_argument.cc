#include "api/session_argument.h"

#include "base/check.h"

namespace perdure {

MaySee may_see(const Principal& principal) {
  return [principal](SessionId session) { return principal.may_see(session); };
}

Result<SessionId> resolve_session(ApiWorld& world, const Principal& principal,
                                  std::string_view text) {
  return world.runtime.sessions().resolve(text, may_see(principal));
}

Result<SessionId> session_argument(ApiWorld& world, const Call& call) {
  CHECK(!call.arguments.empty(), "the route has no {id}");
  return resolve_session(world, call.principal, call.arguments.front());
}

}  // namespace perdure
