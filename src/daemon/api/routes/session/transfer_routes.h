// GET …/export and POST /api/import: a session as one portable file, and back.
#pragma once

#include "daemon/api/gate/route.h"
#include "daemon/api/streams/streams.h"

namespace perdure {

// A download counts as a stream: it ends when its principal loses the right to read.
void add_transfer_routes(Router& router, Streams& streams);

}  // namespace perdure
