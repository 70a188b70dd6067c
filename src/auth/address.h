// Internet addresses as text, read without asking the system. Two readings on purpose: a request is
// read strictly, so that only one spelling of an address is ours; what a person gives to --listen
// is read as generously as the system would, so that no spelling of a wildcard slips through.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perdure {

using Ipv4 = std::array<std::uint8_t, 4>;
using Ipv6 = std::array<std::uint8_t, 16>;

// Four decimal numbers without leading zeros.
std::optional<Ipv4> parse_ipv4(std::string_view text);
// One to four numbers in decimal, octal or hex, the last one filling the rest: what inet_aton
// takes.
std::optional<Ipv4> parse_ipv4_loose(std::string_view text);
// Any spelling of RFC 4291, without brackets and without a zone.
std::optional<Ipv6> parse_ipv6(std::string_view text);

std::string format_ipv4(const Ipv4& address);
// The one spelling of RFC 5952, without its exception for embedded IPv4: as browsers write it.
std::string format_ipv6(const Ipv6& address);

// The IPv4 address inside ::ffff:a.b.c.d, if it is such a one.
std::optional<Ipv4> mapped_ipv4(const Ipv6& address);

}  // namespace perdure
