// Result<T>: the result of every function that can fail because of its environment. The code is
// stable (one page each in docs/errors), the message is for people, and callers add context.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace perdure {

// Stable error codes: scripts match on the text of code_name(). Codes are only added.
enum class Code {
  invalid_argument,    // the caller's input is malformed; nothing was changed
  not_found,           // no such session, item or file
  denied,              // this caller may not do that
  conflict,            // the request does not fit the current state
  key_reused,          // the idempotency key was used before with another body
  limit_reached,       // a published limit is full; the message names it
  session_archived,    // archived sessions take no new work
  not_resumable,       // nothing to resume from, or `strict` forbade losing context
  workspace_missing,   // the session's folder is gone (C13)
  agent_unknown,       // the agent definition no longer exists
  agent_missing,       // the agent is known, but its program is not on this machine
  engine_unavailable,  // the container engine does not answer: its containers are unknown
  image_missing,       // the engine does not have the image; Perdure never pulls images
  container_missing,   // a session's container was removed by another program
  container_failed,    // the container could not be started, or ended unexpectedly
  remote_unavailable,  // the outpost on the other host does not answer, or is not the known one
  limits_unsupported,  // the engine cannot enforce the requested limits
  permission_closed,   // the question was already answered, or expired
  token_not_found,     // O20: a distinct error for each way a wait token can be invalid
  token_invalid,
  token_expired,
  token_revoked,
  token_consumed,
  token_scope_mismatch,
  cursor_invalid,        // a cursor beyond the head, or of another log
  stale_owner,           // a newer owner epoch holds the session
  disk_full,             // rejected; nothing was written
  storage_unknown,       // an fsync failed: the outcome is unknown until recovery
  damaged,               // checksum or hash chain broken; the session is read-only up to there
  format_too_new,        // written by a newer version; rejected, never misread
  unauthenticated,       // no credentials, or unknown ones
  misdirected,           // the request names a host that is not this daemon
  secret_already_shown,  // the key was used before, and a secret is shown once
  too_large,             // the body is longer than the route accepts
  unavailable,           // not now: starting up, shutting down, or a peer is gone
  internal,
};

// The stable text of a code, e.g. "disk_full".
std::string_view code_name(Code code);
// The code with this text; `internal` if unknown.
Code parse_code(std::string_view name);

class Error {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same error, prefixed with the attempted action: "open store: disk is full".
  Error with_context(std::string_view doing) && {
    message_.insert(0, ": ");
    message_.insert(0, doing);
    return std::move(*this);
  }

  bool operator==(const Error&) const = default;

 private:
  Code code_;
  std::string message_;
};

template <class T = void>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(Code code, std::string message) {
  return std::unexpected(Error(code, std::move(message)));
}

}  // namespace perdure

// TRY(expression) gives the value of a Result, or returns its error from the enclosing function. It
// may be nested in another TRY: each uses a unique name.
#define PERDURE_JOIN_(a, b) a##b
#define PERDURE_JOIN(a, b) PERDURE_JOIN_(a, b)
#define PERDURE_TRY(name, ...)                                  \
  ({                                                            \
    auto&& name = (__VA_ARGS__);                                \
    if (!name) return std::unexpected(std::move(name).error()); \
    *std::move(name);                                           \
  })
#define TRY(...) PERDURE_TRY(PERDURE_JOIN(try_result_, __COUNTER__), __VA_ARGS__)
#define TRY_VOID(...)                                                       \
  do {                                                                      \
    auto&& try_result = (__VA_ARGS__);                                      \
    if (!try_result) return std::unexpected(std::move(try_result).error()); \
  } while (false)
