// A stand-in for token_index.cc, which another branch writes: delete it when that one is merged.
// The order of the checks is the contract's: what a caller learns must not depend on luck.
#include "base/hash.h"
#include "session/token_index.h"

namespace perdure {
namespace {

Result<> check_scope(const AnswerWait& answer, RunId run, WaitKind kind) {
  const bool fits = (!answer.run || answer.run == run) && (!answer.kind || *answer.kind == kind);
  if (fits) return {};
  return fail(Code::token_scope_mismatch, "the token belongs to another run or kind of wait");
}

Code code_of(TokenStatus status) {
  switch (status) {
    case TokenStatus::consumed: return Code::token_consumed;
    case TokenStatus::revoked: return Code::token_revoked;
    case TokenStatus::expired:
    case TokenStatus::active: return Code::token_expired;
  }
  return Code::token_expired;
}

Result<> check_secret(const AnswerWait& answer, const Hash& secret_hash) {
  if (equal_constant_time(answer.secret_hash, secret_hash)) return {};
  return fail(Code::token_invalid, "the secret is not that of the token");
}

}  // namespace

Result<> validate_wait(const State& state, const AnswerWait& answer, const Moment& now) {
  if (const auto open = state.waits.find(answer.token); open != state.waits.end()) {
    const Wait& wait = open->second;
    TRY_VOID(check_secret(answer, wait.secret_hash));
    if (wait.deadline && wait.deadline->remaining_ms(now) == 0) {
      return fail(Code::token_expired, "the deadline of the wait has passed");
    }
    return check_scope(answer, wait.run, wait.kind);
  }
  for (const ClosedWait& closed : state.closed_waits) {
    if (closed.token != answer.token) continue;
    TRY_VOID(check_secret(answer, closed.secret_hash));
    return fail(code_of(closed.status), "the token cannot be used any more");
  }
  return fail(Code::token_not_found, "no such token");
}

}  // namespace perdure
