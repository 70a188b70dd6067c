// The wait-token index (O8): answers are checked against each token's entry, without reading the
// journal. It is part of the folded state; the rules of O20 are defined here.
#pragma once

#include <optional>

#include "base/result.h"
#include "core/session/inputs.h"
#include "core/session/state.h"

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

// Finds a token: the state has every open one and the newest closed ones (waits_closed_kept).
std::optional<TokenEntry> find_token(const State& state, WaitTokenId token);

// Success, or the first error in this order: token_not_found (no entry), token_invalid,
// token_consumed, token_revoked, token_expired, token_scope_mismatch. An absent run or kind is not
// checked. A caller without the secret learns only that the token exists.
Result<> validate_wait(const State& state, const AnswerWait& answer, const Moment& now);

}  // namespace perdure
