#include "daemon/api/api.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "daemon/api/gate/audited.h"
#include "net/server/static_files.h"

namespace perdure {
namespace {

constexpr std::int64_t ready_look_ms = 50;
// Limits the recorded first uses. At the limit, the set is cleared and uses are recorded again.
constexpr std::size_t token_uses_max = 4096;

// Adds the headers to every response of the handler.
class SafeExchange final : public HttpExchange {
 public:
  explicit SafeExchange(std::shared_ptr<HttpExchange> inner) : inner_(std::move(inner)) {}

  void respond(HttpResponse response) override {
    add_safe_headers(response);
    inner_->respond(std::move(response));
  }
  std::shared_ptr<HttpStream> stream(HttpResponse head, HttpStreamEvents& events) override {
    add_safe_headers(head);
    return inner_->stream(std::move(head), events);
  }
  std::shared_ptr<WebSocket> upgrade(const WebSocketLimits& limits,
                                     WebSocketEvents& events) override {
    return inner_->upgrade(limits, events);
  }
  bool is_gone() const override { return inner_->is_gone(); }

 private:
  std::shared_ptr<HttpExchange> inner_;
};

struct NoRoute {
  const HttpRequest& request;
  std::vector<std::string> allowed;
};

Error no_route(const NoRoute& what) {
  if (what.allowed.empty()) return Error(Code::not_found, "there is no " + what.request.path);
  std::string methods;
  for (const std::string& method : what.allowed) {
    methods += (methods.empty() ? "" : ", ") + method;
  }
  return Error(Code::invalid_argument, what.request.path + " is asked by " + methods);
}

HttpResponse refusal(const Error& error, const std::vector<std::string>& allowed) {
  HttpResponse response = error_response(error);
  if (error.code() == Code::unauthenticated) {
    response.headers.push_back({"WWW-Authenticate", "Bearer"});
  }
  if (!allowed.empty()) {
    std::string methods;
    for (const std::string& method : allowed) methods += (methods.empty() ? "" : ", ") + method;
    response.status = 405;
    response.headers.push_back({"Allow", methods});
  }
  add_safe_headers(response);
  return response;
}

// Whether the place of a caller over TCP matters: a caller inside a session acts as that session,
// whatever token it brings. Only plain reads go by the token alone. Open routes see to it
// themselves.
bool asks_origin(const HttpRequest& request, const Route* route) {
  if (!route || route->access == Access::open) return false;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads || request.count("Upgrade") > 0) return true;
  return route->access == Access::answer || route->access == Access::admin;
}

Error no_access(const Principal& principal) {
  if (!principal.hosted) return Error(Code::denied, "this token's scope does not allow that");
  if (principal.doubt.empty()) {
    return Error(Code::denied, "a process inside a session may not do that");
  }
  return Error(
      Code::denied,
      "this caller may be a process inside a session, and those are not allowed to do this: " +
          principal.doubt +
          "; use the perdure command or the unix socket in a terminal "
          "outside of every session");
}

}  // namespace

void add_safe_headers(HttpResponse& response) {
  const auto add = [&](const HttpHeader& header) {
    const auto at = std::ranges::find(response.headers, header.name, &HttpHeader::name);
    if (at == response.headers.end()) response.headers.push_back(header);
  };
  for (const HttpHeader& header : security_headers()) add(header);
  add({"Cache-Control", "no-store"});
}

Api::Api(Gate::World world, Loop& loop, GateConfig gate, Options options)
    : loop_(loop),
      clock_(world.clock),
      options_(std::move(options)),
      gate_(world, std::move(gate)) {
  add_health_routes();
}

Api::~Api() { loop_.cancel(timer_); }

void Api::add_health_routes() {
  router_.add({.method = "GET",
               .pattern = "/healthz",
               .access = Access::open,
               .summary = "The daemon lives.",
               .handler = [](Call call) { call.answer(R"({"status":"ok"})"); }});
  router_.add({.method = "GET",
               .pattern = "/readyz",
               .access = Access::open,
               .summary = "The daemon has reconciled and serves.",
               .handler = [this](Call call) {
                 if (options_.is_ready()) return call.answer(R"({"status":"ready"})");
                 call.fail(Error(Code::unavailable, "the daemon is starting"));
               }});
}

bool Api::is_of_shell(const HttpRequest& request) const {
  return options_.shell && (request.method == "GET" || request.method == "HEAD") &&
         request.path != "/api" && !request.path.starts_with("/api/");
}

std::string Api::on_accept(int descriptor, HttpPeer& peer) {
  gate_.note_origin(descriptor, peer);
  return peer.origin.session ? peer.origin.session.text() : std::string();
}

std::unexpected<Error> Api::refused(const HttpRequest& request, const Route* route,
                                    const Principal* principal, Error error) {
  note_refusal(options_.audit, request, principal, error, refused_at(route));
  return std::unexpected(std::move(error));
}

void Api::note_token_use(const HttpRequest& request, const Principal& principal) {
  if (!options_.audit || !principal.credential.starts_with("token:")) return;
  if (token_uses_.size() >= token_uses_max) token_uses_.clear();
  const std::string from = from_of(request);
  if (!token_uses_.emplace(principal.credential, from).second) return;
  AuditEntry entry{.what = "token.use",
                   .by = principal.id,
                   .how = how_of(principal, gate_.node()),
                   .from = from,
                   .on = {principal.credential.substr(principal.credential.find(':') + 1)}};
  if (principal.hosted) entry.on.push_back(principal.hosted.text());
  options_.audit->note(std::move(entry));
}

