#include "net/head.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/limits.h"
#include "net/target.h"
#include "net/websocket/letters.h"

namespace perdure {
namespace {

using Refused = std::unexpected<Refusal>;

Refused refuse(std::string_view why, int status = 400) { return Refused(Refusal{status, why}); }

bool is_field_char(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

// Removes and returns the first line; the head is known to end with an empty one.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find("\r\n");
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(rest.size(), end + 2));
  return line;
}

struct Version {
  int minor = 1;
};

std::expected<Version, Refusal> parse_version(std::string_view text) {
  if (text == "HTTP/1.1") return Version{1};
  if (text == "HTTP/1.0") return Version{0};
  if (text.starts_with("HTTP/") && text.size() == 8) return refuse("only HTTP/1.1 is spoken", 505);
  return refuse("the first line is not one of HTTP");
}

std::expected<std::vector<HttpHeader>, Refusal> parse_fields(std::string_view rest) {
  std::vector<HttpHeader> out;
  for (;;) {
    const std::string_view line = take_line(rest);
    if (line.empty()) break;
    if (out.size() == http_headers_max) return refuse("too many headers", 431);
    if (line.front() == ' ' || line.front() == '\t') return refuse("a header goes over two lines");
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return refuse("a header without a colon");
    const std::string_view name = line.substr(0, colon);
    if (!is_token(name)) return refuse("a header's name is malformed");
    const std::string_view value = trim_blanks(line.substr(colon + 1));
    if (!std::ranges::all_of(value, is_field_char)) return refuse("a header's value is malformed");
    out.push_back({std::string(name), std::string(value)});
  }
  if (!rest.empty()) return refuse("unexpected bytes after the head");
  return out;
}

// The value of a header that must not be repeated; empty if absent.
struct Only {
  std::size_t count = 0;
  std::string_view value;
};

Only only(const std::vector<HttpHeader>& headers, std::string_view name) {
  Only out;
  for (const HttpHeader& header : headers) {
    if (!equal_ignoring_case(header.name, name)) continue;
    ++out.count;
    out.value = header.value;
  }
  return out;
}

bool any_lists(const std::vector<HttpHeader>& headers, std::string_view name,
               std::string_view word) {
  return std::ranges::any_of(headers, [&](const HttpHeader& header) {
    return equal_ignoring_case(header.name, name) && list_has(header.value, word);
  });
}

// The framing according to its two headers; `none` if both are absent.
std::expected<BodyFraming, Refusal> parse_framing(const std::vector<HttpHeader>& headers,
                                                  Version version) {
  const Only length = only(headers, "content-length");
  const Only coding = only(headers, "transfer-encoding");
  if (length.count > 1) return refuse("Content-Length is given twice");
  if (coding.count > 1) return refuse("Transfer-Encoding is given twice");
  if (length.count + coding.count > 1) return refuse("the body's length is given in two ways");
  if (coding.count == 1) {
    if (version.minor == 0) return refuse("HTTP/1.0 has no Transfer-Encoding");
    if (!equal_ignoring_case(coding.value, "chunked")) {
      return refuse("this Transfer-Encoding is not spoken", 501);
    }
    return BodyFraming{BodyKind::chunked};
  }
  if (length.count == 0) return BodyFraming{};
  std::uint64_t bytes = 0;
  const char* end = length.value.data() + length.value.size();
  const auto [at, error] = std::from_chars(length.value.data(), end, bytes);
  if (length.value.empty() || error != std::errc() || at != end) {
    return refuse("Content-Length is not a number");
  }
  return BodyFraming{BodyKind::length, bytes};
}

std::expected<void, Refusal> check_host(const RequestHead& head, std::string_view authority) {
  const Only host = only(head.request.headers, "host");
  if (host.count > 1) return refuse("Host is given twice");
  if (host.count == 0 && !head.is_http_1_0) return refuse("Host is missing");
  if (!authority.empty() && !equal_ignoring_case(authority, host.value)) {
    return refuse("the target names another host than Host");
  }
  return {};
}

}  // namespace

