#include "daemon/api/routes/peer_routes.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/limits.h"
#include "core/wire/agentctl/command.h"
#include "core/wire/agentctl/reply.h"
#include "daemon/api/gate/session_argument.h"
#include "net/head.h"
#include "net/target.h"

namespace perdure {
namespace {

Result<std::string> owner_of(const ApiWorld& world, SessionId session) {
  return world.owner ? world.owner(session) : Result<std::string>();
}

// The letter of another daemon, or the reason why it is refused.
Result<PeerLetter> check_head(const ApiWorld& world, const HttpRequest& head) {
  for (const char* const name : {"Origin", "Cookie", "Sec-Fetch-Site", "Sec-Fetch-Mode"}) {
    if (head.count(name) > 0) return fail(Code::denied, "this is not for browsers");
  }
  const auto value = head.header(peer_signature_header);
  if (!value) return fail(Code::unauthenticated, "this is for daemons of the same store");
  return check_peer_header(world.peer_key,
                           {.path = head.path, .receiver = world.node_name, .value = *value},
                           world.clock.now().wall);
}

// Verifies the letter and consumes its nonce.
Result<> take_letter(const ApiWorld& world, PeerNonces& nonces, const Call& call) {
  const PeerLetter letter = TRY(check_head(world, call.request));
  if (letter.body_hash != sha256(call.request.body)) {
    return fail(Code::unauthenticated, "the body is not the one that was signed");
  }
  return nonces.take(letter, world.clock.now().since_boot);
}

Result<> submit(ApiWorld& world, PeerNonces& nonces, Call& call) {
  TRY_VOID(take_letter(world, nonces, call));
  PeerSubmit what = TRY(decode_peer_submit(call.request.body));
  if (what.key.empty()) return fail(Code::invalid_argument, "key: expected one");
  Request request{.by = std::move(what.by),
                  .key = std::move(what.key),
                  .body_hash = what.body_hash,
                  .body = TRY(decode_command(what.input.text))};
  world.runtime.submit_here(what.session, std::move(request),
                            [call = std::move(call)](const Result<Reply>& reply) {
                              if (!reply) return call.fail(reply.error());
                              call.answer(encode_reply(*reply));
                            });
  return {};
}

// Marks the answer as the route's own.
class PeerExchange final : public HttpExchange {
 public:
  PeerExchange(std::shared_ptr<HttpExchange> inner, std::string node)
      : inner_(std::move(inner)), node_(std::move(node)) {}

  void respond(HttpResponse response) override {
    response.headers.push_back({peer_answer_header, node_});
    inner_->respond(std::move(response));
  }
  std::shared_ptr<HttpStream> stream(HttpResponse, HttpStreamEvents&) override {
    class Nowhere final : public HttpStream {
      void write(std::shared_ptr<const std::string>) override {}
      std::size_t unsent_bytes() const override { return 0; }
      void finish() override {}
    };
    respond(error_response(Error(Code::internal, "a stream is not sent on")));
    return std::make_shared<Nowhere>();
  }
  std::shared_ptr<WebSocket> upgrade(const WebSocketLimits&, WebSocketEvents&) override {
    return nullptr;
  }
  bool is_gone() const override { return inner_->is_gone(); }

