// Parses heads of requests and answers strictly: anything that two readers could understand as
// different messages is refused (RFC 9112, section 11). Pure; tested by the fuzzer http_request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string_view>

#include "base/result.h"
#include "net/message.h"

namespace perdure {

enum class BodyKind { none, length, chunked, until_end };

// How the end of the body is determined.
struct BodyFraming {
  BodyKind kind = BodyKind::none;
  std::uint64_t bytes = 0;  // only for `length`
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

// The answer to a request that is refused.
struct Refusal {
  int status = 400;
  std::string_view why;
};

enum class HeadEnd { found, not_yet, broken };
struct HeadSearch {
  HeadEnd end = HeadEnd::not_yet;
  std::size_t bytes = 0;  // size of the head, including its empty line
};
// Finds the end of the head at the start of the bytes. `broken`: a line ends without CR, so the
// head can never end. The first `searched` bytes were searched before.
HeadSearch find_head_end(std::string_view bytes, std::size_t searched);

// The head with its empty line. The peer is not filled in.
std::expected<RequestHead, Refusal> parse_request_head(std::string_view head);

// An answer to a request with that method.
Result<ResponseHead> parse_response_head(std::string_view head, std::string_view method);

}  // namespace perdure
