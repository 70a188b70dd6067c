// The checks that every request passes, in this order, as functions of plain values: Host, site of
// origin, credentials, form of a change. Each says no or lets pass; none looks anything up.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/origin.h"
#include "base/result.h"

namespace perdure {

using HeaderValues = std::vector<std::string_view>;  // every value of one header, in order

// What the checks need of a request's head. The views live as long as the request.
struct RequestFacts {
  std::string_view method;
  std::string_view target;  // as sent
  bool is_unix = false;
  bool has_body = false;
  bool is_upgrade = false;
  bool is_forwarded = false;  // a proxy stands in between
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

  // A browser says so itself, on every request that could be a stranger's page.
  bool is_from_browser() const { return !origin.empty() || !fetch_site.empty(); }
  // Every browser writes this, also where it sends neither of the two above. A program may too.
  bool has_browser_name() const {
    return !user_agent.empty() && user_agent.front().starts_with("Mozilla/");
  }
  bool is_mutation() const { return method != "GET" && method != "HEAD"; }
};

// TCP: exactly one Host, one of our own, and a target that is a path. Unix socket: no Host, one of
// our own, an address, or a name without a dot, such as localhost. Else misdirected (421).
Result<> check_host(const RequestFacts& facts, const OwnNames& own);

// Sec-Fetch-Site neither same-origin nor none, or an Origin that is not ours: denied (403).
Result<> check_site(const RequestFacts& facts, const OwnNames& own);

struct Credentials {
  std::string_view bearer;                // empty: none
  std::vector<std::string_view> cookies;  // values of our cookie; another port may have added some
  std::string_view page_key;
  bool has_page() const { return !cookies.empty() && !page_key.empty(); }
};

// `cookie_name` is ours. Two Authorization headers, or one of another scheme: unauthenticated.
Result<Credentials> read_credentials(const RequestFacts& facts, std::string_view cookie_name);

// An upgrade that names no Origin comes from a program, and must bring a token: unauthenticated.
Result<> check_upgrade(const RequestFacts& facts, const Credentials& credentials);

enum class BodyType { json, any };
enum class Caller { program, page };

// What changes something: JSON, as a page `X-Perdure-Client: 1`, which no form and no simple
// request can send, and an Idempotency-Key with each POST. Else invalid_argument, or denied for a
// page.
Result<> check_mutation(const RequestFacts& facts, BodyType body, Caller caller);

}  // namespace perdure
