// The repair plan as a table (A13, A14, X19): states left by a crash, and the records that close
// them.
#include "core/session/transitions/repair.h"

#include <gtest/gtest.h>

#include "core/session/machine.h"
#include "core/session/random_journal_for_test.h"

namespace perdure {
namespace {

using testing::JournalBuilder;

State fold(const std::vector<Record>& records) {
  State state;
  for (const Record& record : records) state = evolve(std::move(state), record.event);
  return state;
}

std::vector<std::string> plan_of(const State& state) {
  std::vector<std::string> out;
  for (const EventBody& body : plan_repair(state)) {
    if (holds_alternative<RepairClosedMessage>(body)) out.emplace_back("message");
    if (const auto* tool = get_if<RepairClosedTool>(&body)) {
      out.push_back(tool->tool_call_id + " " + tool->outcome);
    }
  }
  return out;
}

struct Row {
  const char* what;
  JournalBuilder journal;
  std::vector<std::string> plan;
};

std::vector<Row> rows() {
  const auto started = [] { return JournalBuilder().start_run(1, "x"); };
  return {
      {"nothing said", started(), {}},
      {"a message", started().say("half a sen"), {"message"}},
      {"a tool", started().call("t1", "ls"), {"t1 unknown"}},
      {"a tool that ended", started().call("t1", "ls").update("t1", "completed"), {}},
      {"a tool that failed", started().call("t1", "ls").update("t1", "failed"), {}},
      {"a message and two tools, in order",
       started().call("t2", "make").call("t1", "ls").say("while it runs"),
       {"message", "t1 unknown", "t2 unknown"}},
      {"one of two tools",
       started().call("t1", "ls").call("t2", "make").update("t1", "completed"),
       {"t2 unknown"}},
      {"a whole turn", JournalBuilder().turn(1, "x", "y"), {}},
  };
}

TEST(Repair, A13_A14_the_plan_closes_what_is_open_and_nothing_else) {
  for (const Row& row : rows()) {
    EXPECT_EQ(plan_of(fold(row.journal.records())), row.plan) << row.what;
  }
}

TEST(Repair, X19_what_was_repaired_once_has_an_empty_plan) {
  for (const Row& row : rows()) {
    JournalBuilder journal = row.journal;
    for (const EventBody& body : plan_repair(fold(journal.records()))) journal.add(body);
    EXPECT_TRUE(plan_repair(fold(journal.records())).empty()) << row.what;
  }
}

}  // namespace
}  // namespace perdure
