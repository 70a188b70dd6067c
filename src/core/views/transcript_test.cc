// Shows that journals fold to the messages A20-A25 describe, and that a page read from the end of a
// journal equals the same slice of the whole fold, for random journals, places, sizes and windows.
#include "core/views/transcript.h"

#include <algorithm>
#include <ostream>

#include <gtest/gtest.h>

#include "core/session/random_journal_for_test.h"

namespace perdure {

void PrintTo(const TranscriptMessage& message, std::ostream* out) {
  *out << message.id() << "-" << message.last_seq << " " << enum_text(message.role) << " "
       << enum_text(message.outcome) << " '" << message.content << "'\n";
}

namespace {

using testing::Dice;
using testing::JournalBuilder;
using testing::make_random_journal;
using testing::some_id;

std::vector<std::string> outline(const std::vector<TranscriptMessage>& messages) {
  std::vector<std::string> lines;
  for (const auto& message : messages) {
    lines.push_back(std::string(enum_text(message.role)) + ":" + message.content);
  }
  return lines;
}
using Lines = std::vector<std::string>;

TEST(Transcript, A20_A21_roles_and_fields) {
  JournalBuilder journal;
  journal.add(SessionCreated{}).start_run(1, "hello").think("hm").say("hi").call("t", "Read");
  journal.update("t", "completed", "data").end_run();
  const auto messages = fold_transcript(journal.records());
  ASSERT_EQ(messages.size(), 4U);
  EXPECT_EQ(outline(messages),
            (Lines{"user:hello", "assistant:hi", "tool_call:", "tool_result:data"}));
  const TranscriptMessage& assistant = messages[1];
  EXPECT_EQ(assistant.id(), "4");
  EXPECT_EQ(assistant.first_seq, 4U);
  EXPECT_EQ(assistant.last_seq, 5U);
  EXPECT_EQ(assistant.thinking, "hm");
  EXPECT_TRUE(assistant.thinking_complete);
  EXPECT_EQ(assistant.at, journal.records()[3].event.at);
  EXPECT_EQ(assistant.run, some_id<RunId>(1));
  EXPECT_EQ(messages[0].message, some_id<MessageId>(1));
  EXPECT_EQ(messages[3].id(), "7.result");
}

TEST(Transcript, A22_order_of_arrival_does_not_matter) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto records = make_random_journal(seed, 80);
    auto shuffled = records;
    Dice dice(seed);
    for (std::size_t i = shuffled.size(); i-- > 1;)
      std::swap(shuffled[i], shuffled[dice.below(i + 1)]);
    EXPECT_EQ(fold_transcript(shuffled), fold_transcript(records)) << "seed " << seed;
  }
}

TEST(Transcript, A23_chunks_concatenate) {
  JournalBuilder journal;
  journal.say("one ").think("a").say("two ").think("b").say("three");
  const auto messages = fold_transcript(journal.records());
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].content, "one two three");
  EXPECT_EQ(messages[0].thinking, "ab");
}

TEST(Transcript, A23_thinking_is_complete_once_something_follows) {
  JournalBuilder journal;
  journal.think("still thinking");
  EXPECT_FALSE(fold_transcript(journal.records())[0].thinking_complete);
  EXPECT_EQ(fold_transcript(journal.records())[0].outcome, MessageOutcome::open);
  journal.add(Plan{});
  EXPECT_TRUE(fold_transcript(journal.records())[0].thinking_complete);
  EXPECT_EQ(fold_transcript(journal.records())[0].outcome, MessageOutcome::done);
}

TEST(Transcript, A23_new_agent_message_id_begins_a_message) {
  JournalBuilder journal;
  journal.say("one", "m1").say(" more", "m1").say(" unnamed").say("two", "m2");
  EXPECT_EQ(outline(fold_transcript(journal.records())),
            (Lines{"assistant:one more unnamed", "assistant:two"}));
}

TEST(Transcript, A23_a_thoughts_own_id_does_not_part_it_from_its_message) {
  JournalBuilder journal;
  journal.think("why", "t1").say("because", "m1");
  const auto messages = fold_transcript(journal.records());
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].thinking, "why");
  EXPECT_EQ(messages[0].content, "because");
}

