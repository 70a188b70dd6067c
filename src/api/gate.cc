#include "api/gate.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace perdure {
namespace {

bool equal_names(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
    return lower(x) == lower(y);
  });
}

template <class Row>
bool is_expired(const Row& row, Timestamp now) {
  return row.expires && *row.expires <= now;
}

Error unknown_credentials() {
  return Error(Code::unauthenticated, "these credentials are not known here");
}

// The source for which failures are counted.
std::string source_of(const HttpPeer& peer) {
  return peer.is_unix ? "uid:" + std::to_string(peer.uid) : peer.address;
}

// A process inside a session acts as that session, with any credentials: operate at most.
Principal inside_of(const CallerOrigin& origin, std::shared_ptr<const SessionReach> reach,
                    Principal principal) {
  principal.reach = std::move(reach);
  principal.id = "session:" + origin.session.text();
  principal.scope = std::min(principal.scope, Scope::operate);
  principal.hosted = origin.session;
  principal.doubt = origin.doubt;
  return principal;
}

}  // namespace

RequestFacts facts_of(const HttpRequest& request) {
  RequestFacts facts{.method = request.method,
                     .target = request.target,
                     .is_unix = request.peer && request.peer->is_unix,
                     .has_body = !request.body.empty()};
  const std::pair<std::string_view, HeaderValues*> wanted[] = {
      {"Host", &facts.host},
      {"Origin", &facts.origin},
      {"Sec-Fetch-Site", &facts.fetch_site},
      {"Authorization", &facts.authorization},
      {"Cookie", &facts.cookie},
      {"X-Perdure-Key", &facts.page_key},
      {"X-Perdure-Client", &facts.page_client},
      {"Content-Type", &facts.content_type},
      {"Idempotency-Key", &facts.idempotency_key},
      {"User-Agent", &facts.user_agent},
  };
  for (const HttpHeader& header : request.headers) {
    for (const auto& [name, values] : wanted) {
      if (equal_names(header.name, name)) values->push_back(header.value);
    }
    if (equal_names(header.name, "Upgrade")) facts.is_upgrade = true;
    if (equal_names(header.name, "Transfer-Encoding")) facts.has_body = true;
    if (equal_names(header.name, "Content-Length") && header.value != "0") facts.has_body = true;
    for (const std::string_view proxy : {"Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"}) {
      if (equal_names(header.name, proxy)) facts.is_forwarded = true;
    }
  }
  return facts;
}

Gate::Gate(World world, GateConfig config)
    : world_(world),
      config_(std::move(config)),
      began_(world.clock.now()),
      launches_({.granted_ms = launch_token_ms, .count_max = launch_tokens_max}),
      tickets_({.granted_ms = ticket_ms, .count_max = tickets_max}) {}

Timestamp Gate::wall_now() const {
  const Moment now = world_.clock.now();
  const std::int64_t elapsed_ms = now.since_boot.ms - began_.since_boot.ms;
  return {std::max(now.wall.ms, began_.wall.ms + elapsed_ms)};
}

Result<> Gate::check_place(const HttpRequest& request) const {
  const RequestFacts facts = facts_of(request);
  TRY_VOID(check_host(facts, config_.names));
  return check_site(facts, config_.names);
}

Result<> Gate::check_change(const HttpRequest& request, BodyType body,
                            const Principal* caller) const {
  const RequestFacts facts = facts_of(request);
  const bool is_page = facts.is_from_browser() || (caller && caller->from_browser);
  return check_mutation(facts, body, is_page ? Caller::page : Caller::program);
}

Result<Principal> Gate::by_token(std::string_view text) {
  const Hash hash = sha256(text);
  Principal out;
  // The admin token is read from disk, so a person may have replaced its text.
  if (equal_constant_time(hash, config_.admin_token)) {
    out = {.id = "token:admin", .scope = Scope::admin, .credential = "token:admin"};
  }
  const Timestamp wall = wall_now();
  const bool has_form = is_secret(SecretKind::token, text);
  for (const auto& [id, row] : world_.node.state().tokens) {
    if (!has_form || !equal_constant_time(hash, row.text_hash) || is_expired(row, wall)) continue;
    out = {.id = "token:" + id,
           .scope = row.scope,
           .sessions = row.sessions,
           .credential = "token:" + id};
  }
  if (out.id.empty()) return std::unexpected(unknown_credentials());
  note_use(out.credential);
  return out;
}

