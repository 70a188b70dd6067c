// Where the daemon may listen. An address that others can reach is refused without TLS, however it
// is spelled.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace perdure {

enum class Reach {
  loopback,  // this host only
  wildcard,  // every address of this host
  network,   // one address that others can reach
};

struct ListenAddress {
  std::string host;  // numeric, in its one spelling: what to bind
  Reach reach = Reach::network;
  bool operator==(const ListenAddress&) const = default;
};

// An address in any spelling that a system would take, `localhost`, `*` or nothing (a wildcard),
// with or without brackets. invalid_argument for a name or anything else.
Result<ListenAddress> parse_listen_host(std::string_view host);

enum class Transport { plain, tls };

// The same, and `denied` when others could reach it and there is no TLS.
Result<ListenAddress> check_listen_host(std::string_view host, Transport transport);

}  // namespace perdure
