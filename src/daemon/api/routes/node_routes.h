// The routes for a daemon's own data: logins, tokens, tasks, permission rules. A secret appears in
// one answer and nowhere else.
#pragma once

#include "daemon/api/gate/gate.h"
#include "daemon/api/gate/route.h"
#include "daemon/api/world.h"

namespace perdure {

// POST /api/login, /api/ticket, /api/launch. Here and below, world and gate must outlive the
// router.
void add_login_routes(Router& router, ApiWorld& world, Gate& gate);
// GET, POST /api/tokens; DELETE /api/tokens/{id}, which also removes browsers.
void add_token_routes(Router& router, ApiWorld& world, Gate& gate);
// GET, POST /api/tasks; GET, PATCH, DELETE /api/tasks/{id}.
void add_task_routes(Router& router, ApiWorld& world);
// GET, POST /api/rules; DELETE /api/rules/{id}.
void add_rule_routes(Router& router, ApiWorld& world);

// The call's principal and key in the form that the node takes.
NodeRequest node_request(const Call& call);
// Answers 409 secret_already_shown with the id of what was created under the call's key, or passes
// any other error on.
void fail_unless_shown(const Call& call, Node& node, const std::string& key, const Error& error);
// A new id with this prefix: tok_, br_, rule_.
std::string new_row_id(ApiWorld& world, std::string_view prefix);

}  // namespace perdure
