#include "daemon/api/gate/audited.h"

#include <memory>
#include <utility>

#include "base/check.h"
#include "base/json/json.h"

namespace perdure {
namespace {

std::string code_in(const HttpResponse& response) {
  const Result<JsonObject> body = JsonObject::parse(response.body);
  const Result<JsonObject> error = JsonObject::parse(body ? body->find("error") : "");
  if (!error) return std::to_string(response.status);
  return json_string(error->find("code")).value_or(std::to_string(response.status));
}

// Records answers that are errors and passes the others through.
class AuditedExchange final : public HttpExchange {
 public:
  AuditedExchange(std::shared_ptr<HttpExchange> inner, Audit& audit, AuditEntry entry, Seq seq)
      : inner_(std::move(inner)), audit_(audit), entry_(std::move(entry)), seq_(seq) {}

  void respond(HttpResponse response) override {
    if (response.status >= 400) note_outcome(&audit_, entry_, seq_, code_in(response));
    inner_->respond(std::move(response));
  }
  std::shared_ptr<HttpStream> stream(HttpResponse head, HttpStreamEvents& events) override {
    return inner_->stream(std::move(head), events);
  }
  std::shared_ptr<WebSocket> upgrade(const WebSocketLimits& limits,
                                     WebSocketEvents& events) override {
    return inner_->upgrade(limits, events);
  }
  bool is_gone() const override { return inner_->is_gone(); }

 private:
  std::shared_ptr<HttpExchange> inner_;
  Audit& audit_;
  AuditEntry entry_;
  Seq seq_;
};

RouteClass class_of(const Route& route) {
  if (route.pattern == login_pattern) return RouteClass::login;
  switch (route.access) {
    case Access::open: return RouteClass::open;
    case Access::observe: return RouteClass::observe;
    case Access::operate: return RouteClass::operate;
    case Access::answer: return RouteClass::answer;
    case Access::admin: return RouteClass::admin;
  }
  CHECK(false, "an access without a class");
}

}  // namespace

std::string how_of(const Principal& principal, const NodeState& node) {
  if (principal.hosted) return "process of a session";
  if (principal.from_browser) return "page";
  const std::string& id = principal.credential.empty() ? principal.id : principal.credential;
  if (id == "token:admin") return "admin token";
  if (id.starts_with("token:")) {
    const auto token = node.tokens.find(id.substr(6));
    return token == node.tokens.end() ? "token" : "token \"" + token->second.name + "\"";
  }
  return id.starts_with("uid:") ? "unix socket" : "daemon";
}

std::string from_of(const HttpRequest& request) {
  if (!request.peer) return "";
  return request.peer->is_unix ? "unix" : request.peer->address;
}

AuditEntry audit_entry(const ApiWorld& world, const Call& call, std::string what) {
  return {.what = std::move(what),
          .by = call.principal.id,
          .how = how_of(call.principal, world.node.state()),
          .from = from_of(call.request)};
}

RefusedAt refused_at(const Route* route) {
  if (!route) return {.text = "no such route"};
  return {.text = route->method + " " + route->pattern, .route = class_of(*route)};
}

void note_refusal(Audit* audit, const HttpRequest& request, const Principal* principal,
                  const Error& error, RefusedAt at) {
  if (!audit) return;
  const bool is_nobody =
      error.code() == Code::unauthenticated || error.code() == Code::limit_reached;
  AuditEntry entry{.what = is_nobody ? "sign_in.refuse" : "request.refuse",
                   .from = from_of(request),
                   .outcome = std::string(code_name(error.code())),
                   .text = std::move(at.text),
                   .route = at.route};
  if (request.peer && request.peer->is_unix) {
    entry.from += " uid " + std::to_string(request.peer->uid);
  }
  if (principal) {
    entry.by = principal->id;
    if (principal->hosted) {
      entry.how = "process of a session";
      entry.on = {principal->hosted.text()};
    }
  }
  audit->note_refusal(std::move(entry));
}

void note_outcome(Audit* audit, AuditEntry first, Seq of, std::string_view code) {
  if (!audit) return;
  first.outcome = code;
  first.of = of;
  audit->note(std::move(first));
}

void audited(Audit* audit, AuditEntry entry, std::move_only_function<void(Result<Seq>)> act) {
  if (!audit) return act(Seq{0});
  audit->note(std::move(entry), std::move(act));
}

void audited(ApiWorld& world, Call call, AuditEntry entry,
             std::move_only_function<void(Call)> act) {
  if (!world.audit) return act(std::move(call));
  AuditEntry noted = entry;
  world.audit->note(std::move(noted), [&world, call = std::move(call), entry = std::move(entry),
                                       act = std::move(act)](Result<Seq> seq) mutable {
    if (!seq) return call.fail(seq.error());
    call.exchange = std::make_shared<AuditedExchange>(std::move(call.exchange), *world.audit,
                                                      std::move(entry), *seq);
    act(std::move(call));
  });
}

}  // namespace perdure
