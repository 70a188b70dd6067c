#include "core/auth/pipeline.h"

#include <algorithm>

#include "base/limits.h"
#include "core/auth/address.h"

namespace perdure {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

bool is_json(std::string_view content_type) {
  const std::string type = lower(trim(content_type.substr(0, content_type.find(';'))));
  return type == "application/json" ||
         (type.starts_with("application/") && type.ends_with("+json"));
}

std::vector<std::string_view> cookies_named(std::string_view name, const HeaderValues& headers) {
  std::vector<std::string_view> values;
  for (std::string_view rest : headers) {
    while (!rest.empty()) {
      const std::string_view pair = trim(rest.substr(0, rest.find(';')));
      rest.remove_prefix(std::min(rest.size(), rest.find(';') == std::string_view::npos
                                                   ? rest.size()
                                                   : rest.find(';') + 1));
      const std::size_t equals = pair.find('=');
      if (equals != std::string_view::npos && pair.substr(0, equals) == name) {
        values.push_back(pair.substr(equals + 1));
      }
    }
  }
  return values;
}

Result<> check_key(const HeaderValues& keys) {
  const bool is_one = keys.size() == 1 && !keys.front().empty() &&
                      keys.front().size() <= idempotency_key_bytes_max &&
                      std::ranges::all_of(keys.front(), [](char c) { return c > ' ' && c < 127; });
  if (is_one) return {};
  return fail(Code::invalid_argument, "Idempotency-Key: expected one, of 1 to " +
                                          std::to_string(idempotency_key_bytes_max) +
                                          " visible characters");
}

// A browser can be at the other end of a forwarded socket (ssh -L), with a name that an attacker
// resolves to this machine: such a name has a dot. Names used by programs and people do not.
Result<> check_unix_host(const HeaderValues& hosts, const OwnNames& own) {
  if (hosts.empty() || (hosts.size() == 1 && hosts.front().empty())) return {};
  const std::optional<Authority> host =
      hosts.size() == 1 ? parse_authority(hosts.front()) : std::nullopt;
  if (!host) return fail(Code::misdirected, "expected one Host header");
  const bool is_address = parse_ipv4(host->host) || parse_ipv6(host->host);
  if (is_address || !host->host.contains('.') || own.has_host(*host)) return {};
  return fail(Code::misdirected,
              "this daemon does not answer to that Host; use http://localhost over its socket");
}

}  // namespace

Result<> check_host(const RequestFacts& facts, const OwnNames& own) {
  if (facts.is_unix) return check_unix_host(facts.host, own);
  if (!facts.target.starts_with('/')) {
    return fail(Code::misdirected, "the request's target is not a path");
  }
  if (facts.host.size() != 1) { return fail(Code::misdirected, "expected one Host header"); }
  const std::optional<Authority> host = parse_authority(facts.host.front());
  if (host && own.has_host(*host)) return {};
  return fail(Code::misdirected, "this daemon does not answer to that Host");
}

Result<> check_site(const RequestFacts& facts, const OwnNames& own) {
  for (const std::string_view site : facts.fetch_site) {
    if (site != "same-origin" && site != "none") {
      return fail(Code::denied, "the request comes from another site");
    }
  }
  if (facts.origin.empty()) return {};
  const std::optional<WebOrigin> origin =
      facts.origin.size() == 1 ? parse_origin(facts.origin.front()) : std::nullopt;
  if (origin && own.has_origin(*origin)) return {};
  return fail(Code::denied, "the request comes from another origin");
}

Result<Credentials> read_credentials(const RequestFacts& facts, std::string_view cookie_name) {
  Credentials out;
  if (facts.authorization.size() > 1 || facts.page_key.size() > 1) {
    return fail(Code::unauthenticated, "credentials were given twice");
  }
  if (!facts.authorization.empty()) {
    const std::string_view text = facts.authorization.front();
    if (lower(text.substr(0, 7)) != "bearer ") {
      return fail(Code::unauthenticated, "expected Authorization: Bearer and a token");
    }
    out.bearer = trim(text.substr(7));
    if (out.bearer.empty()) return fail(Code::unauthenticated, "the token is empty");
  }
  out.cookies = cookies_named(cookie_name, facts.cookie);
  if (!facts.page_key.empty()) out.page_key = facts.page_key.front();
  return out;
}

Result<> check_upgrade(const RequestFacts& facts, const Credentials& credentials) {
  if (!facts.is_upgrade || !facts.origin.empty() || !credentials.bearer.empty()) return {};
  return fail(Code::unauthenticated, "a WebSocket without an Origin needs a bearer token");
}

Result<> check_mutation(const RequestFacts& facts, BodyType body, Caller caller) {
  if (!facts.is_mutation()) return {};
  if (caller == Caller::page &&
      (facts.page_client.size() != 1 || facts.page_client.front() != "1")) {
    return fail(Code::denied, "a page sends X-Perdure-Client: 1 with each change");
  }
  if (facts.content_type.size() > 1) {
    return fail(Code::invalid_argument, "Content-Type was given twice");
  }
  const bool has_type = !facts.content_type.empty();
  if (body == BodyType::json && (has_type || facts.has_body) &&
      (!has_type || !is_json(facts.content_type.front()))) {
    return fail(Code::invalid_argument, "Content-Type: expected application/json");
  }
  if (!facts.idempotency_key.empty()) return check_key(facts.idempotency_key);
  if (caller == Caller::page && facts.method == "POST") {
    return fail(Code::invalid_argument, "a page sends an Idempotency-Key with each POST");
  }
  return {};
}

}  // namespace perdure
