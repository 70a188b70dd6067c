#include "core/session/token_index.h"

#include <algorithm>

namespace perdure {
std::optional<TokenEntry> find_token(const State& state, WaitTokenId token) {
  if (const auto open = state.waits.find(token); open != state.waits.end()) {
    const Wait& wait = open->second;
    return TokenEntry{.token = token,
                      .secret_hash = wait.secret_hash,
                      .kind = wait.kind,
                      .run = wait.run,
                      .permission = wait.permission,
                      .deadline = wait.deadline};
  }
  const auto closed = std::ranges::find(state.closed_waits, token, &ClosedWait::token);
  if (closed == state.closed_waits.end()) return std::nullopt;
  return TokenEntry{.token = token,
                    .status = closed->status,
                    .secret_hash = closed->secret_hash,
                    .kind = closed->kind,
                    .run = closed->run,
                    .permission = closed->permission};
}

Result<> validate_wait(const State& state, const AnswerWait& answer, const Moment& now) {
  const std::optional<TokenEntry> entry = find_token(state, answer.token);
  if (!entry) return fail(Code::token_not_found, "no such wait token");
  if (!equal_constant_time(entry->secret_hash, answer.secret_hash)) {
    return fail(Code::token_invalid, "the secret does not belong to this wait token");
  }
  switch (entry->status) {
    case TokenStatus::consumed: return fail(Code::token_consumed, "the wait token was used before");
    case TokenStatus::revoked: return fail(Code::token_revoked, "the question was taken back");
    case TokenStatus::expired: return fail(Code::token_expired, "the question has expired");
    case TokenStatus::active: break;
  }
  if (entry->deadline && entry->deadline->remaining_ms(now) <= 0) {
    return fail(Code::token_expired, "the time to answer is over");
  }
  if (answer.run && answer.run != entry->run) {
    return fail(Code::token_scope_mismatch, "the wait token belongs to another run");
  }
  if (answer.kind && *answer.kind != entry->kind) {
    return fail(Code::token_scope_mismatch, "the wait token is for another kind of answer");
  }
  return {};
}

}  // namespace perdure
