// Heads of requests and answers, read strictly: whatever two readers could take for two different
// messages is refused (RFC 9112, section 11). Pure; the fuzzer http_request holds it to its rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace perdure {

enum class BodyKind { none, length, chunked, until_end };

// Where the body ends.
struct BodyFraming {
  BodyKind kind = BodyKind::none;
  std::uint64_t bytes = 0;  // of `length`
};

struct RequestHead {
  HttpRequest request;
  BodyFraming body;
  bool is_http_1_0 = false;
  bool keeps_alive = true;  // the connection may be used again
  bool expects_continue = false;
};

struct ResponseHead {
  HttpResponse response;
  BodyFraming body;
};

// What is sent to a client whose request is not taken.
struct Refusal {
  int status = 400;
  std::string_view why;
};

enum class HeadEnd { found, not_yet, broken };
struct HeadSearch {
  HeadEnd end = HeadEnd::not_yet;
  std::size_t bytes = 0;  // of the head, its empty line included
};
// Looks for the end of the head that the bytes begin with. `broken`: a line ends without CR, so
// that no end would ever come. The first `searched` bytes were looked at before.
HeadSearch find_head_end(std::string_view bytes, std::size_t searched);

// The head with its empty line. The peer is not filled in.
std::expected<RequestHead, Refusal> parse_request_head(std::string_view head);

// An answer to a request by that method.
Result<ResponseHead> parse_response_head(std::string_view head, std::string_view method);

}  // namespace perdure
