#include "client/endpoint.h"

#include <charconv>
#include <cstdint>
#include <optional>

namespace perdure::client {
namespace {

constexpr std::uint16_t default_port = 7433;

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_' || c == ':';
}

struct HostAndPort {
  std::string_view host;
  std::string_view port;  // empty: none given
};

std::optional<HostAndPort> split(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && !rest.starts_with(':')) return std::nullopt;
    return HostAndPort{text.substr(1, end - 1), rest.empty() ? rest : rest.substr(1)};
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return HostAndPort{text, {}};
  if (text.find(':', colon + 1) != std::string_view::npos) return std::nullopt;
  return HostAndPort{text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace

Result<std::string> data_folder_of(const Environment& environment) {
  if (const auto home = environment("PERDURE_HOME")) return *home;
  if (const auto state = environment("XDG_STATE_HOME")) return *state + "/perdure";
  if (const auto home = environment("HOME")) return *home + "/.local/state/perdure";
  return fail(Code::invalid_argument, "none of PERDURE_HOME, XDG_STATE_HOME and HOME is set");
}

Result<HttpEndpoint> parse_endpoint(std::string_view url) {
  const auto wrong = [&] {
    return fail(Code::invalid_argument, "'" + std::string(url) +
                                            "' is not the URL of a daemon; expected " +
                                            "https://host:7433 or http://127.0.0.1:7433");
  };
  HttpEndpoint endpoint;
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    endpoint.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return wrong();
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const auto parts = split(rest);
  if (!parts || parts->host.empty()) return wrong();
  for (const char c : parts->host) {
    if (!is_host_character(c)) return wrong();
  }
  endpoint.host = parts->host;
  endpoint.port = default_port;
  if (!parts->port.empty() || rest.ends_with(':')) {
    const char* end = parts->port.data() + parts->port.size();
    const auto read = std::from_chars(parts->port.data(), end, endpoint.port);
    if (read.ec != std::errc() || read.ptr != end || endpoint.port == 0) return wrong();
  }
  if (!endpoint.tls && !is_loopback(endpoint.host)) {
    return fail(Code::denied, "the token would go to " + endpoint.host +
                                  " in the clear: use https://, or a tunnel to 127.0.0.1");
  }
  return endpoint;
}

HttpEndpoint socket_endpoint(const std::string& data_folder) {
  HttpEndpoint endpoint;
  endpoint.unix_folder = data_folder + "/run";
  endpoint.unix_name = "perdure.sock";
  return endpoint;
}

std::string host_header(const HttpEndpoint& endpoint) {
  if (!endpoint.unix_folder.empty()) return "localhost";
  const bool is_v6 = endpoint.host.contains(':');
  return (is_v6 ? "[" + endpoint.host + "]" : endpoint.host) + ":" + std::to_string(endpoint.port);
}

}  // namespace perdure::client
