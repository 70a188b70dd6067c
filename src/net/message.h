// HTTP as the rest of the daemon sees it: plain values. Bytes, sockets and parsers stay in net/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id.h"

namespace perdure {

struct HttpHeader {
  std::string name;  // as sent; compared without regard to case
  std::string value;
  bool operator==(const HttpHeader&) const = default;
};

// Where the process at the other end runs, according to the kernel. Nothing in this folder reads
// it.
struct CallerOrigin {
  SessionId session;  // the hosted session that contains it; null: none
  std::string doubt;  // why it counts as inside an unknown session
  bool operator==(const CallerOrigin&) const = default;
};

struct HttpPeer {
  bool is_unix = false;
  std::uint32_t uid = 0;      // unix socket only
  std::int32_t pid = 0;       // unix socket only; 0: not known
  std::string address;        // TCP only: "127.0.0.1", "::1"
  std::uint16_t port = 0;     // TCP only: theirs
  std::string local_address;  // TCP only: ours
  std::uint16_t local_port = 0;
  CallerOrigin origin;  // unix socket only, as the handler found it at accept
};

struct HttpRequest {
  std::string method;
  std::string target;                                      // as sent
  std::string path;                                        // percent-decoded; begins with '/'
  std::vector<std::pair<std::string, std::string>> query;  // percent-decoded, in order
  std::vector<HttpHeader> headers;                         // in order, including repeated ones
  std::string body;
  std::shared_ptr<const HttpPeer> peer;
  bool wants_websocket = false;  // a GET with `Upgrade: websocket`

  // The value of the only header with that name; nullopt if there is none or more than one.
  std::optional<std::string_view> header(std::string_view name) const;
  std::size_t count(std::string_view name) const;
  // The first query parameter with that name.
  std::optional<std::string_view> parameter(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::vector<HttpHeader> headers;  // Content-Length, Date and Connection are added
  std::string body;
  // Instead of body: bytes that live as long as the program, from an embedded file.
  std::string_view fixed_body;
};

// "Not Found" for 404.
std::string_view reason_phrase(int status);
// %41 -> A; nullopt for an invalid escape.
std::optional<std::string> percent_decode(std::string_view text);
std::string percent_encode(std::string_view text);

}  // namespace perdure