TEST(Transcript, A24_results_are_stitched_by_tool_call_id) {
  JournalBuilder journal;
  journal.start_run(1, "go").call("a", "Read").call("b", "Write");
  journal.update("b", "completed", "wrote").update("a", "in_progress", "half").say("text");
  journal.update("a", "completed", "whole").end_run();
  const auto messages = fold_transcript(journal.records());
  EXPECT_EQ(outline(messages), (Lines{"user:go", "tool_call:", "tool_call:", "tool_result:wrote",
                                      "tool_result:whole", "assistant:text"}));
  EXPECT_EQ(messages[4].tool_call_id, "a");
  EXPECT_EQ(messages[4].title, "Read");
  EXPECT_EQ(messages[4].first_seq, 6U);
  EXPECT_EQ(messages[4].last_seq, 8U);
  EXPECT_EQ(messages[1].status, "completed");
  EXPECT_EQ(messages[1].outcome, MessageOutcome::done);
}

TEST(Transcript, A24_update_without_a_call_is_an_upsert) {
  JournalBuilder journal;
  journal.add(
      ToolUpdate{.tool_call_id = "x", .title = "Grep", .status = "in_progress", .input = "foo"});
  journal.update("x", "completed", "3 hits");
  const auto messages = fold_transcript(journal.records());
  EXPECT_EQ(outline(messages), (Lines{"tool_call:foo", "tool_result:3 hits"}));
  EXPECT_EQ(messages[1].title, "Grep");
}

TEST(Transcript, A24_call_and_result_in_one_record_have_two_ids) {
  JournalBuilder journal;
  journal.add(ToolCall{.tool_call_id = "x", .status = "completed", .text = "done"});
  const auto messages = fold_transcript(journal.records());
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].id(), "1");
  EXPECT_EQ(messages[1].id(), "1.result");
}

TEST(Transcript, A24_empty_fields_of_an_update_leave_what_was_there) {
  JournalBuilder journal;
  journal.call("x", "Read").update("x", "", "out").update("x", "completed", "");
  const auto messages = fold_transcript(journal.records());
  EXPECT_EQ(messages[0].title, "Read");
  EXPECT_EQ(messages[1].content, "out");
}

TEST(Transcript, A24_output_that_is_added_goes_behind_what_is_there) {
  JournalBuilder journal;
  const auto add = [&](const char* status, const char* added) {
    journal.add(ToolUpdate{.tool_call_id = "x", .status = status, .added = added});
  };
  journal.start_run(1, "go").call("x", "Build");
  add("", "compiling\n");
  journal.say("meanwhile");
  add("", "linking\n");
  add("completed", "done\n");
  const auto messages = fold_transcript(journal.records());
  EXPECT_EQ(outline(messages),
            (Lines{"user:go", "tool_call:", "tool_result:compiling\nlinking\ndone\n",
                   "assistant:meanwhile"}));
  EXPECT_EQ(messages[2].outcome, MessageOutcome::done);
  // A whole text replaces the pieces, and pieces may follow it.
  journal.update("x", "", "all of it");
  add("", ", and more");
  EXPECT_EQ(fold_transcript(journal.records())[2].content, "all of it, and more");
}

TEST(Transcript, A24_C23_a_steered_prompt_leaves_running_tools_alone) {
  JournalBuilder journal;
  journal.start_run(1, "go")
      .call("x", "Build")
      .add(MessageUser{.prompt = {.text = "faster"}, .steered = true});
  journal.update("x", "completed", "built");
  const auto messages = fold_transcript(journal.records());
  EXPECT_EQ(outline(messages),
            (Lines{"user:go", "tool_call:", "user:faster", "tool_result:built"}));
  EXPECT_EQ(messages[1].outcome, MessageOutcome::done);
  EXPECT_TRUE(messages[2].steered);
}

