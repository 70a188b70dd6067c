// The names that a daemon accepts as its own. A Host or Origin is parsed and compared part by part,
// never by prefix or suffix; ambiguous text is not accepted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/fields.h"
#include "base/result.h"
#include "core/auth/listen.h"

namespace perdure {

enum class Scheme { http, https };
ENUM_TEXT(Scheme, "http", "https");
std::uint16_t default_port(Scheme scheme);

// The content of a Host header.
struct Authority {
  std::string host;  // lower-case name, IPv4 address, or IPv6 address without brackets
  std::optional<std::uint16_t> port;
  bool operator==(const Authority&) const = default;
};

struct WebOrigin {
  Scheme scheme = Scheme::http;
  std::string host;
  std::uint16_t port = 0;
  bool operator==(const WebOrigin&) const = default;

  std::string text() const;  // as a browser writes it: without the scheme's default port
};

// Absent for anything with a user, a path, an empty label, a trailing dot, a port that is empty, 0
// or begins with 0, an address not in canonical form, or a byte outside ASCII.
std::optional<Authority> parse_authority(std::string_view text);
// Exactly scheme://authority; in particular not "null".
std::optional<WebOrigin> parse_origin(std::string_view text);

class OwnNames {
 public:
  // Adds the address itself, and `localhost` if loopback reaches it.
  void add_listener(const ListenAddress& address, std::uint16_t port, Scheme scheme);
  // One of `public_urls`: an origin, with or without a trailing slash. Otherwise invalid_argument.
  Result<> add_public_url(std::string_view url);

  bool has_host(const Authority& authority) const;
  bool has_origin(const WebOrigin& origin) const;
  // The address to show to people: the first public one, else the first listener. Empty: none.
  std::string shown_url() const;

 private:
  void add(WebOrigin origin);

  std::vector<WebOrigin> origins_;
  std::size_t public_ = 0;  // this many at the front come from public_urls
};

}  // namespace perdure
