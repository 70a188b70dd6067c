// Every error code in one table: its name, HTTP status, exit code of the command line, and the
// actions that a client may offer. Codes are stable: scripts match on their names, so rows are only
// added. Each code has a page in docs/errors, which the tidy test checks against this table.
#pragma once

#include <string_view>

namespace perdure {

// Exit codes of the command line.
inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_not_found = 3;
inline constexpr int exit_refused = 4;
inline constexpr int exit_unreachable = 5;
inline constexpr int exit_timeout = 124;

// clang-format off
#define PERDURE_ERROR_CODES(ROW)                                            \
  /* The caller's input is malformed. */                                    \
  ROW(invalid_argument, 400, usage, "")                                     \
  /* No such session, item or file. */                                      \
  ROW(not_found, 404, not_found, "")                                        \
  /* This caller may not do that. */                                        \
  ROW(denied, 403, refused, "")                                             \
  /* The request does not fit the current state. */                         \
  ROW(conflict, 409, refused, "")                                           \
  /* The idempotency key was used before with a different body. */          \
  ROW(key_reused, 409, refused, "")                                         \
  /* A published limit is reached; the message names it. */                 \
  ROW(limit_reached, 429, refused, "retry")                                 \
  /* Archived sessions accept no new work. */                               \
  ROW(session_archived, 409, refused, "unarchive fork")                     \
  /* Nothing is left to resume from, or `strict` forbade losing context. */ \
  ROW(not_resumable, 409, refused, "fresh fork")                            \
  /* The session's folder is gone (C13). */                                 \
  ROW(workspace_missing, 409, refused, "recreate rebind fresh")             \
  /* The agent definition is no longer configured. */                       \
  ROW(agent_unknown, 404, not_found, "agents handover")                     \
  /* The agent's program is not installed here. */                          \
  ROW(agent_missing, 409, refused, "install handover")                      \
  /* The container engine does not answer. */                               \
  ROW(engine_unavailable, 503, failed, "retry")                             \
  /* The engine lacks the image; Perdure never pulls one by itself. */      \
  ROW(image_missing, 409, refused, "pull")                                  \
  /* The session's container was removed from outside. */                   \
  ROW(container_missing, 409, refused, "resume")                            \
  /* The container did not start, or ended. */                              \
  ROW(container_failed, 409, refused, "resume")                             \
  /* The outpost does not answer, or is not the known one. */               \
  ROW(remote_unavailable, 503, failed, "retry")                             \
  /* The engine cannot enforce the requested limits. */                     \
  ROW(limits_unsupported, 409, refused, "")                                 \
  /* The question was answered already, or expired. */                      \
  ROW(permission_closed, 410, refused, "")                                  \
  /* O20: each way a wait token can be wrong has its own code. */           \
  ROW(token_not_found, 404, not_found, "")                                  \
  /* The token is not one of this daemon's. */                              \
  ROW(token_invalid, 401, refused, "")                                      \
  /* The token's deadline has passed. */                                    \
  ROW(token_expired, 410, refused, "prompt")                                \
  /* The token was revoked. */                                              \
  ROW(token_revoked, 410, refused, "prompt")                                \
  /* The token was used already. */                                         \
  ROW(token_consumed, 409, refused, "")                                     \
  /* The token belongs to a different session or wait. */                   \
  ROW(token_scope_mismatch, 409, refused, "")                               \
  /* The cursor is beyond the head, or of a different log. */               \
  ROW(cursor_invalid, 409, refused, "start_over")                           \
  /* A newer owner epoch holds the session. */                              \
  ROW(stale_owner, 409, refused, "")                                        \
  /* Refused before anything was written. */                                \
  ROW(disk_full, 507, failed, "retry")                                      \
  /* An fsync failed: recovery will determine the outcome. */               \
  ROW(storage_unknown, 503, failed, "retry")                                \
  /* A checksum or the hash chain is broken. */                             \
  ROW(damaged, 500, failed, "verify repair")                                \
  /* Written by a newer version. */                                         \
  ROW(format_too_new, 409, failed, "upgrade")                               \
  /* No credentials, or unknown ones. */                                    \
  ROW(unauthenticated, 401, refused, "open")                                \
  /* The request names a host that is not this daemon. */                   \
  ROW(misdirected, 421, refused, "")                                        \
  /* A secret is shown once, and the key was used before. */                \
  ROW(secret_already_shown, 409, refused, "")                               \
  /* The body is longer than the route accepts. */                          \
  ROW(too_large, 413, refused, "")                                          \
  /* Starting up, shutting down, or a peer is gone. */                      \
  ROW(unavailable, 503, unreachable, "retry")                               \
  /* A fault of Perdure. */                                                 \
  ROW(internal, 500, failed, "")
// clang-format on

enum class Code {
#define PERDURE_ROW(name, ...) name,
  PERDURE_ERROR_CODES(PERDURE_ROW)
#undef PERDURE_ROW
};

struct ErrorKind {
  std::string_view name;
  int http_status;
  int exit_code;
  std::string_view actions;  // separated by spaces
};
const ErrorKind& kind_of(Code code);

// The stable text of a code, e.g. "disk_full".
inline std::string_view code_name(Code code) { return kind_of(code).name; }
// The code of a name; internal for an unknown one.
Code parse_code(std::string_view name);

}  // namespace perdure
