// Routes by which an operator cares for the daemon and its store while it serves: backup, verify,
// gc, restart.
#pragma once

#include "api/route.h"
#include "api/world.h"

namespace perdure {

// POST /api/backup {"path"}: answers when the copy is whole.
void add_care_routes(Router& router, ApiWorld& world);

}  // namespace perdure
