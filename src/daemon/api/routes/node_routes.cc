#include "daemon/api/routes/node_routes.h"

#include <utility>

#include "base/json/json.h"

namespace perdure {

NodeRequest node_request(const Call& call) {
  return {.by = call.principal.id, .key = call.key(), .body_hash = call.body_hash()};
}

void fail_unless_shown(const Call& call, Node& node, const std::string& key, const Error& error) {
  const Result<std::string> id = error.code() == Code::secret_already_shown
                                     ? node.shown_id(key)
                                     : Result<std::string>(std::unexpected(error));
  if (!id) return call.fail(error);
  HttpResponse response = error_response(error);
  JsonWriter with_id;
  with_id.begin_object().key("id").string(*id).end_object();
  // {"error":{…}} and {"id":…} become one object.
  response.body.pop_back();
  response.body += "," + with_id.text().substr(1);
  call.exchange->respond(std::move(response));
}

std::string new_row_id(ApiWorld& world, std::string_view prefix) {
  const Ulid ulid = Ulid::make(world.clock.now().wall, world.random.next(), world.random.next());
  return std::string(prefix) + ulid.text();
}

}  // namespace perdure
