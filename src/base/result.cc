// The names of the error codes. A code without a name does not compile.
#include "base/result.h"

#include "base/check.h"

namespace perdure {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::invalid_argument: return "invalid_argument";
    case Code::not_found: return "not_found";
    case Code::denied: return "denied";
    case Code::conflict: return "conflict";
    case Code::key_reused: return "key_reused";
    case Code::limit_reached: return "limit_reached";
    case Code::session_archived: return "session_archived";
    case Code::not_resumable: return "not_resumable";
    case Code::workspace_missing: return "workspace_missing";
    case Code::agent_unknown: return "agent_unknown";
    case Code::agent_missing: return "agent_missing";
    case Code::engine_unavailable: return "engine_unavailable";
    case Code::image_missing: return "image_missing";
    case Code::container_missing: return "container_missing";
    case Code::container_failed: return "container_failed";
    case Code::remote_unavailable: return "remote_unavailable";
    case Code::limits_unsupported: return "limits_unsupported";
    case Code::permission_closed: return "permission_closed";
    case Code::token_not_found: return "token_not_found";
    case Code::token_invalid: return "token_invalid";
    case Code::token_expired: return "token_expired";
    case Code::token_revoked: return "token_revoked";
    case Code::token_consumed: return "token_consumed";
    case Code::token_scope_mismatch: return "token_scope_mismatch";
    case Code::cursor_invalid: return "cursor_invalid";
    case Code::stale_owner: return "stale_owner";
    case Code::disk_full: return "disk_full";
    case Code::storage_unknown: return "storage_unknown";
    case Code::damaged: return "damaged";
    case Code::format_too_new: return "format_too_new";
    case Code::unauthenticated: return "unauthenticated";
    case Code::misdirected: return "misdirected";
    case Code::secret_already_shown: return "secret_already_shown";
    case Code::too_large: return "too_large";
    case Code::unavailable: return "unavailable";
    case Code::internal: return "internal";
  }
  CHECK(false, "unknown error code");
}

Code parse_code(std::string_view name) {
  for (int i = 0; i < static_cast<int>(Code::internal); ++i) {
    if (code_name(static_cast<Code>(i)) == name) return static_cast<Code>(i);
  }
  return Code::internal;
}

}  // namespace perdure
