#include "api/session_argument.h"

#include "base/json.h"
#include "base/time.h"

namespace perdure {

MaySee may_see(const Principal& principal) {
  return [principal](SessionId session) { return principal.may_see(session); };
}

Result<SessionId> session_of(ApiWorld& world, const Call& call) {
  return world.sessions.resolve(call.arguments.at(0), may_see(call.principal));
}

Result<> check_may_own(const Principal& principal, SessionId session) {
  if (principal.may_own(session)) return {};
  return fail(Code::denied,
              "A process inside a session cannot change the files, shells or settings of another "
              "session.");
}

Result<> check_folder_owner(const ApiWorld& world, const WantedFolder& folder) {
  if (!world.folder_owner) return {};
  const SessionId owner = TRY(world.folder_owner(folder.cwd));
  if (!owner || owner == folder.session || owner == folder.maker) return {};
  return fail(Code::invalid_argument,
              "cwd: " + folder.cwd + " was made for the session " + owner.text() +
                  ". To work there too, fork that session: perdure fork SESSION --share-cwd");
}

Result<SessionId> own_session_of(ApiWorld& world, const Call& call) {
  const SessionId session = TRY(session_of(world, call));
  TRY_VOID(check_may_own(call.principal, session));
  return session;
}

Result<SessionId> shell_session_of(ApiWorld& world, const Call& call) {
  const SessionId session = TRY(own_session_of(world, call));
  const bool reaches_all = world.reach && world.reach->reaches_all();
  if (call.principal.sessions.empty() || !reaches_all) return session;
  return fail(Code::denied,
              "With agents_reach = \"all\" a shell reaches every session. A token bound to some "
              "sessions cannot use one.");
}

Result<> check_outside(const Principal& principal, std::string_view what) {
  if (!principal.hosted) return {};
  return fail(Code::denied, "A process inside a session cannot " + std::string(what) +
                                ". Do it in a terminal or on the page.");
}

std::string tombstone_members(ApiWorld& world, const Principal& principal, SessionId session) {
  const auto& tombstones = world.node.state().tombstones;
  const auto at = tombstones.find(session);
  if (at == tombstones.end() || !principal.may_see(session)) return "";
  JsonWriter out;
  out.begin_object().key("title").string(at->second.title);
  out.key("deleted").string(format_timestamp(at->second.deleted));
  out.key("by").string(at->second.by).end_object();
  const std::string text = std::move(out).take();
  return text.substr(1, text.size() - 2);
}

void fail_without_session(ApiWorld& world, const Call& call, const Error& error) {
  const Result<SessionId> session = SessionId::parse(call.arguments.at(0));
  const std::string members = session && error.code() == Code::not_found
                                  ? tombstone_members(world, call.principal, *session)
                                  : std::string();
  if (members.empty()) return call.fail(error);
  HttpResponse response = error_response(Error(Code::not_found, "the session was deleted"));
  response.body.pop_back();
  response.body += ",\"tombstone\":{" + members + "}}";
  call.exchange->respond(std::move(response));
}

}  // namespace perdure
