// Prints the OpenAPI document of every route that the daemon has; tools/check_openapi.mjs gives it
// to a linter. Nothing is served: the handlers are only put into the table.
#include <cstdio>

#include "api/bench_for_test.h"
#include "api/openapi.h"
#include "api/care_routes.h"
#include "api/metrics_routes.h"
#include "api/workspace_routes.h"

int main() {
  perdure::ApiBench bench;
  add_care_routes(bench.router, *bench.world);
  add_metrics_route(bench.router, *bench.world);
  add_workspace_routes(bench.router, *bench.world);
  add_openapi_route(bench.router, "0.0.0");
  const std::string document = openapi_json(bench.router, "0.0.0");
  std::fwrite(document.data(), 1, document.size(), stdout);
  return 0;
}
