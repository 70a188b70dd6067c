// Which session a path means: {id} may be a whole id, a name, or any unique beginning or end.
#pragma once

#include "api/route.h"
#include "api/world.h"

namespace perdure {

// The session of the path's first argument, for this principal: one that it may not see is
// not_found (N17), an ambiguous text conflict, with the candidates.
Result<SessionId> session_of(ApiWorld& world, const Call& call);

}  // namespace perdure
