// Finding a route, and the one form of every refusal. Of several patterns that fit a path the one
// with the earlier literal wins, in whatever order they were added.
#include "api/route.h"

#include <optional>
#include <utility>

#include "base/check.h"
#include "base/json.h"
#include "http/answer_text.h"

namespace perdure {
namespace {

struct Fit {
  std::vector<std::string> arguments;
  std::string rank;  // a character a segment; of two fits the greater one is the more exact
};

std::optional<Fit> fit(std::string_view pattern, std::string_view path) {
  if (!path.starts_with('/')) return std::nullopt;
  Fit out;
  while (!pattern.empty()) {
    if (!path.starts_with('/')) return std::nullopt;
    pattern.remove_prefix(1);
    path.remove_prefix(1);
    const std::string_view wanted = pattern.substr(0, pattern.find('/'));
    if (wanted.starts_with('{') && wanted.ends_with("...}")) {
      out.arguments.emplace_back(path);
      out.rank += '0';
      return out;
    }
    const std::string_view given = path.substr(0, path.find('/'));
    if (wanted.starts_with('{')) {
      if (given.empty()) return std::nullopt;
      out.arguments.emplace_back(given);
      out.rank += '1';
    } else {
      if (wanted != given) return std::nullopt;
      out.rank += '2';
    }
    pattern.remove_prefix(wanted.size());
    path.remove_prefix(given.size());
  }
  if (!path.empty()) return std::nullopt;
  return out;
}

// Each part with its length in front, so that no two requests read alike.
void add_part(std::string& out, std::string_view part) {
  out += std::to_string(part.size());
  out += ':';
  out += part;
}

HttpResponse json_response(int status, std::string json) {
  return {
      .status = status, .headers = {{"Content-Type", "application/json"}}, .body = std::move(json)};
}

}  // namespace

int status_of(Code code) {
  switch (code) {
    case Code::invalid_argument: return 400;
    case Code::unauthenticated:
    case Code::token_invalid: return 401;
    case Code::denied: return 403;
    case Code::not_found:
    case Code::agent_unknown:
    case Code::token_not_found: return 404;
    case Code::conflict:
    case Code::key_reused:
    case Code::session_archived:
    case Code::not_resumable:
    case Code::workspace_missing:
    case Code::agent_missing:
    case Code::image_missing:
    case Code::container_missing:
    case Code::container_failed:
    case Code::limits_unsupported:
    case Code::token_consumed:
    case Code::token_scope_mismatch:
    case Code::cursor_invalid:
    case Code::stale_owner:
    case Code::secret_already_shown:
    case Code::format_too_new: return 409;
    case Code::permission_closed:  // X18
    case Code::token_expired:
    case Code::token_revoked: return 410;
    case Code::too_large: return 413;
    case Code::misdirected: return 421;
    case Code::limit_reached: return 429;
    case Code::damaged:  // the request was right: what we stored is not
    case Code::internal: return 500;
    case Code::storage_unknown:
    case Code::engine_unavailable:
    case Code::remote_unavailable:
    case Code::unavailable: return 503;
    case Code::disk_full: return 507;
  }
  CHECK(false, "unknown error code");
}

std::vector<std::string> actions_of(Code code) {
  switch (code) {
    case Code::unauthenticated: return {"open"};
    case Code::session_archived: return {"unarchive", "fork"};
    case Code::not_resumable: return {"fresh", "fork"};
    case Code::workspace_missing: return {"recreate", "rebind", "fresh"};
    case Code::agent_unknown: return {"agents", "handover"};
    case Code::agent_missing: return {"install", "handover"};
    case Code::image_missing: return {"pull"};
    case Code::container_missing:
    case Code::container_failed: return {"resume"};
    case Code::token_expired:
    case Code::token_revoked: return {"prompt"};
    case Code::cursor_invalid: return {"start_over"};
    case Code::damaged: return {"verify", "repair"};
    case Code::format_too_new: return {"upgrade"};
    case Code::limit_reached:
    case Code::disk_full:
    case Code::storage_unknown:
    case Code::engine_unavailable:
    case Code::remote_unavailable:
    case Code::unavailable: return {"retry"};
    default: return {};
  }
}

bool has_access(const Principal& principal, Access access) {
  switch (access) {
    case Access::open: return true;
    case Access::observe: return principal.may(Scope::observe);
    case Access::operate: return principal.may(Scope::operate);
    case Access::answer: return principal.may_answer();
    case Access::admin: return principal.may_mint() && principal.sessions.empty();
  }
  CHECK(false, "unknown access");
}

HttpResponse error_response(const Error& error) {
  JsonWriter out;
  out.begin_object().key("error").begin_object();
  out.key("code").string(code_name(error.code())).key("message").string(error.message());
  out.key("actions").begin_array();
  for (const std::string& action : actions_of(error.code())) out.string(action);
  out.end_array().end_object().end_object();
  return json_response(status_of(error.code()), std::move(out).take());
}

HttpResponse busy_response(const Error& error) {
  HttpResponse response = error_response(error);
  response.headers.push_back({"Retry-After", "1"});
  return response;
}

std::string Call::key() const {
  const auto given = request.header("Idempotency-Key");
  if (!given || given->empty()) return {};
  return principal.id + "/" + std::string(*given);
}

Hash Call::body_hash() const {
  std::string text;
  add_part(text, request.method);
  add_part(text, request.path);
  for (const auto& [name, value] : request.query) {
    add_part(text, name);
    add_part(text, value);
  }
  text += '|';
  add_part(text, request.body);
  return sha256(text);
}

void Call::fail(const Error& error) const { exchange->respond(error_response(error)); }

void Call::answer(std::string json) const { answer(200, std::move(json)); }

void Call::answer(int status, std::string json) const {
  exchange->respond(json_response(status, std::move(json)));
}

Result<JsonObject> Call::body() const {
  auto object = JsonObject::parse(request.body.empty() ? std::string_view("{}") : request.body);
  if (!object) return std::unexpected(std::move(object).error().with_context("body"));
  return object;
}

void Router::add(Route route) {
  CHECK(route.pattern.starts_with('/') && route.handler, "a route has a path and a handler");
  for (const auto& other : routes_) {
    CHECK(other->method != route.method || other->pattern != route.pattern,
          "a route is added twice");
  }
  routes_.push_back(std::make_unique<Route>(std::move(route)));
}

void Router::serve(Route& route, Call call) {
  if (route.at_owner && elsewhere_ && elsewhere_(route, call)) return;
  run(route, std::move(call));
}

void Router::run(Route& route, Call call) {
  if (route.is_socket && !call.request.wants_websocket) {
    return call.exchange->respond(upgrade_required_answer());
  }
  route.handler(std::move(call));
}

Router::Match Router::find(std::string_view method, std::string_view path) {
  Match match;
  std::string rank;
  for (const auto& route : routes_) {
    std::optional<Fit> found = fit(route->pattern, path);
    if (!found) continue;
    match.allowed.push_back(route->method);
    if (route->method != method || (match.route && found->rank <= rank)) continue;
    match.route = route.get();
    match.arguments = std::move(found->arguments);
    rank = std::move(found->rank);
  }
  return match;
}

}  // namespace perdure
