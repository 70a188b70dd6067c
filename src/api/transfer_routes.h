// GET …/export and POST /api/import: a session as one portable file, and back.
#pragma once

#include "api/route.h"
#include "api/world.h"

namespace perdure {

void add_transfer_routes(Router& router, ApiWorld& world);

}  // namespace perdure
