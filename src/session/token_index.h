// The wait-token index (O8): what is known of each token of a session, so that an answer is checked
// without reading the journal. It is part of the state, which the fold of the records makes; the
// rules of O20 stand here.
#pragma once

#include <optional>

#include "base/result.h"
#include "session/inputs.h"
#include "session/state.h"

namespace perdure {

struct TokenEntry {
  WaitTokenId token;
  TokenStatus status = TokenStatus::active;
  Hash secret_hash;  // O19: never the secret
  WaitKind kind = WaitKind::permission;
  RunId run;  // null: asked outside any run
  PermissionId permission;
  std::optional<Deadline> deadline;
  bool operator==(const TokenEntry&) const = default;
  FIELDS {
    visit("token_id", self.token);
    visit("status", self.status);
    visit("secret_hash", self.secret_hash);
    visit("wait_kind", self.kind);
    visit("run_id", self.run);
    visit("perm_id", self.permission);
    visit("deadline", self.deadline);
  }
};

// What the state knows of a token: every open one and the newest closed ones (waits_closed_kept).
std::optional<TokenEntry> find_token(const State& state, WaitTokenId token);

// Nothing, or the first thing wrong, in this order: token_not_found (no entry), token_invalid,
// token_consumed, token_revoked, token_expired, token_scope_mismatch. A run or kind that is not
// given is not checked. Whoever does not have the secret learns nothing beyond that the token
// exists.
Result<> validate_wait(const State& state, const AnswerWait& answer, const Moment& now);

}  // namespace perdure
