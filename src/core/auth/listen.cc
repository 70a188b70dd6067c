#include "core/auth/listen.h"

#include <algorithm>

#include "core/auth/address.h"

namespace perdure {
namespace {

ListenAddress from_ipv4(const Ipv4& address) {
  const bool is_any = std::ranges::all_of(address, [](auto byte) { return byte == 0; });
  return {format_ipv4(address), is_any              ? Reach::wildcard
                                : address[0] == 127 ? Reach::loopback
                                                    : Reach::network};
}

ListenAddress from_ipv6(const Ipv6& address) {
  // Bound as IPv4: a mapped address reaches the same hosts as the address inside it.
  if (const auto inside = mapped_ipv4(address)) return from_ipv4(*inside);
  const bool starts_zero =
      std::all_of(address.begin(), address.end() - 1, [](auto byte) { return byte == 0; });
  const Reach reach = !starts_zero || address[15] > 1 ? Reach::network
                      : address[15] == 1              ? Reach::loopback
                                                      : Reach::wildcard;
  return {format_ipv6(address), reach};
}

}  // namespace

Result<ListenAddress> parse_listen_host(std::string_view host) {
  if (host == "localhost") return ListenAddress{"127.0.0.1", Reach::loopback};
  if (host.empty() || host == "*") return ListenAddress{"0.0.0.0", Reach::wildcard};
  if (const auto v4 = parse_ipv4_loose(host)) return from_ipv4(*v4);
  std::string_view inside = host;
  if (inside.starts_with('[') && inside.ends_with(']'))
    inside = inside.substr(1, inside.size() - 2);
  if (const auto v6 = parse_ipv6(inside)) return from_ipv6(*v6);
  return fail(Code::invalid_argument, "'" + std::string(host) + "' is not an address to listen on");
}

Result<ListenAddress> check_listen_host(std::string_view host, Transport transport) {
  ListenAddress address = TRY(parse_listen_host(host));
  if (address.reach != Reach::loopback && transport == Transport::plain) {
    return fail(Code::denied,
                address.host + " can be reached by others: listening there needs TLS");
  }
  return address;
}

}  // namespace perdure