Result<Principal> Gate::by_page(const Credentials& credentials) {
  const Timestamp wall = wall_now();
  const Hash key = sha256(credentials.page_key);
  for (const auto& [id, row] : world_.node.state().browsers) {
    // Checks the key first: without a valid key, any number of cookies costs nothing.
    if (!equal_constant_time(key, row.key_hash) || is_expired(row, wall)) continue;
    for (const std::string_view cookie : credentials.cookies) {
      if (!equal_constant_time(sha256(cookie), row.cookie_hash)) continue;
      note_use("browser:" + id);
      return Principal{.id = "browser:" + id,
                       .scope = Scope::admin,
                       .from_browser = true,
                       .credential = "browser:" + id};
    }
  }
  return std::unexpected(unknown_credentials());
}

Result<Principal> Gate::by_ticket(const HttpRequest& request, Ticket ticket) {
  const auto text = request.parameter("ticket");
  if (!text || !is_secret(SecretKind::ticket, *text)) return std::unexpected(unknown_credentials());
  const Hash hash = sha256(*text);
  std::optional<Principal> found =
      ticket == Ticket::take ? tickets_.take(hash, now()) : tickets_.look(hash, now());
  if (!found || !still_valid(*found)) return std::unexpected(unknown_credentials());
  return std::move(*found);
}

bool Gate::is_own_user(const RequestFacts& facts, const HttpPeer& peer) const {
  // A caller through a proxy does not get the proxy's rights.
  return facts.is_unix && !facts.is_forwarded && !facts.is_from_browser() &&
         !facts.has_browser_name() && (peer.uid == config_.uid || peer.uid == 0);
}

Result<Principal> Gate::by_credentials(const HttpRequest& request, const RequestFacts& facts,
                                       Ticket ticket) {
  const Credentials credentials = TRY(read_credentials(facts, cookie_name(request)));
  const bool is_own = is_own_user(facts, *request.peer);
  if (!is_own) TRY_VOID(check_upgrade(facts, credentials));
  if (!credentials.bearer.empty()) return by_token(credentials.bearer);
  if (facts.is_upgrade && request.parameter("ticket")) return by_ticket(request, ticket);
  if (credentials.has_page()) return by_page(credentials);
  if (is_own) {
    return Principal{.id = "uid:" + std::to_string(request.peer->uid), .scope = Scope::admin};
  }
  return fail(Code::unauthenticated, "a token is needed");
}

Result<Principal> Gate::identify(const HttpRequest& request, Ticket ticket, Origins origins) {
  const RequestFacts facts = facts_of(request);
  if (!request.peer) return fail(Code::unauthenticated, "the sender is not known");
  Result<Principal> principal = by_credentials(request, facts, ticket);
  if (!principal) return std::unexpected(refused(request, std::move(principal).error()));
  if (!request.peer->is_unix && origins == Origins::skip_tcp) return principal;
  if (origins == Origins::if_known && !known_origin(request)) return principal;
  const CallerOrigin from = origin(request);
  if (from.session) return inside_of(from, config_.reach, std::move(*principal));
  return principal;
}

std::int64_t Gate::refusal_delay_ms(const HttpRequest& request) const {
  return request.peer ? failures_.delay_ms(source_of(*request.peer), now()) : 0;
}

Error Gate::refused(const HttpRequest& request, Error error) {
  if (!failures_.note(source_of(*request.peer), now())) return error;
  return Error(Code::limit_reached, "too many failed logins: try again in some seconds");
}

SessionId unknown_session() { return SessionId(Ulid{~0UL, ~0UL}); }

void Gate::note_origin(int descriptor, HttpPeer& peer) const {
  if (peer.is_unix && config_.local_origin) peer.origin = config_.local_origin(descriptor);
}

void Gate::remember(std::shared_ptr<const HttpPeer> peer, CallerOrigin origin) {
  if (origins_.size() >= peers_known_max) {
    std::erase_if(origins_, [](const auto& entry) { return entry.second.first.expired(); });
  }
  origins_[peer.get()] = {peer, std::move(origin)};
}

