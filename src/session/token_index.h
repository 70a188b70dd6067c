// The wait-token index (O8): what is known of each token of a session, so that an answer is checked
// without reading the journal. The rules of O20 stand here once, for the index and for the machine.
#pragma once

#include <cstddef>
#include <map>
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

// What somebody who wants to use a token brings. Null and absent fields are not checked.
struct TokenClaim {
  WaitTokenId token;
  Hash secret_hash;
  RunId run;
  std::optional<WaitKind> kind;
};

// Nothing, or the first thing wrong, in this order: token_not_found (no entry), token_invalid,
// token_consumed, token_revoked, token_expired, token_scope_mismatch. Whoever does not have the
// secret learns nothing beyond that the token exists.
Result<> check_claim(const TokenEntry* entry, const TokenClaim& claim, const Moment& now);

// Folds the token records of one session, in order of seq; other kinds leave it as it is.
class TokenIndex {
 public:
  void add(const Record& record);
  // The entry, or null. It lives until the next add().
  const TokenEntry* find(WaitTokenId token) const;
  Result<> validate(const TokenClaim& claim, const Moment& now) const;
  std::size_t size() const { return entries_.size(); }
  const std::map<WaitTokenId, TokenEntry>& entries() const { return entries_; }
  bool operator==(const TokenIndex&) const = default;

 private:
  void close(WaitTokenId token, TokenStatus status);

  std::map<WaitTokenId, TokenEntry> entries_;
};

// The same rules over what the state keeps: every open wait and the newest closed ones.
Result<> validate_wait(const State& state, const AnswerWait& answer, const Moment& now);

}  // namespace perdure
