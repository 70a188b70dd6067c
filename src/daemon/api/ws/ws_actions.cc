// The actions of /ws. Each parses its payload and calls the same commands as the routes.
#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "daemon/api/json/session_json.h"
#include "daemon/api/ws/ws_connection.h"

namespace perdure {
namespace {

// The payload without the members that name its subject: the body that a route would get.
std::string body_without(std::string_view payload, std::initializer_list<std::string_view> names) {
  JsonWriter out;
  out.begin_object();
  const Result<JsonObject> object = JsonObject::parse(payload);
  for (const auto& [key, raw] : object ? object->members() : std::vector<JsonObject::Member>()) {
    if (std::ranges::find(names, key) == names.end()) out.key(key).raw(raw);
  }
  out.end_object();
  return std::move(out).take();
}

Result<std::string> optional_text(const JsonObject& object, std::string_view name) {
  const std::string_view raw = object.find(name);
  if (raw.empty() || json_is_null(raw)) return std::string();
  Result<std::string> text = json_string(raw);
  if (!text) return fail(Code::invalid_argument, std::string(name) + ": a text is expected");
  return text;
}

Result<WsRequest> read_request(std::string_view text) {
  const JsonObject object = TRY(JsonObject::parse(text));
  WsRequest request{.id = std::string(object.find("id")), .payload = "{}"};
  const bool plain =
      request.id.starts_with('"') ||
      (!request.id.empty() && request.id.front() != '{' && request.id.front() != '[');
  if (!plain || request.id.size() > option_name_bytes_max) {
    return fail(Code::invalid_argument, "id: a short text or a number is expected");
  }
  if (TRY(optional_text(object, "type")) != "request") {
    return fail(Code::invalid_argument, "type: only requests come this way");
  }
  request.action = TRY(optional_text(object, "action"));
  request.key = TRY(optional_text(object, "key"));
  if (const std::string_view payload = object.find("payload"); !payload.empty()) {
    if (!payload.starts_with('{')) {
      return fail(Code::invalid_argument, "payload: an object is expected");
    }
    request.payload = payload;
  }
  return request;
}

}  // namespace

void WsConnection::on_text(std::string_view text) {
  const Result<WsRequest> request = read_request(text);
  if (!request) {
    // Echo the request's id if it has a usable one.
    const Result<JsonObject> object = JsonObject::parse(text);
    const std::string_view id = object ? object->find("id") : std::string_view();
    const bool sayable = !id.empty() && id.size() <= option_name_bytes_max;
    return respond_error({.id = sayable ? std::string(id) : "null"}, request.error());
  }
  if (calls_open_ >= ws_calls_open_max) {
    return respond_error(*request,
                         Error(Code::limit_reached, "64 requests of this socket wait already"));
  }
  act(*request);
}

Asker WsConnection::asker(const WsRequest& request) const {
  Asker out{.principal = principal_,
            .body_hash = sha256(request.action + "\n" + request.payload),
            .from = place_.from};
  if (!request.key.empty()) out.key = principal_.id + "/" + request.key;
  return out;
}

OnAnswer WsConnection::answer_to(const WsRequest& request) {
  calls_open_ += 1;
  return [self = weak_from_this(), request](Result<ApiAnswer> answer) {
    const auto alive = self.lock();
    if (!alive) return;
    alive->calls_open_ -= 1;
    if (!answer) return alive->respond_error(request, answer.error());
    alive->say(answer->status < 400 ? "response" : "error", request, answer->json);
  };
}

Result<SessionId> WsConnection::session_of(const WsRequest& request) const {
  const JsonObject payload = TRY(JsonObject::parse(request.payload));
  const std::string text = TRY(optional_text(payload, "session_id"));
  const Result<SessionId> session = SessionId::parse(text);
  if (!session || !principal_.may_see(*session)) return fail(Code::not_found, "no such session");
  return *session;
}

void WsConnection::act(const WsRequest& request) {
  const std::string_view action = request.action;
  if (action == "ping") return respond(request, "{}");
  if (action == "task.session.status") return show_status(request);
  if (action == "session.subscribe") return subscribe(request);
  if (action == "session.unsubscribe") return unsubscribe(request);
  if (action == "session.attach") return attach(request);
  if (action == "list.subscribe") {
    lists_ = true;
    return respond(request, "{}");
  }
  if (!principal_.may(Scope::operate)) {  // N12
    return respond_error(request, Error(Code::denied, "this caller may only look"));
  }
  if (action == "permission.answer") return answer_permission(request);
  act_on_session(request);
}

void WsConnection::act_on_session(const WsRequest& request) {
  SessionCommands& commands = place_.server.commands();
  std::string verb_name = request.action.starts_with("session.") ? request.action.substr(8) : "";
  std::ranges::replace(verb_name, '.', '/');
  const SessionVerb* const verb = find_session_verb(verb_name);
  const bool resumes = request.action == "task.session.resume";  // K43
  if (!verb && !resumes) {
    return respond_error(request,
                         Error(Code::invalid_argument, "unknown action '" + request.action + "'"));
  }
  const Result<SessionId> session = session_of(request);
  if (!session) return respond_error(request, session.error());
  if (resumes) {
    return commands.resume(asker(request), *session, body_without(request.payload, {"session_id"}),
                           answer_to(request));
  }
  if (const Result<> may = check_verb(principal_, *verb, *session); !may) {
    return respond_error(request, may.error());
  }
  commands.submit(asker(request), *session,
                  verb->read(body_without(request.payload, {"session_id"})), answer_to(request));
}

void WsConnection::answer_permission(const WsRequest& request) {
  const auto read = [&]() -> Result<PermissionId> {
    const JsonObject payload = TRY(JsonObject::parse(request.payload));
    return PermissionId::parse(TRY(optional_text(payload, "permission_id")));
  };
  const Result<PermissionId> permission = read();
  if (!permission) return respond_error(request, Error(Code::not_found, "no such question"));
  place_.server.commands().answer_permission(
      asker(request), *permission, body_without(request.payload, {"permission_id", "session_id"}),
      answer_to(request));
}

// L28, L29: of this session only; if a task is given, it must be the session's.
void WsConnection::show_status(const WsRequest& request) {
  const Result<SessionId> session = session_of(request);
  if (!session) return respond_error(request, session.error());
  Runtime& runtime = place_.server.world().runtime;
  const Result<SessionView> view = runtime.view(*session);
  if (!view) return respond_error(request, view.error());
  const JsonObject payload = *JsonObject::parse(request.payload);
  const Result<std::string> task = optional_text(payload, "task_id");
  if (!task) return respond_error(request, task.error());
  if (!task->empty() && (!view->task || view->task.text() != *task)) {
    return respond_error(request, Error(Code::not_found, "the task has no such session"));
  }
  respond(request, status_json(*view, beside_session(place_.server.world(), *view)));
}

void WsConnection::subscribe(const WsRequest& request) {
  const auto read = [&]() -> Result<Cursor> {
    const JsonObject payload = TRY(JsonObject::parse(request.payload));
    Cursor cursor{.session = TRY(session_of(request)),
                  .log_id = TRY(optional_text(payload, "log_id"))};
    const std::string_view after = payload.find("after");
    cursor.after = after.empty() || json_is_null(after) ? 0 : TRY(json_uint(after));
    const std::string_view gather = payload.find("gather_ms");
    const std::uint64_t gather_ms = gather.empty() ? 0 : TRY(json_uint(gather));
    if (gather_ms > ws_gather_max_ms) {
      return fail(Code::invalid_argument, "gather_ms: at most 1000");
    }
    cursor.gather_ms = static_cast<std::int64_t>(gather_ms);
    return cursor;
  };
  const Result<Cursor> cursor = read();
  if (!cursor) return respond_error(request, cursor.error());
  respond_with_subscription(request, *cursor);
}

// State first, then missed records, then live ones (C16): the loop sends the records after this
// answer. An impossible cursor is refused, and an older subscription remains unchanged.
void WsConnection::respond_with_subscription(const WsRequest& request, const Cursor& cursor) {
  if (const Result<> begun = begin_subscription(cursor); !begun) {
    return respond_error(request, begun.error());
  }
  const Result<std::string> shown = place_.server.commands().shown(cursor.session);
  if (!shown) return respond_error(request, shown.error());
  respond(request, "{\"session\":" + *shown + "}");
}

void WsConnection::unsubscribe(const WsRequest& request) {
  const Result<SessionId> session = session_of(request);
  if (!session) return respond_error(request, session.error());
  end_subscription(*session);
  respond(request, "{}");
}

// U4, U5, U9: with an id, finds the session, in memory or not; without one, creates it.
void WsConnection::attach(const WsRequest& request) {
  const Result<JsonObject> payload = JsonObject::parse(request.payload);
  if (!payload) return respond_error(request, payload.error());
  const bool finds = !payload->find("session_id").empty() && payload->find("session_id") != "null";
  if (finds) {
    const Result<SessionId> session = session_of(request);
    if (!session) return respond_error(request, session.error());
    return respond_with_subscription(request, {.session = *session});
  }
  if (!principal_.may(Scope::operate)) {
    return respond_error(request, Error(Code::denied, "this caller may only look"));
  }
  calls_open_ += 1;
  place_.server.commands().create(
      asker(request), body_without(request.payload, {"session_id"}),
      [self = weak_from_this(), request](Result<ApiAnswer> answer) {
        const auto alive = self.lock();
        if (!alive) return;
        alive->calls_open_ -= 1;
        if (!answer) return alive->respond_error(request, answer.error());
        const Result<JsonObject> made = JsonObject::parse(answer->json);
        const Result<std::string> id = json_string(made ? made->find("session_id") : "");
        const Result<SessionId> session = SessionId::parse(id ? *id : "");
        if (session) {
          // From the first record, because its creator has seen none.
          if (const auto begun = alive->begin_subscription({.session = *session, .after = 0});
              !begun) {
            return alive->respond_error(request, begun.error());
          }
        }
        alive->respond(request, answer->json);
      });
}

}  // namespace perdure
