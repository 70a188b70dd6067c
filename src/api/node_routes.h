// The routes over what a daemon knows beside its sessions: logins, tokens, tasks, permission rules.
// A secret stands in one answer and nowhere else.
#pragma once

#include "api/gate.h"
#include "api/route.h"
#include "api/world.h"

namespace perdure {

// POST /api/login, /api/ticket, /api/launch. World and gate outlive the router, here and below.
void add_login_routes(Router& router, ApiWorld& world, Gate& gate);
// GET, POST /api/tokens; DELETE /api/tokens/{id}, of a browser too.
void add_token_routes(Router& router, ApiWorld& world, Gate& gate);
// GET, POST /api/tasks; GET, PATCH, DELETE /api/tasks/{id}.
void add_task_routes(Router& router, ApiWorld& world);
// GET, POST /api/rules; DELETE /api/rules/{id}.
void add_rule_routes(Router& router, ApiWorld& world);

// Who asks, as the node takes it.
NodeRequest node_request(const Call& call);
// Answers 409 secret_already_shown with the id of what was made under the call's key, or any other
// error as it is.
void fail_unless_shown(const Call& call, Node& node, const std::string& key, const Error& error);
// A new id with this prefix: tok_, br_, rule_.
std::string new_row_id(ApiWorld& world, std::string_view prefix);

}  // namespace perdure
