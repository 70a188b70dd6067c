// This daemon's side of the traffic between daemons of one store: it serves the calls that others
// forward, and forwards calls about sessions that others own. A request is forwarded once: the
// daemon that receives it serves it, or answers that it does not own the session.
#pragma once

#include "daemon/api/gate/route.h"
#include "daemon/api/world.h"

namespace perdure {

// POST /api/peer/submit, POST /api/peer/call: for daemons with the store's key, never for a
// browser. GET /api/nodes. World and router must both live while requests are served.
void add_peer_routes(Router& router, ApiWorld& world);

// For Router::set_elsewhere: sends the call to the session's owner, and looks the owner up once
// more if that daemon denies it. A socket cannot be forwarded; its client gets the owner's address.
bool send_to_owner(ApiWorld& world, Route& route, Call& call);

}  // namespace perdure
