// Finds routes, and defines the one form of every refusal. If several patterns match a path, the
// one with the earlier literal wins, regardless of the order in which they were added.
#include "daemon/api/gate/route.h"

#include <optional>
#include <ranges>
#include <utility>

#include "base/check.h"
#include "base/json/json.h"
#include "net/server/answer_text.h"

namespace perdure {
namespace {

struct Fit {
  std::vector<std::string> arguments;
  std::string rank;  // one character per segment; the greater rank is the more specific match
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

// Prefixes each part with its length, so that different requests never look the same.
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
  const ErrorKind& kind = kind_of(error.code());
  JsonWriter out;
  out.begin_object().key("error").begin_object();
  out.key("code").string(kind.name).key("message").string(error.message());
  out.key("actions").begin_array();
  for (const auto action : kind.actions | std::views::split(' ')) {
    out.string(std::string_view(action));
  }
  out.end_array().end_object().end_object();
  return json_response(kind.http_status, std::move(out).take());
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
