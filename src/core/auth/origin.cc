#include "core/auth/origin.h"

#include <algorithm>
#include <charconv>

#include "core/auth/address.h"

namespace perdure {
namespace {

constexpr std::size_t host_bytes_max = 253;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<std::uint16_t> parse_port(std::string_view text) {
  if (text.empty() || text.size() > 5 || text.front() == '0') return std::nullopt;
  std::uint32_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(port);
}

// A name of letters, digits, hyphens and underscores in non-empty labels, or a strict IPv4 address.
// Browsers read anything that ends in a number as an address.
std::optional<std::string> parse_name(std::string_view text) {
  if (text.empty() || text.size() > host_bytes_max) return std::nullopt;
  std::string out;
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool is_word = (lower >= 'a' && lower <= 'z') || is_digit(c) || c == '-' || c == '_';
    if (!is_word && (c != '.' || out.empty() || out.back() == '.')) return std::nullopt;
    out += lower;
  }
  if (out.back() == '.') return std::nullopt;
  const std::string_view last = std::string_view(out).substr(out.rfind('.') + 1);
  const bool ends_in_number = std::ranges::all_of(last, is_digit) || last.starts_with("0x");
  if (ends_in_number && !parse_ipv4(out)) return std::nullopt;
  return out;
}

std::optional<std::string> parse_bracketed(std::string_view inside) {
  const auto address = parse_ipv6(inside);
  if (!address || format_ipv6(*address) != inside) return std::nullopt;
  return std::string(inside);
}

}  // namespace

std::uint16_t default_port(Scheme scheme) { return scheme == Scheme::https ? 443 : 80; }

std::string WebOrigin::text() const {
  std::string out(enum_text(scheme));
  out += "://";
  out += host.contains(':') ? "[" + host + "]" : host;
  if (port != default_port(scheme)) out += ":" + std::to_string(port);
  return out;
}

std::optional<Authority> parse_authority(std::string_view text) {
  std::optional<std::string> host;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = parse_bracketed(text.substr(1, end - 1));
    rest = text.substr(end + 1);
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    host = parse_name(text.substr(0, colon));
    rest = text.substr(colon);
  }
  if (!host) return std::nullopt;
  Authority out{.host = std::move(*host)};
  if (rest.empty()) return out;
  if (rest.front() != ':') return std::nullopt;
  out.port = parse_port(rest.substr(1));
  if (!out.port) return std::nullopt;
  return out;
}

std::optional<WebOrigin> parse_origin(std::string_view text) {
  WebOrigin out;
  if (text.starts_with("https://")) {
    out.scheme = Scheme::https;
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    text.remove_prefix(7);
  } else {
    return std::nullopt;
  }
  std::optional<Authority> authority = parse_authority(text);
  if (!authority) return std::nullopt;
  out.host = std::move(authority->host);
  out.port = authority->port.value_or(default_port(out.scheme));
  return out;
}

void OwnNames::add(WebOrigin origin) {
  if (!has_origin(origin)) origins_.push_back(std::move(origin));
}

void OwnNames::add_listener(const ListenAddress& address, std::uint16_t port, Scheme scheme) {
  if (address.reach == Reach::wildcard) {
    add({scheme, "127.0.0.1", port});
    add({scheme, "::1", port});
  } else {
    add({scheme, address.host, port});
  }
  if (address.reach != Reach::network) add({scheme, "localhost", port});
}

Result<> OwnNames::add_public_url(std::string_view url) {
  const std::string_view origin = url.ends_with('/') ? url.substr(0, url.size() - 1) : url;
  std::optional<WebOrigin> parsed = parse_origin(origin);
  if (!parsed) {
    return fail(Code::invalid_argument,
                "public_urls: '" + std::string(url) + "' is not an http or https URL of a host");
  }
  if (has_origin(*parsed)) return {};
  origins_.insert(origins_.begin() + static_cast<std::ptrdiff_t>(public_), std::move(*parsed));
  ++public_;
  return {};
}

bool OwnNames::has_host(const Authority& authority) const {
  return std::ranges::any_of(origins_, [&](const WebOrigin& own) {
    return own.host == authority.host &&
           own.port == authority.port.value_or(default_port(own.scheme));
  });
}

bool OwnNames::has_origin(const WebOrigin& origin) const {
  return std::ranges::find(origins_, origin) != origins_.end();
}

std::string OwnNames::shown_url() const {
  return origins_.empty() ? std::string() : origins_.front().text();
}

}  // namespace perdure