TEST(Transcript, X18_a_reused_tool_call_id_is_a_new_call) {
  JournalBuilder journal;
  journal.call("x", "first")
      .update("x", "completed", "1")
      .call("x", "second")
      .update("x", "completed", "2");
  const auto messages = fold_transcript(journal.records());
  ASSERT_EQ(messages.size(), 4U);
  EXPECT_EQ(messages[1].content, "1");
  EXPECT_EQ(messages[3].content, "2");
}

TEST(Transcript, A25_empty_chunks_are_dropped) {
  JournalBuilder journal;
  journal.say("").think("").say("a", "m1").say("", "m2").say("b", "m1");
  const auto messages = fold_transcript(journal.records());
  EXPECT_EQ(outline(messages), (Lines{"assistant:ab"}));
  EXPECT_EQ(messages[0].first_seq, 3U);
}

TEST(Transcript, A25_what_only_flushes) {
  const std::vector<EventBody> flushing = {Plan{},
                                           SessionStopped{},
                                           RunCompleted{},
                                           RunFailed{},
                                           RunCancelled{},
                                           RunInterrupted{},
                                           ContextBoundary{},
                                           PermissionRequested{},
                                           PermissionResolved{},
                                           ExecutorError{},
                                           AgentExited{},
                                           RunStarted{},
                                           SessionArchived{},
                                           ContextInjected{.text = "history"},
                                           RepairTruncated{},
                                           ResumeFailed{}};
  for (const EventBody& body : flushing) {
    JournalBuilder journal;
    journal.say("a").add(body).say("b");
    EXPECT_EQ(outline(fold_transcript(journal.records())), (Lines{"assistant:a", "assistant:b"}))
        << body.index();
  }
}

TEST(Transcript, A25_bookkeeping_does_not_part_a_sentence) {
  const std::vector<EventBody> quiet = {Usage{},
                                        Mode{},
                                        Commands{},
                                        AgentUpdate{},
                                        QueueAdded{},
                                        TokenMinted{},
                                        StatusDerived{},
                                        ExecutorReattached{},
                                        SessionRenamed{},
                                        RunCancelling{},
                                        UnknownEvent{.kind = "redacted"}};
  for (const EventBody& body : quiet) {
    JournalBuilder journal;
    journal.say("a").add(body).say("b");
    EXPECT_EQ(outline(fold_transcript(journal.records())), (Lines{"assistant:ab"})) << body.index();
  }
}

TEST(Transcript, X28_injected_history_is_no_bubble) {
  JournalBuilder journal;
  journal.add(ContextInjected{.text = "RESUME CONTEXT"}).start_run(1, "typed");
  EXPECT_EQ(outline(fold_transcript(journal.records())), (Lines{"user:typed"}));
}

TEST(Transcript, A13_R6_repair_closes_with_unknown_outcome) {
  JournalBuilder journal;
  journal.start_run(1, "go").call("x", "Deploy").update("x", "in_progress", "50 %").say("I wi");
  journal.add(AgentExited{}).add(RepairClosedMessage{});
  journal.add(RepairClosedTool{.tool_call_id = "x", .outcome = "unknown"});
  journal.end_run(RunInterrupted{.reason = InterruptReason::process_exit});
  const auto messages = fold_transcript(journal.records());
  ASSERT_EQ(messages.size(), 4U);
  EXPECT_EQ(messages[1].outcome, MessageOutcome::unknown);
  EXPECT_EQ(messages[2].outcome, MessageOutcome::unknown);
  EXPECT_EQ(messages[2].content, "50 %");
  EXPECT_EQ(messages[3].outcome, MessageOutcome::interrupted);
}

TEST(Transcript, A13_a_message_in_front_of_a_tool_call_had_been_finished) {
  JournalBuilder journal;
  journal.start_run(1, "go").say("I will deploy.").call("x", "Deploy").add(RepairClosedMessage{});
  EXPECT_EQ(fold_transcript(journal.records())[1].outcome, MessageOutcome::done);
}

