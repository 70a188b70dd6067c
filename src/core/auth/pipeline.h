// The checks that every request passes, in this order, as functions of plain values: Host, site of
// origin, credentials, form of a change. Each rejects or accepts; none has side effects or state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/auth/origin.h"

namespace perdure {

using HeaderValues = std::vector<std::string_view>;  // every value of one header, in order

// The parts of a request's head that the checks need. The views live as long as the request.
struct RequestFacts {
  std::string_view method;
  std::string_view target;  // as sent
  bool is_unix = false;
  bool has_body = false;
  bool is_upgrade = false;
  bool is_forwarded = false;  // by a proxy
  HeaderValues host;
  HeaderValues origin;
  HeaderValues fetch_site;  // Sec-Fetch-Site
  HeaderValues authorization;
  HeaderValues cookie;
  HeaderValues page_key;     // X-Perdure-Key
  HeaderValues page_client;  // X-Perdure-Client
  HeaderValues content_type;
  HeaderValues idempotency_key;
  HeaderValues user_agent;

  // Browsers send these headers on every request that could come from another site's page.
  bool is_from_browser() const { return !origin.empty() || !fetch_site.empty(); }
  // Every browser sends this, even if it sends neither of the two above. A program may do so, too.
  bool has_browser_name() const {
    return !user_agent.empty() && user_agent.front().starts_with("Mozilla/");
  }
  bool is_mutation() const { return method != "GET" && method != "HEAD"; }
};

// TCP: exactly one Host, one of our own, and a target that is a path. Unix socket: no Host, one of
// our own, an address, or a name without a dot, such as localhost. Otherwise misdirected (421).
Result<> check_host(const RequestFacts& facts, const OwnNames& own);

// denied (403) if Sec-Fetch-Site is neither same-origin nor none, or if an Origin is not ours.
Result<> check_site(const RequestFacts& facts, const OwnNames& own);

struct Credentials {
  std::string_view bearer;                // empty: none
  std::vector<std::string_view> cookies;  // values of our cookie; another port may have added some
  std::string_view page_key;
  bool has_page() const { return !cookies.empty() && !page_key.empty(); }
};

// `cookie_name` is ours. Two Authorization headers, or one of another scheme: unauthenticated.
Result<Credentials> read_credentials(const RequestFacts& facts, std::string_view cookie_name);

// An upgrade without an Origin comes from a program, which must send a token: else unauthenticated.
Result<> check_upgrade(const RequestFacts& facts, const Credentials& credentials);

enum class BodyType { json, any };
enum class Caller { program, page };

// A request that changes something: JSON, from a page with `X-Perdure-Client: 1`, which no form or
// simple request can send, and an Idempotency-Key for each POST. Otherwise invalid_argument, or
// denied for a page.
Result<> check_mutation(const RequestFacts& facts, BodyType body, Caller caller);

}  // namespace perdure
