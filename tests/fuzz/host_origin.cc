// Any bytes as a Host and as an Origin, given to our parser and to a slow, independent one: regular
// expressions, and the system's functions for addresses. Both must agree on whether the text is one
// of ours, and an accepted text must have exactly one meaning.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <regex>
#include <string>
#include <string_view>

#include <arpa/inet.h>

#include "base/check.h"
#include "core/auth/origin.h"

namespace perdure {
namespace {

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return text;
}

// An address in brackets that the system parses and prints unchanged. The system prints a trailing
// IPv4 part with dots, browsers in hex.
bool is_reference_ipv6(const std::string& text) {
  in6_addr address{};
  if (inet_pton(AF_INET6, text.c_str(), &address) != 1) return false;
  char buffer[INET6_ADDRSTRLEN];
  std::string written = inet_ntop(AF_INET6, &address, buffer, sizeof buffer);
  if (written.contains('.')) {
    const std::uint8_t* const end = address.s6_addr + 12;
    char hex[16];
    std::snprintf(hex, sizeof hex, "%x:%x", end[0] << 8 | end[1], end[2] << 8 | end[3]);
    written = written.substr(0, written.rfind(':') + 1) + hex;
  }
  return written == text;
}

std::optional<Authority> reference_authority(const std::string& text) {
  static const std::regex form(
      R"(^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*))(?::([1-9][0-9]{0,4}))?$)");
  if (text.size() > 300 || text.find('\n') != std::string::npos ||
      text.find('\r') != std::string::npos || text.find('\0') != std::string::npos) {
    return std::nullopt;
  }
  std::smatch match;
  if (!std::regex_match(text, match, form)) return std::nullopt;
  Authority out;
  if (match[1].matched) {
    out.host = match[1];
    if (!is_reference_ipv6(out.host)) return std::nullopt;
  } else {
    out.host = lower(match[2]);
    if (out.host.size() > 253) return std::nullopt;
    static const std::regex number(R"(^(?:.*\.)?(?:[0-9]+|0x[a-z0-9_-]*)$)");
    in_addr address{};
    if (std::regex_match(out.host, number) && inet_pton(AF_INET, out.host.c_str(), &address) != 1) {
      return std::nullopt;
    }
  }
  if (match[3].matched) {
    const int port = std::stoi(match[3]);
    if (port > 65535) return std::nullopt;
    out.port = static_cast<std::uint16_t>(port);
  }
  return out;
}

std::optional<WebOrigin> reference_origin(const std::string& text) {
  for (const Scheme scheme : {Scheme::http, Scheme::https}) {
    const std::string start = std::string(enum_text(scheme)) + "://";
    if (text.compare(0, start.size(), start) != 0) continue;
    const auto authority = reference_authority(text.substr(start.size()));
    if (!authority) return std::nullopt;
    return WebOrigin{scheme, authority->host, authority->port.value_or(default_port(scheme))};
  }
  return std::nullopt;
}

void compare(const std::string& text) {
  const auto authority = parse_authority(text);
  CHECK(authority == reference_authority(text), "the two parsers disagree on a host");
  const auto origin = parse_origin(text);
  CHECK(origin == reference_origin(text), "the two parsers disagree on an origin");
  if (origin) CHECK(parse_origin(origin->text()) == origin);
  if (authority) {
    CHECK(authority->host.find_first_of("@#/?%\\ \t\r\n") == std::string::npos);
    CHECK(!authority->host.empty() && authority->host.back() != '.');
  }
}

}  // namespace
}  // namespace perdure

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  perdure::compare(text);
  perdure::compare("http://" + text);
  perdure::OwnNames own;
  own.add_listener(*perdure::parse_listen_host("127.0.0.1"), 7433, perdure::Scheme::http);
  const auto authority = perdure::parse_authority(text);
  const bool is_ours = authority && own.has_host(*authority);
  CHECK(is_ours == (text == "127.0.0.1:7433" || perdure::lower(text) == "localhost:7433"));
  // For any --listen, only loopback is accepted without TLS.
  const auto listen = perdure::check_listen_host(text, perdure::Transport::plain);
  if (listen) CHECK(listen->host.starts_with("127.") || listen->host == "::1");
  return 0;
}
