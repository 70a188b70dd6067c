// Lists what keeps running after a session was stopped or deleted: the sessions that processes
// inside it created, at any depth, and whose agents may run.
#pragma once

#include <string>

#include "base/json/json.h"
#include "core/auth/principal.h"
#include "daemon/api/world.h"

namespace perdure {

// The member `live_children`: [{session_id, title}, …], limited to those that the caller may see.
void write_live_children(JsonWriter& out, ApiWorld& world, SessionId session,
                         const Principal& caller);
// If there are any, fails with conflict and the command that stops them.
Result<> check_no_live_children(ApiWorld& world, SessionId session);
// Stops those that are alive now and ignores the results.
void stop_live_children(ApiWorld& world, SessionId session, const std::string& by);

}  // namespace perdure