 private:
  std::shared_ptr<HttpExchange> inner_;
  std::string node_;
};

Result<Principal> principal_of(const ApiWorld& world, PeerPrincipal given) {
  const auto scope = enum_parse<Scope>(given.scope);
  if (!scope || given.id.empty()) return fail(Code::invalid_argument, "principal: expected one");
  return Principal{.id = std::move(given.id),
                   .scope = *scope,
                   .sessions = std::move(given.sessions),
                   .hosted = given.hosted,
                   .reach = world.reach,
                   .from_browser = given.from_browser,
                   .credential = std::move(given.credential)};
}

Result<HttpRequest> request_of(PeerCall& what, const HttpRequest& outer) {
  auto target = parse_target(what.target);
  if (!target) return fail(Code::invalid_argument, "target: " + std::string(target.error().why));
  HttpRequest request{.method = std::move(what.method),
                      .target = std::move(what.target),
                      .path = std::move(target->path),
                      .query = std::move(target->query),
                      .headers = {},
                      .body = std::move(what.body),
                      .peer = outer.peer};
  if (!what.content_type.empty()) request.headers.push_back({"Content-Type", what.content_type});
  if (!what.idempotency_key.empty()) {
    request.headers.push_back({"Idempotency-Key", what.idempotency_key});
  }
  return request;
}

struct Desk {
  Router& router;
  ApiWorld& world;
  PeerNonces nonces;
};

Result<> serve_call(Desk& desk, Call& outer) {
  ApiWorld& world = desk.world;
  TRY_VOID(take_letter(world, desk.nonces, outer));
  PeerCall what = TRY(decode_peer_call(outer.request.body));
  Principal principal = TRY(principal_of(world, std::move(what.principal)));
  HttpRequest request = TRY(request_of(what, outer.request));
  Router::Match match = desk.router.find(request.method, request.path);
  if (!match.route || !match.route->at_owner || match.arguments.empty()) {
    return fail(Code::invalid_argument, "target: it is not for another daemon");
  }
  if (!has_access(principal, match.route->access) || !principal.may_see(what.session)) {
    return fail(Code::denied, "this caller may not do that");
  }
  if (request.body.size() > match.route->body_bytes_max) {
    return fail(Code::too_large, "the request is too long");
  }
  if (const std::string owner = TRY(owner_of(world, what.session)); !owner.empty()) {
    return fail(Code::stale_owner, "the session is of node " + owner);
  }
  // Names and short ids were already resolved by the sending daemon.
  match.arguments.front() = what.session.text();
  // Bypasses Router::serve, so that the call is not forwarded again.
  Router::run(*match.route, {.request = std::move(request),
                             .exchange = std::make_shared<PeerExchange>(std::move(outer.exchange),
                                                                        world.node_name),
                             .principal = std::move(principal),
                             .arguments = std::move(match.arguments)});
  return {};
}

void show_nodes(ApiWorld& world, const Call& call) {
  std::vector<ServedNode> nodes;
  if (world.nodes) {
    Result<std::vector<ServedNode>> known = world.nodes();
    if (!known) return call.fail(known.error());
    nodes = std::move(*known);
  }
  JsonWriter out;
  out.begin_object().key("nodes").begin_array();
  for (const ServedNode& node : nodes) {
    out.begin_object().key("name").string(node.name).key("address").string(node.address);
    out.key("home").string(node.home).key("heard_ms").number(node.heard_ms);
    out.key("self").boolean(node.is_self).key("silent").boolean(node.is_silent).end_object();
  }
  out.end_array().end_object();
  call.answer(std::move(out).take());
}

std::string address_of(const ApiWorld& world, const std::string& name) {
  const auto nodes = world.nodes ? world.nodes() : Result<std::vector<ServedNode>>();
  if (!nodes) return {};
  const auto at = std::ranges::find(*nodes, name, &ServedNode::name);
  return at == nodes->end() ? std::string() : at->address;
}

Error not_here(const ApiWorld& world, const std::string& node) {
  const std::string address = address_of(world, node);
  return Error(Code::misdirected, "the session is of node " + node +
                                      (address.empty() ? "" : " at " + address) +
                                      ": sockets to it are opened there");
}

PeerCall make_call(const ApiWorld& world, const Call& call, SessionId session) {
  const Principal& by = call.principal;
  return {.node = world.node_name,
          .method = call.request.method,
          .target = call.request.target,
          .session = session,
          .idempotency_key = std::string(call.request.header("Idempotency-Key").value_or("")),
          .content_type = std::string(call.request.header("Content-Type").value_or("")),
          .body = call.request.body,
          .principal = {.id = by.id,
                        .scope = std::string(enum_text(by.scope)),
                        .sessions = by.sessions,
                        .hosted = by.hosted,
                        .from_browser = by.from_browser,
                        .credential = by.credential}};
}

// A forwarded call. It is sent a second time only after a refusal, so that it takes effect at most
// once.
class SentCall : public std::enable_shared_from_this<SentCall> {
 public:
  SentCall(ApiWorld& world, Route& route, Call call, SessionId session)
      : world_(world), route_(route), call_(std::move(call)), session_(session) {}

  void send(const std::string& node) {
    world_.call_peer(node, make_call(world_, call_, session_),
                     [self = shared_from_this()](Result<HttpResponse> answer) {
                       self->on_answer(std::move(answer));
                     });
  }

 private:
  void on_answer(Result<HttpResponse> answer) {
    if (answer) return call_.exchange->respond(std::move(*answer));
    if (answer.error().code() != Code::stale_owner || std::exchange(looked_again_, true)) {
      return call_.fail(answer.error());
    }
    const Result<std::string> owner = owner_of(world_, session_);
    if (!owner) return call_.fail(owner.error());
    if (owner->empty()) return Router::run(route_, std::move(call_));
    send(*owner);
  }

  ApiWorld& world_;
  Route& route_;
  Call call_;
  SessionId session_;
  bool looked_again_ = false;
};

}  // namespace

bool send_to_owner(ApiWorld& world, Route& route, Call& call) {
  if (!world.call_peer) return false;
  const Result<SessionId> session = session_of(world, call);
  if (!session) return false;  // the handler reports the error better
  const Result<std::string> owner = owner_of(world, *session);
  if (owner && owner->empty()) return false;
  if (!owner) {
    call.fail(owner.error());
  } else if (call.request.header("Upgrade")) {
    call.fail(not_here(world, *owner));
  } else {
    std::make_shared<SentCall>(world, route, std::move(call), *session)->send(*owner);
  }
  return true;
}

void add_peer_routes(Router& router, ApiWorld& world) {
  const auto desk = std::make_shared<Desk>(Desk{router, world, PeerNonces(world.clock.now().wall)});
  const auto add = [&](std::string_view path, std::string summary, RouteHandler handler) {
    router.add({.method = "POST",
                .pattern = std::string(path),
                .access = Access::open,
                .summary = std::move(summary),
                .handler = std::move(handler),
                .body_bytes_max = peer_body_bytes_max,
                .check_head = [&world](const HttpRequest& head) -> Result<> {
                  TRY(check_head(world, head));
                  return {};
                }});
  };
  add(peer_submit_path, "A command from another daemon of the store, signed by it",
      [desk](Call call) {
        const Result<> done = submit(desk->world, desk->nonces, call);
        if (!done) call.fail(done.error());
      });
  add(peer_call_path, "A client's request from another daemon of the store, signed by it",
      [desk](Call call) {
        if (const Result<> done = serve_call(*desk, call); !done) call.fail(done.error());
      });
  router.add({.method = "GET",
              .pattern = "/api/nodes",
              .access = Access::observe,
              .summary = "The daemons on this store",
              .handler = [&world](const Call& call) { show_nodes(world, call); }});
}

}  // namespace perdure
