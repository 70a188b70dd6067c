#include "cli/trouble.h"

#include "base/json.h"

namespace perdure::cli {
namespace {

int exit_of(Code code) {
  switch (code) {
    case Code::invalid_argument: return exit_usage;
    case Code::not_found:
    case Code::agent_unknown:
    case Code::token_not_found: return exit_not_found;
    case Code::denied:
    case Code::unauthenticated:
    case Code::misdirected:
    case Code::secret_already_shown:
    case Code::too_large:
    case Code::conflict:
    case Code::key_reused:
    case Code::limit_reached:
    case Code::session_archived:
    case Code::not_resumable:
    case Code::workspace_missing:
    case Code::agent_missing:
    case Code::image_missing:
    case Code::container_missing:
    case Code::container_failed:
    case Code::limits_unsupported:
    case Code::permission_closed:
    case Code::token_invalid:
    case Code::token_expired:
    case Code::token_revoked:
    case Code::token_consumed:
    case Code::token_scope_mismatch:
    case Code::cursor_invalid:
    case Code::stale_owner: return exit_refused;
    case Code::unavailable: return exit_unreachable;
    case Code::engine_unavailable:
    case Code::remote_unavailable:
    case Code::disk_full:
    case Code::storage_unknown:
    case Code::damaged:
    case Code::format_too_new:
    case Code::internal: return exit_failed;
  }
  return exit_failed;
}

}  // namespace

Trouble Trouble::usage(std::string message) {
  return {.exit_code = exit_usage,
          .code = std::string(code_name(Code::invalid_argument)),
          .message = std::move(message),
          .actions = {}};
}

Trouble Trouble::of(const Error& error) {
  return {.exit_code = exit_of(error.code()),
          .code = std::string(code_name(error.code())),
          .message = error.message(),
          .actions = {}};
}

Trouble Trouble::of(const client::Refusal& refusal) {
  const Code code = refusal.error().code();
  return {// The daemon did respond: something that it depends on is unavailable.
          .exit_code = code == Code::unavailable ? exit_failed : exit_of(code),
          .code = refusal.code,
          .message = refusal.message,
          .actions = refusal.actions};
}

std::string Trouble::json() const {
  JsonWriter writer;
  writer.begin_object().key("error").begin_object();
  writer.key("code").string(code).key("message").string(message).key("actions").begin_array();
  for (const std::string& action : actions) writer.string(action);
  writer.end_array().end_object().end_object();
  return std::move(writer).take();
}

}  // namespace perdure::cli
