// Files, git and shells of a session over HTTP: each route is one workspace call
// (docs/protocol/workspace.md). Reads take their parameters from the query, writes from the body.
#pragma once

#include "daemon/api/gate/route.h"
#include "daemon/api/streams/streams.h"

namespace perdure {

void add_workspace_routes(Router& router, Streams& streams);

// Converts a query to the parameters of a call: numbers and booleans where the call expects them,
// `paths` as a list. invalid_argument for a value of the wrong type.
Result<std::string> workspace_params(const HttpRequest& request);

}  // namespace perdure