TEST(Transcript, R6_call_that_a_turn_left_open_is_unknown_when_it_ends) {
  JournalBuilder journal;
  journal.start_run(1, "go").call("x", "Deploy");
  EXPECT_EQ(fold_transcript(journal.records()).back().outcome, MessageOutcome::open);
  journal.end_run();
  EXPECT_EQ(fold_transcript(journal.records()).back().outcome, MessageOutcome::unknown);
}

TEST(Transcript, X30_late_update_does_not_reach_into_an_ended_turn) {
  JournalBuilder journal;
  journal.start_run(1, "go").call("x", "Monitor").end_run();
  const auto before = fold_transcript(journal.records());
  journal.add(ToolUpdate{.tool_call_id = "x", .status = "completed", .text = "late"},
              Origin{.after_run = some_id<RunId>(1)});
  const auto after = fold_transcript(journal.records());
  ASSERT_EQ(after.size(), 4U);
  EXPECT_TRUE(std::ranges::equal(before, std::span(after).first(2)));
  EXPECT_EQ(after[3].after_run, some_id<RunId>(1));
}

TEST(Transcript, A22_ids_stay_while_the_journal_grows) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto records = make_random_journal(seed, 60);
    TranscriptFolder folder;
    std::vector<std::string> ids;
    for (const Record& record : records) {
      folder.add(record);
      ASSERT_GE(folder.messages().size(), ids.size());
      for (std::size_t i = 0; i < ids.size(); ++i) ASSERT_EQ(folder.messages()[i].id(), ids[i]);
      for (std::size_t i = ids.size(); i < folder.messages().size(); ++i)
        ids.push_back(folder.messages()[i].id());
    }
    EXPECT_EQ(folder.messages(), fold_transcript(records));
    std::ranges::sort(ids);
    EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end()) << "seed " << seed;
  }
}

// Reads a page as a store would serve it.
struct PageRead {
  TranscriptPage::Slice slice;
  std::size_t records_read = 0;
};
PageRead read_page(const std::vector<Record>& records, TranscriptPage::Ask ask,
                   std::size_t window) {
  PageRead read;
  TranscriptPage page(ask);
  const std::size_t middle =
      ask.before ? std::min<std::size_t>(*ask.before - 1, records.size()) : records.size();
  for (std::size_t from = middle; page.wants_newer();) {
    const std::size_t count = std::min(window, records.size() - from);
    page.add_newer(std::span(records).subspan(from, count));
    from += count;
    read.records_read += count;
  }
  for (std::size_t to = middle; page.wants_older();) {
    const std::size_t count = std::min(window, to);
    page.add_older(std::span(records).subspan(to - count, count));
    to -= count;
    read.records_read += count;
  }
  read.slice = std::move(page).take();
  return read;
}

// The same slice, from the whole fold.
TranscriptPage::Slice slice_whole(std::vector<TranscriptMessage> all, TranscriptPage::Ask ask) {
  if (ask.before) std::erase_if(all, [&](const auto& m) { return m.first_seq >= *ask.before; });
  std::size_t first = all.size() - std::min(ask.limit, all.size());
  if (first > 0 && first < all.size() && all[first].first_seq == all[first - 1].first_seq) --first;
  all.erase(all.begin(), all.begin() + static_cast<long>(first));
  return {.messages = std::move(all), .has_older = first > 0};
}

TEST(TranscriptPage, U6_S9_every_page_equals_the_slice_of_the_whole_fold) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const auto records = make_random_journal(seed, 10 + seed % 70);
    const auto whole = fold_transcript(records);
    Dice dice(seed);
    for (std::size_t limit = 1; limit <= whole.size() + 1; limit += 1 + dice.below(3)) {
      for (std::uint64_t before = 0; before <= records.size() + 2; before += 1 + dice.below(4)) {
        const TranscriptPage::Ask ask{.before = before ? std::optional(before) : std::nullopt,
                                      .limit = limit};
        const auto expected = slice_whole(whole, ask);
        const auto got = read_page(records, ask, 1 + dice.below(20)).slice;
        ASSERT_EQ(got.messages, expected.messages)
            << "seed " << seed << " limit " << limit << " before " << before;
        ASSERT_EQ(got.has_older, expected.has_older)
            << "seed " << seed << " limit " << limit << " before " << before;
      }
    }
  }
}

