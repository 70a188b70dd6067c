#include "client/api.h"

#include "client/json_view.h"

namespace perdure::client {
namespace {

Code code_of_status(int status) {
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422: return Code::invalid_argument;
    case 401:
    case 403:
    case 421: return Code::denied;
    case 404:
    case 405: return Code::not_found;
    case 409:
    case 410:
    case 412: return Code::conflict;
    case 429: return Code::limit_reached;
    case 502:
    case 503:
    case 504: return Code::unavailable;
    case 507: return Code::disk_full;
    default: return Code::internal;
  }
}

}  // namespace

Error Refusal::error() const {
  const Code named = parse_code(code);
  const bool is_known = named != Code::internal || code == code_name(Code::internal);
  return Error(is_known ? named : code_of_status(status), message);
}

Refusal read_refusal(int status, std::string_view body) {
  Refusal refusal{.status = status, .code = {}, .message = {}, .actions = {}};
  if (const auto json = JsonView::read(body)) {
    const JsonView error = (*json)["error"];
    refusal.code = error["code"].text();
    refusal.message = error["message"].text();
    for (const JsonView action : error["actions"].items()) {
      if (action.is_string()) refusal.actions.push_back(action.text());
    }
  }
  if (refusal.code.empty()) refusal.code = code_name(code_of_status(status));
  if (refusal.message.empty()) {
    refusal.message = "the daemon answered with status " + std::to_string(status);
  }
  return refusal;
}

}  // namespace perdure::client
