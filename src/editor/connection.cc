#include "editor/connection.h"

#include <utility>

#include "base/json/json.h"
#include "net/message.h"

namespace perdure::face {
namespace {

std::int64_t rpc_code_of(Code code) {
  switch (code) {
    case Code::not_found: return acp::rpc_code::not_found;
    case Code::invalid_argument:
    case Code::agent_unknown:
    case Code::workspace_missing:
    case Code::too_large: return acp::rpc_code::invalid_params;
    case Code::unauthenticated:
    case Code::token_invalid: return acp::rpc_code::auth_required;
    default: return acp::rpc_code::internal_error;
  }
}

}  // namespace

acp::RpcError rpc_error_of(const client::Refusal& refusal) {
  JsonWriter details;
  details.begin_object().key("code").string(refusal.code).key("actions").begin_array();
  for (const std::string& action : refusal.actions) details.string(action);
  details.end_array().end_object();
  return {.code = rpc_code_of(refusal.error().code()),
          .message = refusal.message,
          .data = {std::move(details).take()}};
}

std::expected<std::string, acp::RpcError> body_of(Result<client::ApiAnswer> answer) {
  if (!answer) {
    return std::unexpected(acp::RpcError{.message = "the Perdure daemon does not answer: " +
                                                    answer.error().message()});
  }
  if (answer->refusal) return std::unexpected(rpc_error_of(*answer->refusal));
  return std::move(answer->body);
}

client::ApiRequest post_request(Post post) {
  client::ApiRequest request;
  request.method = "POST";
  request.path = std::move(post.path);
  request.body = std::move(post.body);
  request.key = std::move(post.key);
  return request;
}

client::ApiRequest get_request(std::string path) {
  client::ApiRequest request;
  request.path = std::move(path);
  return request;
}

std::string session_path(std::string_view id, std::string_view rest) {
  return "/api/sessions/" + percent_encode(id) + std::string(rest);
}

}  // namespace perdure::face