HeadSearch find_head_end(std::string_view bytes, std::size_t searched) {
  // Goes back over the characters that may be the start of an end.
  std::size_t at = searched > 3 ? searched - 3 : 0;
  while ((at = bytes.find('\n', at)) != std::string_view::npos) {
    if (at == 0 || bytes[at - 1] != '\r') return {HeadEnd::broken};
    if (at == 1) return {HeadEnd::broken};  // an empty first line
    if (bytes[at - 2] == '\n') return {HeadEnd::found, at + 1};
    ++at;
  }
  return {};
}

std::expected<RequestHead, Refusal> parse_request_head(std::string_view head) {
  if (!head.ends_with("\r\n\r\n")) return refuse("the head has no end");
  std::string_view rest = head;
  const std::string_view line = take_line(rest);
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last)
    return refuse("the first line is malformed");
  RequestHead out;
  HttpRequest& request = out.request;
  request.method = line.substr(0, first);
  if (!is_token(request.method)) return refuse("the method is malformed");
  const auto version = parse_version(line.substr(last + 1));
  if (!version) return Refused(version.error());
  out.is_http_1_0 = version->minor == 0;

  auto target = parse_target(line.substr(first + 1, last - first - 1));
  if (!target) return Refused(target.error());
  request.target = line.substr(first + 1, last - first - 1);
  request.path = std::move(target->path);
  request.query = std::move(target->query);

  auto headers = parse_fields(rest);
  if (!headers) return Refused(headers.error());
  request.headers = std::move(*headers);
  const auto framing = parse_framing(request.headers, *version);
  if (!framing) return Refused(framing.error());
  out.body = *framing;
  if (const auto host = check_host(out, target->authority); !host) return Refused(host.error());

  out.keeps_alive = !out.is_http_1_0 && !any_lists(request.headers, "connection", "close");
  out.expects_continue = !out.is_http_1_0 && any_lists(request.headers, "expect", "100-continue");
  if (only(request.headers, "expect").count > 0 && !out.expects_continue && !out.is_http_1_0) {
    return refuse("only 100-continue can be expected", 417);
  }
  request.wants_websocket = !out.is_http_1_0 && request.method == "GET" &&
                            any_lists(request.headers, "upgrade", "websocket") &&
                            any_lists(request.headers, "connection", "upgrade");
  return out;
}

Result<ResponseHead> parse_response_head(std::string_view head, std::string_view method) {
  const auto broken = [](std::string_view why) {
    return fail(Code::unavailable, "the answer is malformed: " + std::string(why));
  };
  if (!head.ends_with("\r\n\r\n")) return broken("its head has no end");
  std::string_view rest = head;
  const std::string_view line = take_line(rest);
  const auto version = parse_version(line.substr(0, line.find(' ')));
  if (!version) return broken(version.error().why);
  ResponseHead out;
  const std::string_view code = line.size() >= 12 ? line.substr(9, 3) : "";
  const auto [at, error] =
      std::from_chars(code.data(), code.data() + code.size(), out.response.status);
  if (code.size() != 3 || error != std::errc() || at != code.data() + 3 ||
      out.response.status < 100 || out.response.status > 599 ||
      (line.size() > 12 && line[12] != ' ')) {
    return broken("it has no status");
  }
  auto headers = parse_fields(rest);
  if (!headers) return broken(headers.error().why);
  out.response.headers = std::move(*headers);
  const auto framing = parse_framing(out.response.headers, *version);
  if (!framing) return broken(framing.error().why);
  const int status = out.response.status;
  const bool has_none = status / 100 == 1 || status == 204 || status == 304 || method == "HEAD";
  if (!has_none) {
    out.body = *framing;
    if (out.body.kind == BodyKind::none) out.body.kind = BodyKind::until_end;
  }
  return out;
}

}  // namespace perdure
