// Where the daemon may listen. An address that other hosts can reach is rejected without TLS, in
// any spelling.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace perdure {

enum class Reach {
  loopback,  // only this host
  wildcard,  // every address of this host
  network,   // one address that other hosts can reach
};

struct ListenAddress {
  std::string host;  // numeric and canonical: the address to bind
  Reach reach = Reach::network;
  bool operator==(const ListenAddress&) const = default;
};

// An address in any spelling that a system would accept, `localhost`, `*` or nothing (a wildcard),
// with or without brackets. invalid_argument for a name or anything else.
Result<ListenAddress> parse_listen_host(std::string_view host);

enum class Transport { plain, tls };

// The same, but `denied` without TLS if other hosts could reach it.
Result<ListenAddress> check_listen_host(std::string_view host, Transport transport);

}  // namespace perdure
