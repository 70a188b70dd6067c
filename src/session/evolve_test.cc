// The fold: total, so that a journal of any origin opens; equal wherever it is cut in two; bounded.
#include "base/limits.h"
#include "session/scenario_for_test.h"

namespace perdure {
namespace {

using testing::IsEmpty;

State fold(const std::vector<Record>& records) {
  State state;
  for (const Record& record : records) state = evolve(std::move(state), record.event);
  return state;
}

// A life with something of everything in it.
std::vector<Record> eventful_life() {
  Scenario s = Scenario::running({.policy = {.auto_continue = true, .wait_ms = 1000}});
  s.say("hello").tool("t1", "in_progress");
  s.ok(AnswerPermission{s.ask(), "allow"});
  s.submit("queued");
  s.frame(Mode{.value = "plan"});
  s.booted().gone();
  s.ok(ReleaseQueue{});
  s.executor_ready().agent_started({}).opened().injection();
  s.ask();
  s.stop();
  s.ok(ArchiveSession{});
  return s.records();
}

TEST(Evolve, J4_a_fold_that_is_cut_anywhere_and_continued_ends_the_same) {
  const std::vector<Record> records = eventful_life();
  const State whole = fold(records);
  State snapshot;
  for (std::size_t cut = 0; cut < records.size(); ++cut) {
    State continued = snapshot;
    for (std::size_t i = cut; i < records.size(); ++i) {
      continued = evolve(std::move(continued), records[i].event);
    }
    ASSERT_EQ(continued, whole) << "cut at " << cut;
    snapshot = evolve(std::move(snapshot), records[cut].event);
  }
}

TEST(Evolve, X25_an_unknown_kind_is_counted_and_changes_nothing) {
  const State before = fold(eventful_life());
  State after = evolve(before, Event{before.updated, {}, UnknownEvent{"from.the.future", {"{}"}}});
  EXPECT_EQ(after.head, before.head + 1);
  after.head = before.head;
  EXPECT_EQ(after, before);
}

TEST(Evolve, X22_every_suffix_of_a_journal_folds_without_ending_the_process) {
  const std::vector<Record> records = eventful_life();
  for (std::size_t from = 0; from < records.size(); ++from) {
    State state;
    for (std::size_t i = from; i < records.size(); ++i) {
      state = evolve(std::move(state), records[i].event);
    }
    EXPECT_EQ(state.head, records.size() - from);
  }
}

TEST(Evolve, G8_closed_tokens_are_remembered_for_a_while_and_then_forgotten) {
  Scenario s = Scenario::running();
  const PermissionId first = s.ask("req-first");
  s.ok(AnswerPermission{first, "allow"});
  for (std::size_t i = 1; i < waits_closed_kept; ++i) {
    s.ok(AnswerPermission{s.ask("req-" + std::to_string(i)), "allow"});
  }
  EXPECT_TRUE(s.ok(AnswerPermission{first, "allow"}).nothing_to_do);
  s.ok(AnswerPermission{s.ask("one more"), "allow"});
  EXPECT_EQ(s.state().closed_waits.size(), waits_closed_kept);
  EXPECT_EQ(s.refused(AnswerPermission{first, "allow"}), Code::not_found);
}

TEST(Evolve, G8_open_tools_are_bounded) {
  State state = fold(Scenario::running().records());
  const Origin origin{.run = state.run->id, .exec = state.exec.id, .gen = state.exec.gen};
  for (std::size_t i = 0; i <= tools_open_max; ++i) {
    state = evolve(std::move(state),
                   Event{state.updated, origin, ToolCall{.tool_call_id = std::to_string(i)}});
  }
  EXPECT_EQ(state.open_tools.size(), tools_open_max);
}

TEST(Evolve, a_tool_is_open_until_its_end_is_said) {
  Scenario s = Scenario::running();
  s.tool("t1", "").tool("t2", "pending").tool("t3", "in_progress");
  EXPECT_EQ(s.state().open_tools.size(), 3U);
  EXPECT_EQ(s.state().open_tools.at("t2"), "Run it");
  s.frame(ToolUpdate{.tool_call_id = "t1", .status = "completed"});
  s.frame(ToolUpdate{.tool_call_id = "t2", .status = "failed"});
  s.frame(ToolUpdate{.tool_call_id = "t3", .status = "cancelled"});
  EXPECT_THAT(s.state().open_tools, IsEmpty());
}

TEST(Evolve, the_counts_that_the_ladder_uses_follow_the_journal) {
  Scenario s = Scenario::worked();
  EXPECT_EQ(s.state().context.prompts, 1U);
  EXPECT_EQ(s.state().context.turns, 1U);
  s.submit("two");
  s.fail_run();
  EXPECT_EQ(s.state().context.prompts, 2U);
  EXPECT_EQ(s.state().context.turns, 1U);
  EXPECT_EQ(s.state().context.history_prompts, 2U);
  EXPECT_EQ(s.state().runs, 2U);
}

TEST(Evolve, a_record_moves_the_time_of_the_session) {
  Scenario s = Scenario::live();
  const Timestamp created = s.state().created;
  s.pass(5000).say("hm");
  EXPECT_EQ(s.state().created, created);
  EXPECT_EQ(s.state().updated.ms, created.ms + 5000);
}

}  // namespace
}  // namespace perdure
