// Internet addresses as text, parsed without the system. There are two parsers: requests are parsed
// strictly, so that only one spelling of an address is ours; a person's --listen is parsed as
// liberally as the system would, so that every spelling of a wildcard is recognised.
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
// One to four numbers in decimal, octal or hex, the last one filling the rest, as inet_aton
// accepts.
std::optional<Ipv4> parse_ipv4_loose(std::string_view text);
// Any spelling of RFC 4291, without brackets and without a zone.
std::optional<Ipv6> parse_ipv6(std::string_view text);

std::string format_ipv4(const Ipv4& address);
// The canonical spelling of RFC 5952, as browsers write it: without its IPv4 exception.
std::string format_ipv6(const Ipv6& address);

// The IPv4 address inside ::ffff:a.b.c.d, if the address has this form.
std::optional<Ipv4> mapped_ipv4(const Ipv6& address);

}  // namespace perdure
