#include "api/care_routes.h"

#include <memory>
#include <utility>

namespace perdure {
namespace {

void back_up(ApiWorld& world, Call call) {
  const auto path = [&] -> Result<std::string> {
    const JsonObject body = TRY(call.body());
    for (const auto& [name, raw] : body.members()) {
      if (name != "path") return fail(Code::invalid_argument, "there is no member '" + name + "'");
    }
    if (body.find("path").empty()) return fail(Code::invalid_argument, "path is missing");
    std::string text = TRY(json_string(body.find("path")));
    if (!text.starts_with('/')) return fail(Code::invalid_argument, "path must be absolute");
    return text;
  }();
  if (!path) return call.fail(path.error());
  if (!world.backup) return call.fail(Error(Code::unavailable, "this daemon makes no backups"));
  world.backup(*path,
               [call = std::make_shared<Call>(std::move(call)), path = *path](Result<> done) {
                 if (!done) return call->fail(done.error());
                 JsonWriter json;
                 json.begin_object().key("path").string(path).end_object();
                 call->answer(std::move(json).take());
               });
}

}  // namespace

void add_care_routes(Router& router, ApiWorld& world) {
  router.add({.method = "POST",
              .pattern = "/api/backup",
              .access = Access::admin,
              .summary = "Copies the journal into a new file of the daemon's machine",
              .handler = [&world](Call call) { back_up(world, std::move(call)); }});
}

}  // namespace perdure
