// What goes on after a session was stopped or deleted: the sessions that processes inside it made,
// at any depth, and whose agents may run. Whoever ends the maker learns of them.
#pragma once

#include <string>

#include "api/world.h"
#include "auth/principal.h"
#include "base/json.h"

namespace perdure {

// The member `live_children`: [{session_id, title}, …], of those that the caller may see.
void write_live_children(JsonWriter& out, ApiWorld& world, SessionId session,
                         const Principal& caller);
// conflict, with the command that stops them.
Result<> check_no_live_children(ApiWorld& world, SessionId session);
// Those that live now; the answers go to nobody.
void stop_live_children(ApiWorld& world, SessionId session, const std::string& by);

}  // namespace perdure