std::optional<CallerOrigin> Gate::known_origin(const HttpRequest& request) const {
  if (!request.peer) return CallerOrigin{};
  if (request.peer->is_unix) return request.peer->origin;
  if (!config_.find_tcp_origin) return CallerOrigin{};
  const auto at = origins_.find(request.peer.get());
  if (at != origins_.end() && at->second.first.lock() == request.peer) return at->second.second;
  return std::nullopt;
}

bool Gate::knows_origin(const HttpRequest& request) const {
  return known_origin(request).has_value();
}

void Gate::find_origin(const HttpRequest& request, std::string source,
                       std::move_only_function<void(Result<>)> done) {
  config_.find_tcp_origin(request.peer, std::move(source),
                          [this, exists = exists_, peer = request.peer,
                           done = std::move(done)](Result<CallerOrigin> found) mutable {
                            if (!*exists) return;
                            if (!found) return done(std::unexpected(std::move(found).error()));
                            remember(std::move(peer), std::move(*found));
                            done({});
                          });
}

CallerOrigin Gate::origin(const HttpRequest& request) const {
  const CallerOrigin not_found{unknown_session(), "nobody looked where it comes from"};
  return known_origin(request).value_or(not_found);
}

bool credential_stands(const Principal& principal, const NodeState& node, Timestamp now) {
  const std::string_view credential =
      principal.credential.empty() ? principal.id : principal.credential;
  const auto stands = [&](const auto& rows, std::string_view prefix) {
    const auto at = rows.find(std::string(credential.substr(prefix.size())));
    return at != rows.end() && !is_expired(at->second, now);
  };
  if (credential == "token:admin") return true;
  if (credential.starts_with("token:")) return stands(node.tokens, "token:");
  if (credential.starts_with("browser:")) return stands(node.browsers, "browser:");
  return true;  // identified by the kernel, which is never revoked
}

bool Gate::still_valid(const Principal& principal) const {
  return credential_stands(principal, world_.node.state(), wall_now());
}

std::string Gate::make_secret_text(SecretKind kind) {
  Random& random = world_.random;
  return make_secret(kind, {random.next(), random.next(), random.next(), random.next()});
}

std::string Gate::make_launch_token(const Principal& by) {
  std::string text = make_secret_text(SecretKind::launch);
  launches_.add(sha256(text), by, now());
  return text;
}

std::string Gate::make_ticket(const Principal& by) {
  std::string text = make_secret_text(SecretKind::ticket);
  tickets_.add(sha256(text), by, now());
  return text;
}

bool Gate::is_launch_token(std::string_view text) const {
  const auto by = is_secret(SecretKind::launch, text) ? launches_.look(sha256(text), now())
                                                      : std::optional<Principal>();
  return by && still_valid(*by);
}

Result<Principal> Gate::take_launch_token(const HttpRequest& request, std::string_view text) {
  std::optional<Principal> by;
  if (is_secret(SecretKind::launch, text)) by = launches_.take(sha256(text), now());
  if (by && still_valid(*by)) return std::move(*by);
  return std::unexpected(refused(
      request, Error(Code::unauthenticated, "the launch token is unknown, used or too old")));
}

void Gate::give_back_launch_token(std::string_view text, const Principal& by) {
  launches_.add(sha256(text), by, now());
}

void Gate::note_use(const std::string& credential) {
  // Keep only what still exists.
  if (last_used_.size() >= tokens_max + browsers_max) {
    std::erase_if(last_used_, [&](const auto& entry) {
      return !still_valid(Principal{.credential = entry.first});
    });
  }
  last_used_[credential] = world_.clock.now().wall;
}

std::optional<Timestamp> Gate::last_used(const std::string& credential) const {
  const auto at = last_used_.find(credential);
  if (at == last_used_.end()) return std::nullopt;
  return at->second;
}

std::string Gate::cookie_name(const HttpRequest& request) {
  return "perdure_" + std::to_string(request.peer ? request.peer->local_port : 0);
}

bool Gate::is_secure(const HttpRequest& request) {
  const auto origin = request.header("Origin");
  return origin && origin->starts_with("https://");
}

}  // namespace perdure
