// How a page signs in: it trades a launch token once for a cookie and a key, and needs both from
// then on. A page opens a WebSocket with a ticket.
#include <memory>
#include <utility>

#include "base/limits.h"
#include "daemon/api/gate/audited.h"
#include "daemon/api/gate/bodies.h"
#include "daemon/api/routes/node_routes.h"

namespace perdure {
namespace {

struct LoginBody {
  std::string token;
  FIELDS { visit("token", self.token); }
};

// A login that waits for its commit; it keeps the texts of its secrets that long.
struct Login {
  Call call;
  std::string key;  // the request's idempotency key
  std::string launch;
  Principal by;
  BrowserRow row;
  std::string cookie_text;
  std::string key_text;
};

std::string set_cookie(const Login& login) {
  std::string out = Gate::cookie_name(login.call.request) + "=" + login.cookie_text;
  out += "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(browser_ms / 1000);
  if (Gate::is_secure(login.call.request)) out += "; Secure";
  return out;
}

void answer_login(const Login& login) {
  JsonWriter out;
  out.begin_object().key("id").string(login.row.id).key("key").string(login.key_text);
  out.key("expires").string(format_timestamp(*login.row.expires)).end_object();
  login.call.exchange->respond(
      {.status = 200,
       .headers = {{"Content-Type", "application/json"}, {"Set-Cookie", set_cookie(login)}},
       .body = std::move(out).take()});
}

void refuse_login(ApiWorld& world, const Call& call, const Error& error) {
  note_refusal(world.audit, call.request, nullptr, error,
               {.text = "POST /api/login", .route = RouteClass::login});
  call.fail(error);
}

// The launch token is consumed only together with its effect (TOK1).
void add_browser(ApiWorld& world, Gate& gate, const std::shared_ptr<Login>& login) {
  AuditEntry entry{.what = "browser.sign_in",
                   .by = login->by.id,
                   .how = "launch token",
                   .from = from_of(login->call.request),
                   .on = {login->row.id}};
  audited(world.audit, entry, [&world, &gate, login, entry](Result<Seq> noted) {
    const auto refuse = [&gate, login](const Error& error) {
      gate.give_back_launch_token(login->launch, login->by);
      return error;
    };
    if (!noted) return login->call.fail(refuse(noted.error()));
    NodeRequest request{
        .by = login->by.id, .key = login->key, .body_hash = login->call.body_hash()};
    world.node.add_browser(std::move(request), login->row,
                           [&world, login, entry, refuse, seq = *noted](Result<> done) {
                             if (done) return answer_login(*login);
                             note_outcome(world.audit, entry, seq, code_name(done.error().code()));
                             fail_unless_shown(login->call, world.node, login->key,
                                               refuse(done.error()));
                           });
  });
}

// The launch token is taken once it is known that its bearer is outside of every session.
void take_launch(ApiWorld& world, Gate& gate, const std::shared_ptr<Login>& login) {
  if (const CallerOrigin from = gate.origin(login->call.request); from.session) {
    const std::string why = from.doubt.empty() ? "" : " (it may be one: " + from.doubt + ")";
    return refuse_login(world, login->call,
                        Error(Code::denied, "a process inside a session may not log in" + why));
  }
  Result<Principal> by = gate.take_launch_token(login->call.request, login->launch);
  if (!by) return refuse_login(world, login->call, by.error());
  login->by = std::move(*by);
  login->cookie_text = gate.make_secret_text(SecretKind::cookie);
  login->key_text = gate.make_secret_text(SecretKind::key);
  const Timestamp now = world.clock.now().wall;
  login->row = {.id = new_row_id(world, "br_"),
                .cookie_hash = sha256(login->cookie_text),
                .key_hash = sha256(login->key_text),
                .created = now,
                .expires = Timestamp{now.ms + browser_ms},
                .by = login->by.id};
  add_browser(world, gate, login);
}

void log_in(ApiWorld& world, Gate& gate, Call call) {
  const Result<LoginBody> body = read_body<LoginBody>(call.request.body);
  if (!body) return refuse_login(world, call, body.error());
  auto login = std::make_shared<Login>(Login{.call = std::move(call), .launch = body->token});
  // The caller is not identified yet, so the key is scoped to the launch token.
  const auto given = login->call.request.header("Idempotency-Key");
  if (given) login->key = "login:" + sha256(body->token).hex() + "/" + std::string(*given);
  const Result<std::string> shown = world.node.shown_id(login->key);
  if (given && shown) {
    return fail_unless_shown(
        login->call, world.node, login->key,
        Error(Code::secret_already_shown, "this login was done before, as " + *shown));
  }
  if (!gate.is_launch_token(body->token)) {
    const Result<Principal> by = gate.take_launch_token(login->call.request, body->token);
    const std::int64_t delay_ms = gate.refusal_delay_ms(login->call.request);
    if (delay_ms == 0) return refuse_login(world, login->call, by.error());
    world.loop.after_ms(
        delay_ms, [&world, login, error = by.error()] { refuse_login(world, login->call, error); });
    return;
  }
  // Who has no launch token costs no look at where it is.
  if (gate.knows_origin(login->call.request)) return take_launch(world, gate, login);
  gate.find_origin(login->call.request, "login", [&world, &gate, login](const Result<>& found) {
    if (login->call.exchange->is_gone()) return;
    if (found) return take_launch(world, gate, login);
    login->call.exchange->respond(busy_response(found.error()));
  });
}

void make_launch(Gate& gate, const Call& call) {
  const std::string text = gate.make_launch_token(call.principal);
  JsonWriter out;
  out.begin_object().key("token").string(text).key("expires_ms").number(launch_token_ms);
  out.key("url").string(gate.names().shown_url() + "/#launch=" + text).end_object();
  call.answer(std::move(out).take());
}

void make_ticket(Gate& gate, const Call& call) {
  JsonWriter out;
  out.begin_object().key("ticket").string(gate.make_ticket(call.principal));
  out.key("expires_ms").number(ticket_ms).end_object();
  call.answer(std::move(out).take());
}

}  // namespace

void add_login_routes(Router& router, ApiWorld& world, Gate& gate) {
  router.add({.method = "POST",
              .pattern = std::string(login_pattern),
              .access = Access::open,
              .summary = "Trades a launch token for a cookie and a key.",
              .handler = [&world, &gate](Call call) { log_in(world, gate, std::move(call)); },
              .body_bytes_max = 16UL << 10});
  router.add({.method = "POST",
              .pattern = "/api/launch",
              .access = Access::admin,
              .summary = "Makes a launch token, and the address that holds it.",
              .handler =
                  [&world, &gate](Call call) {
                    AuditEntry entry = audit_entry(world, call, "launch.create");
                    audited(world, std::move(call), std::move(entry),
                            [&gate](const Call& noted) { make_launch(gate, noted); });
                  },
              .body_bytes_max = 16UL << 10});
  router.add({.method = "POST",
              .pattern = "/api/ticket",
              .access = Access::observe,
              .summary = "Makes a ticket that opens one WebSocket.",
              .handler = [&gate](Call call) { make_ticket(gate, call); },
              .body_bytes_max = 16UL << 10});
}

}  // namespace perdure
