// GET /openapi.json: the route table as OpenAPI 3.1. Paths, methods and access come from the table
// itself and bodies from the structs that read them, so that the document cannot say anything else.
#pragma once

#include <string>

#include "api/route.h"

namespace perdure {

std::string openapi_json(const Router& router, const std::string& version);

// The document of everything that the router has when it is asked for. The router outlives the
// route.
void add_openapi_route(Router& router, std::string version);

}  // namespace perdure
