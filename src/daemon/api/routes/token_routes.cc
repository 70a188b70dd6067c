// Tokens and browsers: lists and revokes credentials. Texts and hashes are never listed.
#include <algorithm>
#include <memory>
#include <utility>

#include "daemon/api/gate/audited.h"
#include "daemon/api/gate/bodies.h"
#include "daemon/api/routes/node_routes.h"

namespace perdure {
namespace {

struct TokenBody {
  std::string name;
  std::vector<Scope> scopes;  // the highest counts, since each includes those below
  std::vector<SessionId> sessions;
  std::optional<Timestamp> expires;
  std::uint64_t expires_in_s = 0;  // instead of a time
  FIELDS {
    visit("name", self.name);
    visit("scopes", self.scopes);
    visit("sessions", self.sessions);
    visit("expires", self.expires);
    visit("expires_in_s", self.expires_in_s);
  }
};

constexpr std::uint64_t expires_in_s_max = 100ULL * 366 * 24 * 3600;

void write_time(JsonWriter& out, std::string_view name, std::optional<Timestamp> at) {
  out.key(name);
  if (at) {
    out.string(format_timestamp(*at));
  } else {
    out.null();
  }
}

void write_token(JsonWriter& out, const TokenRow& row, std::optional<Timestamp> last_used) {
  out.begin_object().key("id").string(row.id).key("name").string(row.name);
  out.key("scopes").begin_array();
  for (const Scope scope : {Scope::observe, Scope::operate, Scope::admin}) {
    if (scope <= row.scope) out.string(enum_text(scope));
  }
  out.end_array().key("sessions").begin_array();
  for (const SessionId session : row.sessions) out.string(session.text());
  out.end_array();
  write_time(out, "created", row.created);
  write_time(out, "expires", row.expires);
  write_time(out, "last_used", last_used);
  out.key("by").string(row.by).end_object();
}

void list_tokens(ApiWorld& world, Gate& gate, const Call& call) {
  JsonWriter out;
  out.begin_object().key("tokens").begin_array();
  for (const auto& [id, row] : world.node.state().tokens) {
    write_token(out, row, gate.last_used("token:" + id));
  }
  out.end_array().key("browsers").begin_array();
  for (const auto& [id, row] : world.node.state().browsers) {
    out.begin_object().key("id").string(id);
    write_time(out, "created", row.created);
    write_time(out, "expires", row.expires);
    write_time(out, "last_used", gate.last_used("browser:" + id));
    out.key("by").string(row.by).end_object();
  }
  call.answer(std::move(out.end_array().end_object()).take());
}

Result<TokenRow> read_token(ApiWorld& world, const Call& call) {
  const auto body = TRY(read_body<TokenBody>(call.request.body));
  if (body.name.empty()) return fail(Code::invalid_argument, "name: a token needs one");
  if (body.scopes.empty()) {
    return fail(Code::invalid_argument, "scopes: expected some of observe, operate, admin");
  }
  if (body.expires && body.expires_in_s != 0) {
    return fail(Code::invalid_argument, "expires and expires_in_s exclude each other");
  }
  if (body.expires_in_s > expires_in_s_max) {
    return fail(Code::invalid_argument, "expires_in_s: at most a hundred years");
  }
  const Timestamp now = world.clock.now().wall;
  TokenRow row{.id = new_row_id(world, "tok_"),
               .name = body.name,
               .scope = *std::ranges::max_element(body.scopes),
               .sessions = body.sessions,
               .created = now,
               .expires = body.expires,
               .by = call.principal.id};
  if (body.expires_in_s != 0) {
    row.expires = Timestamp{now.ms + static_cast<std::int64_t>(body.expires_in_s) * 1000};
  }
  return row;
}

void add_token(ApiWorld& world, Gate& gate, Call call, TokenRow row) {
  std::string text = gate.make_secret_text(SecretKind::token);
  row.text_hash = sha256(text);
  NodeRequest request = node_request(call);
  auto shared = std::make_shared<const Call>(std::move(call));
  world.node.add_token(std::move(request), row, [&world, shared, row, text](Result<> done) {
    if (!done) return fail_unless_shown(*shared, world.node, shared->key(), done.error());
    JsonWriter out;
    out.begin_object().key("token");
    write_token(out, row, std::nullopt);
    out.key("text").string(text).end_object();
    shared->answer(201, std::move(out).take());
  });
}

void make_token(ApiWorld& world, Gate& gate, Call call) {
  Result<TokenRow> row = read_token(world, call);
  if (!row) return call.fail(row.error());
  AuditEntry entry = audit_entry(world, call, "token.create");
  entry.on = {row->id};
  for (const SessionId session : row->sessions) entry.on.push_back(session.text());
  entry.text = "\"" + row->name + "\", scope " + std::string(enum_text(row->scope));
  audited(world, std::move(call), std::move(entry),
          [&world, &gate, row = std::move(*row)](Call noted) mutable {
            add_token(world, gate, std::move(noted), std::move(row));
          });
}

void revoke(ApiWorld& world, Call call) {
  const std::string id = call.arguments.at(0);
  NodeRequest request = node_request(call);
  const auto answer = [shared = std::make_shared<const Call>(std::move(call)), id](Result<> done) {
    if (!done) return shared->fail(done.error());
    shared->answer(JsonWriter().begin_object().key("revoked").string(id).end_object().text());
  };
  if (id.starts_with("br_")) {
    world.node.revoke_browser(std::move(request), id, answer);
  } else {
    world.node.revoke_token(std::move(request), id, answer);
  }
}

}  // namespace

void add_token_routes(Router& router, ApiWorld& world, Gate& gate) {
  router.add({.method = "GET",
              .pattern = "/api/tokens",
              .access = Access::admin,
              .summary = "The tokens and browsers that are let in.",
              .handler = [&world, &gate](Call call) { list_tokens(world, gate, call); }});
  router.add({.method = "POST",
              .pattern = "/api/tokens",
              .access = Access::admin,
              .summary = "Makes a token; its text is shown this once.",
              .handler = [&world, &gate](Call call) { make_token(world, gate, std::move(call)); },
              .body_bytes_max = 1UL << 20});
  router.add({.method = "DELETE",
              .pattern = "/api/tokens/{id}",
              .access = Access::admin,
              .summary = "Revokes a token or logs a browser out.",
              .handler = [&world](Call call) {
                const std::string& id = call.arguments.at(0);
                const bool is_browser = id.starts_with("br_");
                AuditEntry entry =
                    audit_entry(world, call, is_browser ? "browser.sign_out" : "token.revoke");
                entry.on = {id};
                entry.essential = true;
                audited(world, std::move(call), std::move(entry),
                        [&world](Call noted) { revoke(world, std::move(noted)); });
              }});
}

}  // namespace perdure
