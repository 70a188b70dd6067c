// GET /openapi.json: the route table as OpenAPI 3.1. Paths, methods and access come from the table,
// and bodies from the structs that decode them, so the document cannot contradict the code.
#pragma once

#include <string>

#include "daemon/api/gate/route.h"

namespace perdure {

std::string openapi_json(const Router& router, const std::string& version);

// Describes every route that the router has at the time of the request. The router must outlive the
// route.
void add_openapi_route(Router& router, std::string version);

}  // namespace perdure
