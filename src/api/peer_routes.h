// The way between daemons of one store, at this end of it: what others hand over, and what is sent
// to them because the session is theirs. A request is sent on once: whoever gets it from another
// daemon serves it or says that the session is not its own.
#pragma once

#include "api/route.h"
#include "api/world.h"

namespace perdure {

// POST /api/peer/submit, POST /api/peer/call: for daemons with the store's key, never for a
// browser. GET /api/nodes. Router and world outlive each other's use.
void add_peer_routes(Router& router, ApiWorld& world);

// For Router::set_elsewhere: sends the call to the daemon whose session it is about, and looks once
// more when that one says it is not. A socket cannot be sent on: it is told where to go.
bool send_to_owner(ApiWorld& world, Route& route, Call& call);

}  // namespace perdure
