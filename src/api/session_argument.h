// Which session a request means. What the caller may not see does not exist for it (N17, TOK6).
#pragma once

#include <string_view>

#include "api/route.h"
#include "api/world.h"
#include "runtime/session_list.h"

namespace perdure {

MaySee may_see(const Principal& principal);

// A whole id, a title, or the unique beginning or end of an id. not_found, or conflict with the
// candidates.
Result<SessionId> resolve_session(ApiWorld& world, const Principal& principal,
                                  std::string_view text);
// The first argument of the route.
Result<SessionId> session_argument(ApiWorld& world, const Call& call);

}  // namespace perdure