Result<Api::Examined> Api::examine(const HttpRequest& request, Gate::Ticket ticket, Stage stage) {
  Router::Match match = router_.find(request.method, request.path);
  if (Result<> place = gate_.check_place(request); !place) {
    return refused(request, match.route, nullptr, std::move(place).error());
  }
  Examined out{.route = match.route, .arguments = std::move(match.arguments)};
  if (!out.route && match.allowed.empty() && is_of_shell(request)) return out;
  if (out.route && out.route->access == Access::open) {
    const Result<> head = out.route->check_head ? out.route->check_head(request) : Result<>();
    if (!head) return refused(request, out.route, nullptr, head.error());
    const Result<> form = gate_.check_change(request, out.route->body_type, nullptr);
    if (!form) return refused(request, out.route, nullptr, form.error());
    return out;
  }
  Gate::Origins origins = Gate::Origins::skip_tcp;
  if (asks_origin(request, out.route)) {
    origins = stage == Stage::head ? Gate::Origins::if_known : Gate::Origins::required;
  }
  Result<Principal> principal = gate_.identify(request, ticket, origins);
  if (!principal) return refused(request, out.route, nullptr, std::move(principal).error());
  out.principal = std::move(*principal);
  note_token_use(request, out.principal);
  if (!out.route) return std::unexpected(no_route({request, std::move(match.allowed)}));
  const bool is_in_doubt = !out.principal.doubt.empty() && asks_origin(request, out.route);
  if (is_in_doubt || !has_access(out.principal, out.route->access)) {
    return refused(request, out.route, &out.principal, no_access(out.principal));
  }
  const Result<> form = gate_.check_change(request, out.route->body_type, &out.principal);
  if (form) return out;
  if (form.error().code() != Code::denied) return std::unexpected(form.error());
  return refused(request, out.route, &out.principal, form.error());
}

HttpAdmission Api::on_head(const HttpRequest& head) {
  const Result<Examined> examined = examine(head, Gate::Ticket::look, Stage::head);
  if (examined) {
    const Route* const route = examined->route;
    return {.body_bytes_max = route ? route->body_bytes_max : 0,
            .is_known = route && (route->access != Access::open || route->check_head),
            .credential = examined->principal.credential};
  }
  Router::Match match = router_.find(head.method, head.path);
  const bool is_405 = examined.error().code() == Code::invalid_argument && !match.route;
  const bool is_nobody = examined.error().code() == Code::unauthenticated ||
                         examined.error().code() == Code::limit_reached;
  return {.refuse = refusal(examined.error(),
                            is_405 ? std::move(match.allowed) : std::vector<std::string>()),
          .refuse_after_ms = is_nobody ? gate_.refusal_delay_ms(head) : 0};
}

void Api::on_request(HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
  if (asks_origin(request, router_.find(request.method, request.path).route) &&
      !gate_.knows_origin(request)) {
    return look_where_from(std::move(request), std::move(exchange));
  }
  const bool is_ready = options_.is_ready();
  // If the request has to wait, its ticket is consumed when it is served.
  Result<Examined> examined =
      examine(request, is_ready ? Gate::Ticket::take : Gate::Ticket::look, Stage::request);
  if (!examined) return exchange->respond(refusal(examined.error(), {}));
  if (!examined->route) return serve_shell(request, *exchange);
  const bool can_wait = examined->route->access != Access::open || examined->route->check_head;
  if (!is_ready && can_wait) { return wait(std::move(request), std::move(exchange)); }
  router_.serve(*examined->route, {.request = std::move(request),
                                   .exchange = std::make_shared<SafeExchange>(std::move(exchange)),
                                   .principal = std::move(examined->principal),
                                   .arguments = std::move(examined->arguments)});
}

void Api::look_where_from(HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
  // Who has no right here costs no look.
  const Result<Examined> examined = examine(request, Gate::Ticket::look, Stage::head);
  if (!examined) return exchange->respond(refusal(examined.error(), {}));
  const Principal& by = examined->principal;
  auto kept = std::make_shared<HttpRequest>(std::move(request));
  gate_.find_origin(*kept, by.credential.empty() ? by.id : by.credential,
                    [this, kept, exchange = std::move(exchange)](Result<> found) mutable {
                      if (found) return on_request(std::move(*kept), std::move(exchange));
                      HttpResponse busy = busy_response(found.error());
                      add_safe_headers(busy);
                      exchange->respond(std::move(busy));
                    });
}

void Api::serve_shell(const HttpRequest& request, HttpExchange& exchange) {
  std::optional<HttpResponse> file = options_.shell(request);
  if (!file) {
    return exchange.respond(refusal(Error(Code::not_found, "there is no " + request.path), {}));
  }
  add_safe_headers(*file);
  exchange.respond(std::move(*file));
}

void Api::wait(HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
  if (waiting_.size() >= requests_waiting_max) {
    return exchange->respond(
        refusal(Error(Code::unavailable, "the daemon is starting, and many wait for it"), {}));
  }
  const BootTime until{clock_.now().since_boot.ms + ready_wait_ms};
  waiting_.push_back({std::move(request), std::move(exchange), until});
  if (timer_ == 0) timer_ = loop_.after_ms(ready_look_ms, [this] { look_again(); });
}

void Api::look_again() {
  timer_ = 0;
  const BootTime now = clock_.now().since_boot;
  if (options_.is_ready()) {
    for (Waiting& waiting : std::exchange(waiting_, {})) {
      if (!waiting.exchange->is_gone()) {
        on_request(std::move(waiting.request), std::move(waiting.exchange));
      }
    }
    return;
  }
  while (!waiting_.empty() && waiting_.front().until <= now) {
    waiting_.front().exchange->respond(
        refusal(Error(Code::unavailable, "the daemon is still starting"), {}));
    waiting_.pop_front();
  }
  if (!waiting_.empty()) timer_ = loop_.after_ms(ready_look_ms, [this] { look_again(); });
}

}  // namespace perdure