TEST(TranscriptPage, U6_pages_chained_by_first_seq_give_the_whole) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto records = make_random_journal(seed, 90);
    std::vector<TranscriptMessage> chained;
    TranscriptPage::Ask ask{.limit = 1 + seed % 7};
    for (bool more = true; more;) {
      auto slice = read_page(records, ask, 16).slice;
      more = slice.has_older;
      if (!slice.messages.empty()) ask.before = slice.messages.front().first_seq;
      chained.insert(chained.begin(), slice.messages.begin(), slice.messages.end());
    }
    EXPECT_EQ(chained, fold_transcript(records)) << "seed " << seed;
  }
}

TEST(TranscriptPage, S9_the_last_page_reads_as_much_of_a_long_journal_as_of_a_short_one) {
  const auto cost = [](std::size_t tools, std::size_t turns) {
    JournalBuilder journal;
    for (std::size_t turn = 1; turn <= turns; ++turn) {
      journal.start_run(turn, "go");
      for (std::size_t i = 0; i < tools; ++i) {
        const std::string id = std::to_string(i);
        journal.call(id, "Read").update(id, "completed", "data").say("so ").say("on");
      }
      journal.end_run();
    }
    return read_page(journal.records(), {.limit = 20}, 50).records_read;
  };
  EXPECT_EQ(cost(10, 1000), cost(10, 20));  // many turns
  EXPECT_EQ(cost(10000, 1), cost(200, 1));  // one long turn
}

TEST(Transcript, A20_hash_is_the_same_for_ever) {
  JournalBuilder journal;
  journal.add(SessionCreated{}).start_run(1, "hello").think("hm").say("hi, мир").call("t", "Read");
  journal.update("t", "completed", "data").end_run();
  EXPECT_EQ(transcript_hash(fold_transcript(journal.records())).hex(),
            "e8be2313cfc4ff1780d27a1ac0b7392d3dad6e9dfb06e2195ee898c16ff848e5");
}

TEST(Transcript, A20_hash_tells_every_field_apart) {
  JournalBuilder journal;
  journal.start_run(1, "ab").call("t", "c");
  const auto messages = fold_transcript(journal.records());
  const Hash hash = transcript_hash(messages);
  const auto changed = [&](auto change) {
    auto copy = messages;
    change(copy[0]);
    return transcript_hash(copy) != hash;
  };
  EXPECT_TRUE(changed([](auto& m) {
    m.content = "a";
    m.thinking = "b";
  }));
  EXPECT_TRUE(changed([](auto& m) { m.first_seq = 9; }));
  EXPECT_TRUE(changed([](auto& m) { m.last_seq = 9; }));
  EXPECT_TRUE(changed([](auto& m) { m.role = MessageRole::assistant; }));
  EXPECT_TRUE(changed([](auto& m) { m.thinking_complete = true; }));
  EXPECT_TRUE(changed([](auto& m) { m.at.ms += 1; }));
  EXPECT_TRUE(changed([](auto& m) { m.message = {}; }));
  EXPECT_TRUE(changed([](auto& m) { m.agent_message_id = "x"; }));
  EXPECT_TRUE(changed([](auto& m) { m.tool_call_id = "x"; }));
  EXPECT_TRUE(changed([](auto& m) { m.title = "x"; }));
  EXPECT_TRUE(changed([](auto& m) { m.tool_kind = "x"; }));
  EXPECT_TRUE(changed([](auto& m) { m.status = "x"; }));
  EXPECT_TRUE(changed([](auto& m) { m.run = {}; }));
  EXPECT_TRUE(changed([](auto& m) { m.after_run = some_id<RunId>(4); }));
  EXPECT_TRUE(changed([](auto& m) { m.outcome = MessageOutcome::open; }));
  EXPECT_TRUE(changed([](auto& m) { m.steered = true; }));
  EXPECT_TRUE(changed([](auto& m) { m.blocks.text = "[]"; }));
}

}  // namespace
}  // namespace perdure
