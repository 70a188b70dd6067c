// Routes for operating the daemon and its store while it serves: backup, verify, gc, restart.
#pragma once

#include "daemon/api/gate/route.h"
#include "daemon/api/world.h"

namespace perdure {

// POST /api/backup {"path"}: answers after the copy is complete.
void add_care_routes(Router& router, ApiWorld& world);

}  // namespace perdure
