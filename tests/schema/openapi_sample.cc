// Prints the OpenAPI document of every route of the daemon; tools/check_openapi.mjs passes it to a
// linter. Serves nothing: the handlers are only put into the table.
#include <cstdio>

#include "daemon/api/api.h"
#include "daemon/api/bench_for_test.h"
#include "daemon/api/json/openapi.h"
#include "daemon/api/routes/care_routes.h"
#include "daemon/api/routes/metrics_routes.h"
#include "daemon/api/routes/node_routes.h"
#include "daemon/api/routes/read_routes.h"
#include "daemon/api/routes/session/workspace_routes.h"

int main() {
  using namespace perdure;
  ApiBench bench;
  Api api({bench.node, bench.loop, bench.loop}, bench.loop, {}, {});
  ReadRoutes reads(*bench.world, bench.slots, [](const Principal&) { return true; });
  Router& router = api.router();
  add_session_command_routes(router, *bench.commands);
  add_wait_routes(router, *bench.commands);
  add_agent_routes(router, *bench.world);
  add_ws_route(router, *bench.sockets);
  reads.add_to(router);
  add_login_routes(router, *bench.world, api.gate());
  add_token_routes(router, *bench.world, api.gate());
  add_task_routes(router, *bench.world);
  add_rule_routes(router, *bench.world);
  add_care_routes(router, *bench.world);
  add_metrics_route(router, *bench.world);
  add_workspace_routes(router, *bench.streams);
  add_openapi_route(router, "0.0.0");
  const std::string document = openapi_json(router, "0.0.0");
  std::fwrite(document.data(), 1, document.size(), stdout);
  return 0;
}
