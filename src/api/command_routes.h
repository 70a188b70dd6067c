// The routes that change sessions. Each only takes its call apart: what it means stands in
// SessionCommands, which /ws uses too.
#pragma once

#include "api/commands.h"
#include "api/route.h"

namespace perdure {

// How a call asks: its principal, its key, the hash of its body.
Asker asker_of(const Call& call);
// Answers the call with what comes.
OnAnswer answer_to(Call call);

// POST /api/sessions, PATCH, the verbs, fork, resume, repair, the queue. The commands outlive the
// router.
void add_session_command_routes(Router& router, SessionCommands& commands);
// /api/permissions/{id}, /api/waits/{id} and its secret.
void add_wait_routes(Router& router, SessionCommands& commands);
// GET /api/agents.
void add_agent_routes(Router& router, ApiWorld& world);

}  // namespace perdure
