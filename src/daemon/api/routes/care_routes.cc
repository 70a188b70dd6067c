#include "daemon/api/routes/care_routes.h"

#include <memory>
#include <utility>

#include "daemon/api/gate/audited.h"
#include "daemon/api/json/session_json.h"

namespace perdure {
namespace {

void back_up(ApiWorld& world, Call call) {
  const auto path = [&] -> Result<std::string> {
    const JsonObject body = TRY(call.body());
    for (const auto& [name, raw] : body.members()) {
      if (name != "path") return fail(Code::invalid_argument, "unknown member '" + name + "'");
    }
    if (body.find("path").empty()) return fail(Code::invalid_argument, "path is missing");
    std::string text = TRY(json_string(body.find("path")));
    if (!text.starts_with('/')) return fail(Code::invalid_argument, "path must be absolute");
    return text;
  }();
  if (!path) return call.fail(path.error());
  if (!world.backup) return call.fail(Error(Code::unavailable, "this daemon makes no backups"));
  AuditEntry entry = audit_entry(world, call, "store.backup");
  entry.text = *path;
  audited(world, std::move(call), std::move(entry), [&world, path = *path](Call noted) {
    world.backup(path, [call = std::make_shared<Call>(std::move(noted)), path](Result<> done) {
      if (!done) return call->fail(done.error());
      JsonWriter json;
      json.begin_object().key("path").string(path).end_object();
      call->answer(std::move(json).take());
    });
  });
}

void tell_daemon(ApiWorld& world, const Call& call) {
  JsonWriter json;
  json.begin_object().key("version").string(world.version);
  json.key("boot_id").string(world.boot.text());
  json.key("node");
  write_text_or_null(json, world.node_name);
  json.end_object();
  call.answer(std::move(json).take());
}

// D6: a process inside a session may restart too, since agents keep running and clients reconnect.
// Only an admin may start the program that is at the path now: a process inside a session may have
// put it there, and it would run outside of every session.
void restart(ApiWorld& world, const Call& call) {
  const Principal& by = call.principal;
  const bool is_admin = by.may_mint();
  if (!by.sessions.empty() || (!by.hosted && !is_admin)) {
    return call.fail(
        Error(Code::denied, "A restart needs the scope admin, not bound to some sessions."));
  }
  if (!world.restart) return call.fail(Error(Code::unavailable, "this daemon cannot restart"));
  const auto with =
      is_admin ? ApiWorld::RestartWith::present_program : ApiWorld::RestartWith::running_program;
  audited(world, call, audit_entry(world, call, "daemon.restart"),
          [&world, with](const Call& noted) {
            if (const Result<> begun = world.restart(with); !begun)
              return noted.fail(begun.error());
            JsonWriter json;
            json.begin_object().key("restarting").boolean(true);
            json.key("boot_id").string(world.boot.text()).end_object();
            noted.answer(202, std::move(json).take());
          });
}

void tell_verified(const ApiWorld::Verified& verified, const Call& call, int status) {
  JsonWriter json;
  json.begin_object().key("done").boolean(verified.is_done);
  json.key("sessions").number_unsigned(verified.sessions);
  json.key("sessions_done").number_unsigned(verified.sessions_done);
  json.key("records").number_unsigned(verified.records);
  json.key("damaged").begin_array();
  for (const ApiWorld::Verified::Damaged& damaged : verified.damaged) {
    json.begin_object().key("session").string(damaged.session);
    json.key("good_records").number_unsigned(damaged.good);
    json.key("message").string(damaged.what).end_object();
  }
  json.end_array().key("error").string(verified.error).end_object();
  call.answer(status, std::move(json).take());
}

void verify(ApiWorld& world, const Call& call) {
  if (!world.start_verify) return call.fail(Error(Code::unavailable, "not in this daemon"));
  if (const Result<> begun = world.start_verify(); !begun) return call.fail(begun.error());
  tell_verified(world.verified(), call, 202);
}

void collect_now(ApiWorld& world, const Call& call, ApiWorld::Collect how) {
  const Result<ApiWorld::Collected> found = world.collect(how);
  if (!found) return call.fail(found.error());
  JsonWriter json;
  json.begin_object().key("dry_run").boolean(how == ApiWorld::Collect::look);
  json.key("bytes").number_unsigned(found->bytes).key("removed").begin_array();
  for (const std::string& line : found->removed) json.string(line);
  json.end_array().end_object();
  call.answer(std::move(json).take());
}

void collect(ApiWorld& world, const Call& call) {
  if (!world.collect) return call.fail(Error(Code::unavailable, "not in this daemon"));
  const Result<JsonObject> body = call.body();
  if (!body) return call.fail(body.error());
  const std::string_view dry = body->find("dry_run");
  if ((dry != "true" && dry != "false") || body->members().size() != 1) {
    return call.fail(Error(Code::invalid_argument, "say {\"dry_run\": true}, or false"));
  }
  if (dry == "true") return collect_now(world, call, ApiWorld::Collect::look);
  audited(world, call, audit_entry(world, call, "store.gc"),
          [&world](const Call& noted) { collect_now(world, noted, ApiWorld::Collect::take); });
}
}  // namespace

void add_care_routes(Router& router, ApiWorld& world) {
  router.add({.method = "POST",
              .pattern = "/api/backup",
              .access = Access::admin,
              .summary = "Copies the journal into a new file of the daemon's machine",
              .handler = [&world](Call call) { back_up(world, std::move(call)); }});
  const auto add = [&](std::string method, std::string pattern, Access access, std::string summary,
                       void (*handler)(ApiWorld&, const Call&)) {
    router.add({.method = std::move(method),
                .pattern = std::move(pattern),
                .access = access,
                .summary = std::move(summary),
                .handler = [&world, handler](const Call& call) { handler(world, call); }});
  };
  add("GET", "/api/daemon", Access::observe, "Version and life of the daemon", tell_daemon);
  add("POST", "/api/restart", Access::operate, "Starts the daemon again; agents go on", restart);
  add("POST", "/api/verify", Access::admin, "Reads the whole journal while it is served", verify);
  add("GET", "/api/verify", Access::admin, "How far the verification is",
      [](ApiWorld& it, const Call& call) {
        if (!it.verified) return call.fail(Error(Code::unavailable, "not in this daemon"));
        tell_verified(it.verified(), call, 200);
      });
  add("POST", "/api/gc", Access::admin, "Takes away what belongs to no session", collect);
}

}  // namespace perdure
