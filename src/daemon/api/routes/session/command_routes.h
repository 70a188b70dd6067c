// The routes that change sessions. They only parse the call; SessionCommands, which /ws also uses,
// implements the commands.
#pragma once

#include "daemon/api/gate/route.h"
#include "daemon/api/routes/session/commands.h"

namespace perdure {

// The call's principal, idempotency key and body hash.
Asker asker_of(const Call& call);
// Answers the call with the result.
OnAnswer answer_to(Call call);

// POST /api/sessions, PATCH, the verbs, fork, resume, repair, the queue. The commands must outlive
// the router.
void add_session_command_routes(Router& router, SessionCommands& commands);
// /api/permissions/{id}, /api/waits/{id} and its secret.
void add_wait_routes(Router& router, SessionCommands& commands);
// GET /api/agents.
void add_agent_routes(Router& router, ApiWorld& world);

}  // namespace perdure
