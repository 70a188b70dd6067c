// Shows the rung and the losses for each possible end of a resume.
#include "core/views/receipt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/session/random_journal_for_test.h"

namespace perdure {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::some_id;

State after_turns(std::uint64_t turns) {
  State state;
  state.context = {.agent_session_id = "a-1", .prompts = turns, .history_prompts = turns};
  return state;
}

TEST(Receipt, K3_K4_K5_rungs_by_number_and_name) {
  struct Row {
    ContextBoundary boundary;
    int number;
    const char* name;
  };
  const Row rows[] = {
      {{.how = BoundaryHow::native_resume}, 2, "resume"},
      {{.how = BoundaryHow::native_load}, 3, "load"},
      {{.how = BoundaryHow::injected, .inject = true}, 4, "inject"},
      {{.how = BoundaryHow::handover, .inject = true}, 4, "inject"},
      {{.how = BoundaryHow::handover}, 5, "new"},
      {{.how = BoundaryHow::fresh}, 5, "new"},
      {{.how = BoundaryHow::cleared}, 0, "none"},
  };
  for (const Row& row : rows) {
    const Receipt receipt = make_receipt(row.boundary, after_turns(1));
    EXPECT_EQ(rung_number(receipt.rung), row.number);
    EXPECT_EQ(enum_text(receipt.rung), row.name);
    EXPECT_EQ(receipt.how, row.boundary.how);
  }
}

TEST(Receipt, C14_live_agent_lost_nothing) {
  const Receipt receipt = make_live_receipt(after_turns(12));
  EXPECT_EQ(rung_number(receipt.rung), 1);
  EXPECT_TRUE(receipt.already_running);
  EXPECT_EQ(receipt.agent_session_id, "a-1");
  EXPECT_THAT(receipt.lost, IsEmpty());
}

TEST(Receipt, C4_native_resume_passes_on_how_far_it_was_verified) {
  const ContextBoundary boundary{
      .how = BoundaryHow::native_resume, .agent_session_id = "a-1", .verified = Verified::id_only};
  const Receipt receipt = make_receipt(boundary, after_turns(12));
  EXPECT_EQ(receipt.verified, Verified::id_only);
  EXPECT_EQ(receipt.agent_session_id, "a-1");
  EXPECT_FALSE(receipt.already_running);
  EXPECT_THAT(receipt.lost, IsEmpty());
}

TEST(Receipt, C4_partly_restored_says_how_much) {
  const ContextBoundary boundary{
      .how = BoundaryHow::native_load, .verified = Verified::partial, .replayed_prompts = 3};
  EXPECT_THAT(make_receipt(boundary, after_turns(12)).lost,
              ElementsAre("the agent returned 3 of its 12 earlier prompts"));
}

TEST(Receipt, C4_partly_verified_with_every_prompt_back_lost_none) {
  const ContextBoundary boundary{
      .how = BoundaryHow::native_load, .verified = Verified::partial, .replayed_prompts = 12};
  EXPECT_THAT(make_receipt(boundary, after_turns(12)).lost, IsEmpty());
}

TEST(Receipt, X12_an_interrupted_turn_may_be_missing_from_the_agents_own_store) {
  State state = after_turns(2);
  state.last_run =
      EndedRun{.end = RunEnd::interrupted, .interrupted = InterruptReason::process_exit};
  const ContextBoundary boundary{.how = BoundaryHow::native_load, .verified = Verified::full};
  EXPECT_THAT(make_receipt(boundary, state).lost,
              ElementsAre("text of the interrupted turn may be missing"));
  state.last_run = EndedRun{.end = RunEnd::completed};
  EXPECT_THAT(make_receipt(boundary, state).lost, IsEmpty());
}

TEST(Receipt, X6_a_fresh_start_says_what_is_gone_and_why) {
  const ContextBoundary boundary{.how = BoundaryHow::fresh,
                                 .agent_session_id = "a-2",
                                 .reason = "session_unknown",
                                 .attempts = {{.failure = OpenFailure::session_unknown}}};
  const Receipt receipt = make_receipt(boundary, after_turns(12));
  EXPECT_EQ(receipt.agent_session_id, "a-2");
  EXPECT_EQ(receipt.reason, "session_unknown");
  EXPECT_EQ(receipt.attempts.size(), 1U);
  EXPECT_THAT(receipt.lost, ElementsAre("the agent starts without any of the 12 earlier turns"));
  EXPECT_THAT(make_receipt(boundary, after_turns(1)).lost,
              ElementsAre("the agent starts without the earlier turn"));
}

TEST(Receipt, X11_a_session_that_was_never_prompted_loses_nothing) {
  EXPECT_THAT(make_receipt(ContextBoundary{.how = BoundaryHow::fresh}, after_turns(0)).lost,
              IsEmpty());
  EXPECT_THAT(
      make_receipt(ContextBoundary{.how = BoundaryHow::injected, .inject = true}, after_turns(0))
          .lost,
      IsEmpty());
}

TEST(Receipt, C12_injection_is_armed_then_counted) {
  const ContextBoundary boundary{.how = BoundaryHow::injected, .inject = true};
  const Receipt armed = make_receipt(boundary, after_turns(12));
  EXPECT_TRUE(armed.inject_armed);
  EXPECT_FALSE(armed.injected);
  EXPECT_THAT(armed.lost, Contains(HasSubstr("own memory of the 12 earlier turns")));
  EXPECT_THAT(armed.lost, Contains(HasSubstr("with the next prompt")));

  const Receipt done = make_receipt(boundary, after_turns(12),
                                    ContextInjected{.turns = 9, .turns_of = 12, .chars = 58'000});
  EXPECT_FALSE(done.inject_armed);
  EXPECT_EQ(done.injected, (Receipt::Injected{.turns = 9, .of = 12, .chars = 58'000}));
  EXPECT_THAT(done.lost, Contains("3 earlier turns did not fit into that text, or only partly"));
}

TEST(Receipt, X7_C22_a_failed_resume_keeps_the_id) {
  const ResumeFailed failed{.failure = OpenFailure::auth, .message = "log in first"};
  const Receipt receipt = make_receipt(failed, after_turns(12));
  EXPECT_EQ(rung_number(receipt.rung), 0);
  EXPECT_EQ(receipt.how, std::nullopt);
  EXPECT_EQ(receipt.agent_session_id, "a-1");
  EXPECT_EQ(receipt.reason, "log in first");
  EXPECT_THAT(receipt.lost, IsEmpty());
  EXPECT_EQ(make_receipt(ResumeFailed{.failure = OpenFailure::timeout}, after_turns(1)).reason,
            "timeout");
}

TEST(Receipt, K37_a_rejected_id_is_not_shown_as_kept) {
  State state = after_turns(12);
  state.context.rejected = true;
  EXPECT_EQ(
      make_receipt(ResumeFailed{.failure = OpenFailure::session_unknown}, state).agent_session_id,
      "");
}

}  // namespace
}  // namespace perdure
