#include "session/token_index.h"

#include <algorithm>

namespace perdure {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

std::optional<TokenEntry> entry_of(const State& state, WaitTokenId token) {
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

}  // namespace

Result<> check_claim(const TokenEntry* entry, const TokenClaim& claim, const Moment& now) {
  if (!entry) return fail(Code::token_not_found, "there is no such wait token");
  if (!equal_constant_time(entry->secret_hash, claim.secret_hash)) {
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
  if (claim.run && claim.run != entry->run) {
    return fail(Code::token_scope_mismatch, "the wait token belongs to another run");
  }
  if (claim.kind && *claim.kind != entry->kind) {
    return fail(Code::token_scope_mismatch, "the wait token is for another kind of answer");
  }
  return {};
}

void TokenIndex::add(const Record& record) {
  visit(Overloaded{
            [&](const TokenMinted& minted) {
              entries_[minted.token] = {.token = minted.token,
                                        .secret_hash = minted.secret_hash,
                                        .kind = minted.wait,
                                        .run = record.event.origin.run,
                                        .permission = minted.permission,
                                        .deadline = minted.expires};
            },
            [&](const TokenConsumed& token) { close(token.token, TokenStatus::consumed); },
            [&](const TokenRevoked& token) { close(token.token, TokenStatus::revoked); },
            [&](const TokenExpired& token) { close(token.token, TokenStatus::expired); },
            [](const auto&) {},
        },
        record.event.body);
}

// The first end stands: a token is closed once (TOK1).
void TokenIndex::close(WaitTokenId token, TokenStatus status) {
  const auto found = entries_.find(token);
  if (found == entries_.end() || found->second.status != TokenStatus::active) return;
  found->second.status = status;
}

const TokenEntry* TokenIndex::find(WaitTokenId token) const {
  const auto found = entries_.find(token);
  return found == entries_.end() ? nullptr : &found->second;
}

Result<> TokenIndex::validate(const TokenClaim& claim, const Moment& now) const {
  return check_claim(find(claim.token), claim, now);
}

Result<> validate_wait(const State& state, const AnswerWait& answer, const Moment& now) {
  const std::optional<TokenEntry> entry = entry_of(state, answer.token);
  const TokenClaim claim{.token = answer.token,
                         .secret_hash = answer.secret_hash,
                         .run = answer.run,
                         .kind = answer.kind};
  return check_claim(entry ? &*entry : nullptr, claim, now);
}

}  // namespace perdure
