// Switches and scripts: every switch is documented, values are checked, errors change nothing.
#include "testing/agent/test_agent_switches.h"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "testing/agent/test_agent_script.h"
#include "testing/sequence.h"

namespace perdure::testagent {
namespace {

TEST(Switches, every_switch_has_its_row_in_the_document) {
  std::ifstream file(PERDURE_SOURCE_DIR "/docs/testagent.md");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  ASSERT_FALSE(text.empty());
  std::size_t rows = 0;
  for (std::size_t at = text.find("\n| `"); at != std::string::npos;
       at = text.find("\n| `", at + 1)) {
    rows += 1;
  }
  for (const std::string_view name : switch_names()) {
    EXPECT_NE(text.find("\n| `" + std::string(name) + "` |"), std::string::npos) << name;
  }
  // The rest are the verbs.
  const std::size_t verbs = static_cast<std::size_t>(Verb::raw) + 1;
  EXPECT_EQ(rows, switch_names().size() + verbs);
  for (std::size_t verb = 0; verb < verbs; ++verb) {
    const std::string name(enum_text(static_cast<Verb>(verb)));
    EXPECT_NE(text.find("\n| `" + name), std::string::npos) << name;
  }
}

TEST(Switches, values_reach_their_place) {
  const auto switches = parse_scenario(
      "# a life that ends badly\n"
      "\n"
      "crash_at=17:half\n"
      "  load_error = -32603,Internal error,no rollout, none at all\r\n"
      "load_replay=20,after,without_ids,gap_ms:5\n"
      "late_replay_frames=4,50\n"
      "permission=2,concurrent,reused_id\n"
      "exit_on_eof=no\n"
      "never_reads_stdin=1\n"
      "rate_limit=30,text\n"
      "stdout_noise=crlf,no_final_newline");
  ASSERT_TRUE(switches) << switches.error().message();
  ASSERT_TRUE(switches->crash_at);
  EXPECT_EQ(switches->crash_at->frame, 17U);
  EXPECT_EQ(switches->crash_at->death, Death::half_line);
  ASSERT_TRUE(switches->load.error);
  EXPECT_EQ(switches->load.error->code, -32603);
  EXPECT_EQ(switches->load.error->message, "Internal error");
  EXPECT_EQ(switches->load.error->details.text, R"({"details":"no rollout, none at all"})");
  EXPECT_EQ(switches->load.replay.frames, 20);
  EXPECT_TRUE(switches->load.replay.after_answer);
  EXPECT_TRUE(switches->load.replay.without_ids);
  EXPECT_EQ(switches->load.replay.gap_ms, 5);
  EXPECT_EQ(switches->load.late_frames, 4);
  EXPECT_EQ(switches->load.late_ms, 50);
  EXPECT_EQ(switches->permission.count, 2);
  EXPECT_TRUE(switches->permission.concurrent);
  EXPECT_TRUE(switches->permission.reused_id);
  EXPECT_FALSE(switches->exit_on_eof);
  EXPECT_EQ(switches->reads_stdin_lines, 1);
  EXPECT_EQ(switches->rate_limit->reset_s, 30);
  EXPECT_TRUE(switches->rate_limit->as_text);
  EXPECT_TRUE(switches->stdout_noise.crlf);
  EXPECT_FALSE(switches->stdout_noise.banner);
}

TEST(Switches, nonsense_is_refused_and_changes_nothing) {
  Switches switches;
  for (const char* word : {"fly", "crash_at", "crash_at=x", "crash_at=3:softly", "slow_start=-1",
                           "no_load=perhaps", "stdout_noise=loud", "protocol=3", "when_busy=panic",
                           "permission=two", "fork_child=twins", "load_replay=5,sideways"}) {
    const Result<> applied = apply_switch(switches, word);
    ASSERT_FALSE(applied) << word;
    EXPECT_EQ(applied.error().code(), Code::invalid_argument) << word;
  }
  EXPECT_FALSE(switches.crash_at);
  EXPECT_EQ(switches.load.replay.frames, -1);
  const auto scenario = parse_scenario("no_load\nfly\n");
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.error().message(), "line 2: there is no switch 'fly'");
}

TEST(Switches, load_ok_takes_other_load_switches_back) {
  Switches switches;
  ASSERT_TRUE(apply_switch(switches, "load_hang"));
  ASSERT_TRUE(apply_switch(switches, "load_ok"));
  EXPECT_FALSE(switches.load.hang);
}

TEST(Script, verbs_are_joined_and_anything_else_is_talk) {
  const auto steps = parse_script("say 2; chunks 10 64;permission 2 concurrent ; exit 3;");
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[0], (Step{.verb = Verb::say, .count = 2, .text = "2"}));
  EXPECT_EQ(steps[1].count, 10);
  EXPECT_EQ(steps[1].size, 64);
  EXPECT_TRUE(steps[2].concurrent);
  EXPECT_EQ(steps[3].count, 3);
  const std::deque<Step> talk = {Step{.verb = Verb::say, .count = 3}};
  EXPECT_EQ(parse_script("Please fix the tests; say nothing else"), talk);
  EXPECT_EQ(parse_script(""), talk);
}

TEST(Sequence, gaps_repetitions_and_wrong_order_are_found) {
  const auto whole = read_sequence("<p1:1>a <p1:2>b <p1:end=2>x <p2:1>c");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->at(1), (SeenTurn{2, true}));
  EXPECT_EQ(whole->at(2), (SeenTurn{1, false}));
  for (const char* text : {"<p1:1><p1:3>", "<p1:1><p1:1>", "<p1:2>", "<p1:1><p1:end=2>",
                           "<p1:1><p1:end=1><p1:2>", "<p2:1><p1:1>", "<p1:1><p1:", "<p1:1><p1"}) {
    const auto broken = read_sequence(text);
    ASSERT_FALSE(broken) << text;
    EXPECT_EQ(broken.error().code(), Code::damaged);
  }
}

}  // namespace
}  // namespace perdure::testagent
