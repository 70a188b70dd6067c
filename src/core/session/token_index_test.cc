// Each way in which a wait token can be invalid, and the order in which these are reported, over
// states folded from records.
#include "core/session/token_index.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "core/session/machine.h"
#include "core/session/random_journal_for_test.h"

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
  AnswerWait answer;
  Moment now;
  std::optional<Code> code;
};

std::vector<Row> rows() {
  const AnswerWait right{
      .token = token, .secret_hash = good, .run = run, .kind = WaitKind::permission};
  AnswerWait unscoped = right;
  unscoped.run = {};
  unscoped.kind.reset();
  AnswerWait guess = right;
  guess.secret_hash = bad;
  AnswerWait other_run = right;
  other_run.run = some_id<RunId>(2);
  AnswerWait other_kind = right;
  other_kind.kind = WaitKind::input;
  AnswerWait unknown = right;
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

State fold(const JournalBuilder& journal) {
  State state;
  for (const Record& record : journal.records()) state = evolve(std::move(state), record.event);
  return state;
}

TEST(TokenIndex, O20_O30_each_wrong_token_has_its_own_answer) {
  for (const Row& row : rows()) {
    JournalBuilder journal;
    journal.start_run(1, "x");
    for (const EventBody& body : row.records) journal.add(body);
    EXPECT_EQ(code_of(validate_wait(fold(journal), row.answer, row.now)), row.code) << row.what;
  }
}

TEST(TokenIndex, O8_holds_what_an_answer_needs) {
  JournalBuilder journal;
  journal.start_run(1, "x").add(minted()).say("other records change nothing");
  const State state = fold(journal);
  const std::optional<TokenEntry> entry = find_token(state, token);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->run, run);
  EXPECT_EQ(entry->secret_hash, good);
  EXPECT_EQ(entry->kind, WaitKind::permission);
  EXPECT_EQ(entry->deadline, Deadline::after(early, 60'000));
  EXPECT_FALSE(find_token(state, some_id<WaitTokenId>(2)));
}

TEST(TokenIndex, O8_C7_a_closed_token_is_found_with_its_end_until_many_newer_ones_are_closed) {
  JournalBuilder journal;
  journal.start_run(1, "x").add(minted()).add(TokenConsumed{.token = token});
  EXPECT_EQ(find_token(fold(journal), token)->status, TokenStatus::consumed);
  for (std::uint64_t i = 2; i <= waits_closed_kept + 1; ++i) {
    EXPECT_TRUE(find_token(fold(journal), token)) << i;
    TokenMinted next = minted();
    next.token = some_id<WaitTokenId>(i);
    journal.add(next).add(TokenRevoked{.token = next.token});
  }
  EXPECT_FALSE(find_token(fold(journal), token));
}

TEST(TokenIndex, O15_a_token_of_an_earlier_host_boot_runs_on_the_wall_clock) {
  JournalBuilder journal;
  journal.start_run(1, "x").add(minted());
  const State state = fold(journal);
  const AnswerWait answer{.token = token, .secret_hash = good};
  Moment rebooted{.wall = {1'030'000}, .since_boot = {5}, .host_boot = "h2"};
  EXPECT_TRUE(validate_wait(state, answer, rebooted));
  rebooted.wall.ms = 1'061'000;
  EXPECT_EQ(code_of(validate_wait(state, answer, rebooted)), Code::token_expired);
}

}  // namespace
}  // namespace perdure
