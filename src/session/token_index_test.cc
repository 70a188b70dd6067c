// Shows each way a wait token can be wrong, the order in which they are told, and that the index
// and the state answer alike.
#include "session/token_index.h"

#include <functional>

#include <gtest/gtest.h>

#include "session/random_journal_for_test.h"

namespace perdure {
namespace {

using testing::JournalBuilder;
using testing::some_id;

const Hash good = sha256("secret");
const Hash bad = sha256("guess");
const WaitTokenId token = some_id<WaitTokenId>(1);
const RunId run = some_id<RunId>(1);
const Moment early{.wall = {1'000'000}, .since_boot = {1'000}, .host_boot = "h1"};
const Moment late{.wall = {1'070'000}, .since_boot = {71'000}, .host_boot = "h1"};

TokenMinted minted(std::optional<Deadline> expires = Deadline::after(early, 60'000)) {
  return {.token = token, .secret_hash = good, .wait = WaitKind::permission, .expires = expires};
}

struct Row {
  const char* what;
  std::vector<EventBody> records;
  TokenClaim claim;
  Moment now;
  std::optional<Code> code;
};

std::vector<Row> rows() {
  const TokenClaim right{
      .token = token, .secret_hash = good, .run = run, .kind = WaitKind::permission};
  TokenClaim unscoped = right;
  unscoped.run = {};
  unscoped.kind.reset();
  TokenClaim guess = right;
  guess.secret_hash = bad;
  TokenClaim other_run = right;
  other_run.run = some_id<RunId>(2);
  TokenClaim other_kind = right;
  other_kind.kind = WaitKind::input;
  TokenClaim unknown = right;
  unknown.token = some_id<WaitTokenId>(99);
  return {
      {"right", {minted()}, right, early, std::nullopt},
      {"scope not given is not checked", {minted()}, unscoped, early, std::nullopt},
      {"no deadline never expires", {minted(std::nullopt)}, right, late, std::nullopt},
      {"unknown", {minted()}, unknown, early, Code::token_not_found},
      {"wrong secret", {minted()}, guess, early, Code::token_invalid},
      {"consumed", {minted(), TokenConsumed{.token = token}}, right, early, Code::token_consumed},
      {"revoked", {minted(), TokenRevoked{.token = token}}, right, early, Code::token_revoked},
      {"expired by record",
       {minted(), TokenExpired{.token = token}},
       right,
       early,
       Code::token_expired},
      {"expired by the clock", {minted()}, right, late, Code::token_expired},
      {"another run", {minted()}, other_run, early, Code::token_scope_mismatch},
      {"another kind", {minted()}, other_kind, early, Code::token_scope_mismatch},
      // The order of the checks.
      {"secret before end",
       {minted(), TokenConsumed{.token = token}},
       guess,
       early,
       Code::token_invalid},
      {"secret before deadline", {minted()}, guess, late, Code::token_invalid},
      {"end before scope",
       {minted(), TokenRevoked{.token = token}},
       other_run,
       early,
       Code::token_revoked},
      {"deadline before scope", {minted()}, other_run, late, Code::token_expired},
      {"consumed before deadline",
       {minted(), TokenConsumed{.token = token}},
       right,
       late,
       Code::token_consumed},
      {"the first end stands",
       {minted(), TokenConsumed{.token = token}, TokenRevoked{.token = token}},
       right,
       early,
       Code::token_consumed},
  };
}

std::optional<Code> code_of(const Result<>& result) {
  return result ? std::nullopt : std::optional(result.error().code());
}

TEST(TokenIndex, O20_O30_each_wrong_token_has_its_own_answer) {
  for (const Row& row : rows()) {
    JournalBuilder journal;
    journal.start_run(1, "x");
    for (const EventBody& body : row.records) journal.add(body);
    TokenIndex index;
    for (const Record& record : journal.records()) index.add(record);
    EXPECT_EQ(code_of(index.validate(row.claim, row.now)), row.code) << row.what;
  }
}

// The state as the fold of the same records leaves it.
State state_after(const std::vector<EventBody>& records) {
  State state;
  const auto close = [&](WaitTokenId closing, TokenStatus status) {
    const auto found = state.waits.find(closing);
    if (found == state.waits.end()) return;
    state.closed_waits.push_back({.token = closing,
                                  .run = found->second.run,
                                  .kind = found->second.kind,
                                  .secret_hash = found->second.secret_hash,
                                  .status = status});
    state.waits.erase(found);
  };
  for (const EventBody& body : records) {
    if (const auto* mint = get_if<TokenMinted>(&body)) {
      state.waits[mint->token] = {.token = mint->token,
                                  .secret_hash = mint->secret_hash,
                                  .kind = mint->wait,
                                  .run = run,
                                  .deadline = mint->expires};
    }
    if (const auto* end = get_if<TokenConsumed>(&body)) close(end->token, TokenStatus::consumed);
    if (const auto* end = get_if<TokenRevoked>(&body)) close(end->token, TokenStatus::revoked);
    if (const auto* end = get_if<TokenExpired>(&body)) close(end->token, TokenStatus::expired);
  }
  return state;
}

TEST(TokenIndex, O20_the_state_answers_as_the_index_does) {
  for (const Row& row : rows()) {
    const AnswerWait answer{.token = row.claim.token,
                            .secret_hash = row.claim.secret_hash,
                            .run = row.claim.run,
                            .kind = row.claim.kind};
    EXPECT_EQ(code_of(validate_wait(state_after(row.records), answer, row.now)), row.code)
        << row.what;
  }
}

TEST(TokenIndex, O8_holds_what_an_answer_needs) {
  JournalBuilder journal;
  journal.start_run(1, "x").add(minted()).say("other records change nothing");
  TokenIndex index;
  for (const Record& record : journal.records()) index.add(record);
  ASSERT_EQ(index.size(), 1U);
  const TokenEntry* entry = index.find(token);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->run, run);
  EXPECT_EQ(entry->secret_hash, good);
  EXPECT_EQ(entry->kind, WaitKind::permission);
  EXPECT_EQ(entry->deadline, Deadline::after(early, 60'000));
  EXPECT_EQ(index.find(some_id<WaitTokenId>(2)), nullptr);
}

TEST(TokenIndex, C7_rebuilt_from_the_same_records_it_is_the_same) {
  JournalBuilder journal;
  journal.start_run(1, "x").add(minted()).add(TokenConsumed{.token = token}).end_run();
  TokenIndex once;
  TokenIndex again;
  for (const Record& record : journal.records()) once.add(record);
  for (const Record& record : journal.records()) again.add(record);
  EXPECT_EQ(once, again);
  EXPECT_EQ(once.find(token)->status, TokenStatus::consumed);
}

TEST(TokenIndex, O15_a_token_of_an_earlier_host_boot_runs_on_the_wall_clock) {
  JournalBuilder journal;
  journal.start_run(1, "x").add(minted());
  TokenIndex index;
  for (const Record& record : journal.records()) index.add(record);
  const TokenClaim claim{.token = token, .secret_hash = good};
  Moment rebooted{.wall = {1'030'000}, .since_boot = {5}, .host_boot = "h2"};
  EXPECT_TRUE(index.validate(claim, rebooted));
  rebooted.wall.ms = 1'061'000;
  EXPECT_EQ(code_of(index.validate(claim, rebooted)), Code::token_expired);
}

}  // namespace
}  // namespace perdure
