// Shows that runs become turns with K27's entries, that work outside runs has its own turns, and
// that no message of the transcript is lost or duplicated.
#include "core/views/history.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/session/random_journal_for_test.h"

namespace perdure {
namespace {

using testing::JournalBuilder;
using testing::make_random_journal;
using testing::some_id;

TEST(History, A19_a_run_is_a_turn) {
  JournalBuilder journal;
  journal.add(SessionCreated{}).turn(1, "one", "eins").turn(2, "two", "zwei");
  const auto turns = fold_history(journal.records());
  ASSERT_EQ(turns.size(), 2U);
  EXPECT_EQ(turns[0].run, some_id<RunId>(1));
  EXPECT_EQ(turns[0].prompt, "one");
  EXPECT_EQ(turns[0].first_seq, 2U);
  EXPECT_EQ(turns[0].last_seq, 5U);
  EXPECT_EQ(turns[0].started, journal.records()[2].event.at);
  EXPECT_EQ(turns[0].ended, journal.records()[4].event.at);
  EXPECT_EQ(turns[0].end, RunEnd::completed);
  EXPECT_EQ(turns[0].stop_reason, "end_turn");
  EXPECT_EQ(turns[1].entries.size(), 2U);
}

TEST(History, K27_entries_have_the_four_types_with_text) {
  JournalBuilder journal;
  journal.start_run(1, "read it")
      .think("hm")
      .say("ok")
      .call("t", "Read")
      .update("t", "completed", "data")
      .end_run();
  const auto entries = fold_history(journal.records()).at(0).entries;
  ASSERT_EQ(entries.size(), 4U);
  const std::vector<std::pair<std::string_view, std::string>> expected = {
      {"user_message", "read it"},
      {"agent_message", "ok"},
      {"tool_call", ""},
      {"tool_result", "data"}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(enum_text(entries[i].kind), expected[i].first);
    EXPECT_EQ(entries[i].text, expected[i].second);
  }
  EXPECT_EQ(entries[3].tool_name, "Read");
  EXPECT_EQ(entries[3].tool_call_id, "t");
}

TEST(History, K27_thoughts_alone_are_no_entry) {
  JournalBuilder journal;
  journal.start_run(1, "x").think("only thoughts").end_run();
  EXPECT_EQ(fold_history(journal.records()).at(0).entries.size(), 1U);
}

TEST(History, A19_how_a_turn_ended) {
  const std::vector<std::pair<EventBody, RunEnd>> ends = {
      {RunCompleted{}, RunEnd::completed},
      {RunFailed{.message = "no"}, RunEnd::failed},
      {RunCancelled{}, RunEnd::cancelled},
      {RunInterrupted{.reason = InterruptReason::wait_lost}, RunEnd::interrupted}};
  for (const auto& [body, end] : ends) {
    JournalBuilder journal;
    const Turn turn = fold_history(journal.start_run(1, "x").end_run(body).records()).at(0);
    EXPECT_EQ(turn.end, end);
    EXPECT_EQ(turn.message, end == RunEnd::failed ? "no" : "");
    EXPECT_EQ(turn.interrupted.has_value(), end == RunEnd::interrupted);
  }
  JournalBuilder open;
  EXPECT_FALSE(fold_history(open.start_run(1, "x").records()).at(0).end);
}

TEST(History, A19_prompt_recorded_ahead_of_its_run_belongs_to_it) {
  JournalBuilder journal;
  journal.add(MessageUser{.message = some_id<MessageId>(7), .prompt = {.text = "early"}});
  journal.add(RunStarted{.message = some_id<MessageId>(7)}, Origin{.run = some_id<RunId>(7)});
  const auto turns = fold_history(journal.records());
  ASSERT_EQ(turns.size(), 1U);
  EXPECT_EQ(turns[0].prompt, "early");
  EXPECT_EQ(turns[0].first_seq, 1U);
}

TEST(History, X30_work_outside_a_run_is_its_own_turn) {
  JournalBuilder journal;
  journal.say("before any").turn(1, "one", "eins");
  journal.add(MessageAgent{.text = "late"}, Origin{.after_run = some_id<RunId>(1)});
  journal.say("by myself").turn(2, "two", "zwei");
  const auto turns = fold_history(journal.records());
  ASSERT_EQ(turns.size(), 4U);
  EXPECT_TRUE(turns[0].run.is_null());
  EXPECT_EQ(turns[1].run, some_id<RunId>(1));
  EXPECT_EQ(turns[2].after_run, some_id<RunId>(1));
  EXPECT_EQ(turns[3].run, some_id<RunId>(2));
}

TEST(History, X30_a_run_parts_the_work_around_it) {
  JournalBuilder journal;
  journal.say("before").turn(1, "one", "eins").say("after");
  const auto turns = fold_history(journal.records());
  ASSERT_EQ(turns.size(), 3U);
  EXPECT_EQ(turns[2].entries.at(0).text, "after");
}

TEST(History, U14_every_message_is_told_once) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto records = make_random_journal(seed, 90);
    std::vector<std::uint64_t> told;
    for (const Turn& turn : fold_history(records)) {
      for (const HistoryEntry& entry : turn.entries) {
        told.push_back(entry.seq);
        EXPECT_GE(entry.seq, turn.first_seq);
        EXPECT_LE(entry.seq, turn.last_seq);
      }
    }
    std::vector<std::uint64_t> expected;
    for (const auto& message : fold_transcript(records)) {
      if (history_entry(message)) expected.push_back(message.first_seq);
    }
    std::ranges::sort(told);
    EXPECT_EQ(told, expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace perdure
