// Reading the end of a journal gives the same as the whole fold, for any length of the session and
// any start of the page.
#include "daemon/runtime/reads/journal_reader.h"

#include <gtest/gtest.h>

#include "daemon/runtime/fixture_for_test.h"

namespace perdure {
namespace {

void talk(Daemon& daemon, int turns) {
  ASSERT_TRUE(daemon.create().has_value());
  for (int turn = 0; turn < turns; ++turn) {
    ASSERT_TRUE(daemon.ask(SubmitPrompt{{.text = "prompt " + std::to_string(turn)}}).has_value());
    if (turn == 0) {
      daemon.settle();
      daemon.agent_comes_up();
      daemon.settle();
    }
    const RunId run = daemon.state().run->id;
    for (int i = 0; i < 40; ++i) daemon.frame(MessageAgent{.text = "word "}, run);
    daemon.frame(ToolCall{.tool_call_id = "t" + std::to_string(turn), .title = "sh"}, run);
    daemon.frame(
        ToolUpdate{
            .tool_call_id = "t" + std::to_string(turn), .status = "completed", .text = "out"},
        run);
    daemon.frame(FrameRunFinished{run, "end_turn"});
  }
}

TEST(JournalReader, A20_A22_pages_walked_backwards_give_the_whole_transcript) {
  Daemon daemon;
  talk(daemon, 30);
  const std::vector<TranscriptMessage> whole = fold_transcript(daemon.records());
  std::vector<TranscriptMessage> walked;
  TranscriptPage::Ask ask{.limit = 7};
  while (true) {
    Result<TranscriptSlice> slice = read_transcript(*daemon.store, daemon.session, ask);
    ASSERT_TRUE(slice.has_value());
    walked.insert(walked.begin(), slice->messages.begin(), slice->messages.end());
    if (!slice->has_older) break;
    ask.before = walked.front().first_seq;
  }
  EXPECT_EQ(walked, whole);
}

TEST(JournalReader, K30_the_context_of_a_prompt_ends_at_its_boundary) {
  Daemon daemon;
  talk(daemon, 3);
  const State state = daemon.state();
  const Result<ResumeContext> context = read_resume_context(
      *daemon.store, daemon.session,
      {.history_from = 0, .boundary = state.head, .turns_of = state.context.history_prompts});
  ASSERT_TRUE(context.has_value());
  EXPECT_EQ(context->turns, 3U);
  EXPECT_EQ(context->turns_of, 3U);
  EXPECT_TRUE(context->text.contains("prompt 0"));
}

}  // namespace
}  // namespace perdure
