// Heads as they are sent, by the server and by the client. What comes from outside into a header
// cannot end its line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace perdure {

// What the server adds to an answer's own headers.
struct AnswerFraming {
  std::optional<std::size_t> content_length;
  bool chunked = false;
  bool closes = false;  // the connection ends behind the answer
};

std::string answer_head(const HttpResponse& response, const AnswerFraming& framing);

// {"error":{"code","message","actions":[]}}, as the API answers.
HttpResponse error_answer(int status, Code code, std::string_view message);

// 426, for a route that is a WebSocket.
HttpResponse upgrade_required_answer();

// A request as the client sends it: Host unless it has one, Content-Length where there is a body.
std::string request_text(const HttpRequest& request, std::string_view host);

}  // namespace perdure
