// The text of heads, as the server and the client send them. No input can end a header's line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/message.h"

namespace perdure {

// The headers that the server adds to an answer's own.
struct AnswerFraming {
  std::optional<std::size_t> content_length;
  bool chunked = false;
  bool closes = false;  // the connection ends after the answer
};

std::string answer_head(const HttpResponse& response, const AnswerFraming& framing);

// {"error":{"code","message","actions":[]}}, as the API answers.
HttpResponse error_answer(int status, Code code, std::string_view message);

// 426, for a route that is a WebSocket.
HttpResponse upgrade_required_answer();

// A request as the client sends it. Adds Host unless it is there, and Content-Length for a body.
std::string request_text(const HttpRequest& request, std::string_view host);

}  // namespace perdure
