// The timeouts and escalations of an agent's life, on a manual clock; and agent messages that are
// late, repeated or endless.
#include "agentctl/supervisor/agent/agent.h"

#include <csignal>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agentctl/supervisor/agent/agent_on_stage_for_test.h"
#include "base/limits.h"
#include "base/text.h"

namespace perdure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using AgentTest = AgentOnStage;

TEST_F(AgentTest, X4_an_ignored_cancel_becomes_term_and_then_kill) {
  open();
  const RunId run = prompt();
  agent_->act(CancelPrompt{run});
  EXPECT_EQ(heard("session/cancel"), 1U);
  loop_.advance_ms(9'999);
  EXPECT_THAT(child().signals, IsEmpty());
  loop_.advance_ms(1);
  EXPECT_THAT(child().signals, ElementsAre(SIGTERM));
  loop_.advance_ms(2'999);
  EXPECT_THAT(child().signals, ElementsAre(SIGTERM));
  loop_.advance_ms(1);
  EXPECT_THAT(child().signals, ElementsAre(SIGTERM, SIGKILL));
  exit({.signal = SIGKILL});
  ASSERT_EQ(told<FrameAgentExited>().size(), 1U);
  EXPECT_EQ(told<FrameAgentExited>()[0].exit.why, "killed");
  EXPECT_EQ(frames_.back().run, run);
}

TEST_F(AgentTest, X4_a_cancel_that_is_obeyed_ends_the_ladder) {
  open();
  const RunId run = prompt();
  agent_->act(CancelPrompt{run});
  agent_->act(CancelPrompt{run});
  EXPECT_EQ(heard("session/cancel"), 1U);
  answer("session/prompt", R"({"stopReason":"cancelled"})");
  loop_.advance_ms(60'000);
  EXPECT_THAT(child().signals, IsEmpty());
  ASSERT_EQ(told<FrameRunFinished>().size(), 1U);
  EXPECT_EQ(told<FrameRunFinished>()[0].stop_reason, "cancelled");
}

TEST_F(AgentTest, P13_a_limit_that_is_told_as_the_only_words_of_a_good_turn_is_a_failure) {
  open();
  prompt();
  chunk("agent_message_chunk", "Error: 429 Rate limit reached. Please try again in 2h0m0s.");
  answer("session/prompt", R"({"stopReason":"end_turn"})");
  ASSERT_EQ(told<FrameRunFailed>().size(), 1U);
  EXPECT_EQ(told<FrameRunFailed>()[0].failure.code, "rate_limited");
  EXPECT_TRUE(told<FrameRunFailed>()[0].failure.reset_at.has_value());
  // Text that mentions a limit is not a limit.
  prompt();
  chunk("agent_message_chunk", "The server says Error: 429 Rate limit reached.");
  answer("session/prompt", R"({"stopReason":"end_turn"})");
  EXPECT_EQ(told<FrameRunFailed>().size(), 1U);
  EXPECT_EQ(told<FrameRunFinished>().size(), 1U);
}

TEST_F(AgentTest, C23_a_turn_lasts_until_what_was_steered_into_it_is_answered_too) {
  open();
  const RunId run = prompt();
  const std::string first = heard().back().id.text;
  agent_->act(SteerPrompt{.run = run, .prompt = {.text = "and that"}});
  EXPECT_EQ(heard("session/prompt"), 2U);
  say(R"({"jsonrpc":"2.0","id":)" + first + R"(,"result":{"stopReason":"cancelled"}})");
  EXPECT_TRUE(told<FrameRunFinished>().empty());
  chunk("agent_message_chunk", "that too");
  EXPECT_EQ(frames_.back().run, run);
  answer("session/prompt", R"({"stopReason":"end_turn"})");
  ASSERT_EQ(told<FrameRunFinished>().size(), 1U);
  EXPECT_EQ(told<FrameRunFinished>()[0].stop_reason, "end_turn");
}

TEST_F(AgentTest, C23_what_is_steered_is_told_before_anything_that_comes_of_it) {
  open();
  const RunId run = prompt();
  const auto message = MessageId(Ulid::make({1}, 0, 7));
  agent_->act(SteerPrompt{.run = run, .message = message, .prompt = {.text = "and that"}});
  ASSERT_EQ(told<FrameSteerTaken>().size(), 1U);
  EXPECT_EQ(told<FrameSteerTaken>()[0].message, message);
  EXPECT_EQ(frames_.back().run, run);
}

TEST_F(AgentTest, C23_Q1_a_steer_behind_its_turn_is_neither_given_nor_told) {
  open();
  const RunId run = prompt();
  answer("session/prompt", R"({"stopReason":"end_turn"})");
  agent_->act(SteerPrompt{.run = run, .prompt = {.text = "too late"}});
  const RunId next = prompt();
  agent_->act(SteerPrompt{.run = run, .prompt = {.text = "not this one"}});
  agent_->act(CancelPrompt{next});
  agent_->act(SteerPrompt{.run = next, .prompt = {.text = "into its end"}});
  EXPECT_EQ(heard("session/prompt"), 2U);
  EXPECT_TRUE(told<FrameSteerTaken>().empty());
}

TEST_F(AgentTest, C23_RUN4_what_cannot_be_told_is_not_given) {
  open();
  const RunId run = prompt();
  has_room_ = false;
  agent_->act(SteerPrompt{.run = run, .prompt = {.text = "and that"}});
  EXPECT_EQ(heard("session/prompt"), 1U);
  EXPECT_TRUE(told<FrameSteerTaken>().empty());
  has_room_ = true;
  agent_->act(SteerPrompt{.run = run, .prompt = {.text = "and that"}});
  EXPECT_EQ(heard("session/prompt"), 2U);
}

TEST_F(AgentTest, C23_a_refused_steer_is_shown_and_the_turn_goes_on) {
  open();
  const RunId run = prompt();
  const std::string first = heard().back().id.text;
  agent_->act(SteerPrompt{.run = run, .prompt = {.text = "and that"}});
  say(R"({"jsonrpc":"2.0","id":)" + heard().back().id.text +
      R"(,"error":{"code":-32600,"message":"one at a time"}})");
  EXPECT_TRUE(told<FrameRunFailed>().empty());
  ASSERT_EQ(told<AgentUpdate>().size(), 1U);
  EXPECT_THAT(told<AgentUpdate>()[0].update.text, HasSubstr("prompt_refused"));
  say(R"({"jsonrpc":"2.0","id":)" + first + R"(,"result":{"stopReason":"end_turn"}})");
  EXPECT_EQ(told<FrameRunFinished>().size(), 1U);
}

TEST_F(AgentTest, an_agent_that_does_not_answer_initialize_is_ended) {
  agent_->act(StartAgent{});
  loop_.advance_ms(59'999);
  EXPECT_THAT(child().signals, IsEmpty());
  loop_.advance_ms(1);
  EXPECT_THAT(child().signals, ElementsAre(SIGTERM));
  exit({.signal = SIGTERM});
  ASSERT_EQ(told<FrameAgentExited>().size(), 1U);
  EXPECT_THAT(told<FrameAgentExited>()[0].exit.stderr_tail, HasSubstr("no answer to initialize"));
}

TEST_F(AgentTest, X8_an_opening_fails_by_silence_and_not_by_its_length) {
  start();
  agent_->act(OpenSession{.method = OpenMethod::load, .agent_session_id = "s1"});
  for (int i = 0; i < 5; ++i) {
    loop_.advance_ms(80'000);
    chunk("agent_message_chunk", "history");
  }
  EXPECT_TRUE(told<FrameOpenFailed>().empty());
  loop_.advance_ms(89'999);
  EXPECT_TRUE(told<FrameOpenFailed>().empty());
  loop_.advance_ms(1);
  ASSERT_EQ(told<FrameOpenFailed>().size(), 1U);
  EXPECT_EQ(told<FrameOpenFailed>()[0].failure, OpenFailure::timeout);
  EXPECT_THAT(child().signals, IsEmpty());
}

TEST_F(AgentTest, R4_a_load_is_open_when_its_replay_has_settled) {
  start();
  agent_->act(OpenSession{.method = OpenMethod::load, .agent_session_id = "s1"});
  chunk("user_message_chunk", "question");
  chunk("agent_message_chunk", "reply");
  answer("session/load", "null");
  loop_.advance_ms(200);
  chunk("user_message_chunk", "late question");
  loop_.advance_ms(299);
  EXPECT_TRUE(told<FrameSessionOpened>().empty());
  loop_.advance_ms(1);
  ASSERT_EQ(told<FrameSessionOpened>().size(), 1U);
  EXPECT_EQ(told<FrameSessionOpened>()[0].replayed_prompts, 2U);
  EXPECT_EQ(told<FrameSessionOpened>()[0].replayed_updates, 3U);
  chunk("agent_message_chunk", "later still");
  EXPECT_TRUE(told<MessageAgent>().empty());
  prompt();
  loop_.advance_ms(300);  // the replay must be quiet again
  chunk("agent_message_chunk", "new");
  EXPECT_EQ(told<MessageAgent>().size(), 1U);
}

// Hashes the received bytes: two loads' replays can be compared without keeping them.
TEST_F(AgentTest, C10_a_replay_is_hashed_update_by_update) {
  start();
  agent_->act(OpenSession{.method = OpenMethod::load, .agent_session_id = "s1"});
  const std::string asked =
      R"({"sessionUpdate":"user_message_chunk", "content":{"type":"text","text":"a"},"_meta":1})";
  const std::string said =
      R"({"content":{"type":"text","text":"b"},"sessionUpdate":"agent_message_chunk"})";
  update(asked);
  update(R"({"sessionUpdate":"available_commands_update","availableCommands":[]})");
  update(said);
  answer("session/load", "null");
  loop_.advance_ms(1000);
  ASSERT_EQ(told<FrameSessionOpened>().size(), 1U);
  EXPECT_EQ(told<FrameSessionOpened>()[0].replayed_updates, 2U);
  EXPECT_EQ(told<FrameSessionOpened>()[0].replay_sha256, sha256(asked + "\n" + said + "\n"));
}

TEST_F(AgentTest, C10_without_a_replay_there_is_no_hash) {
  open();
  ASSERT_EQ(told<FrameSessionOpened>().size(), 1U);
  EXPECT_EQ(told<FrameSessionOpened>()[0].replay_sha256, Hash{});
}

// docs/decisions/0007: an id comes only from the answer that opened the session.
TEST_F(AgentTest, K40_an_id_in_an_update_or_in_the_end_of_a_turn_is_kept_raw_and_not_taken) {
  open();
  prompt();
  const std::string elsewhere =
      R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}})";
  update(elsewhere, "s2");
  const std::string hint =
      R"({"sessionUpdate":"session_info_update","_meta":{"sessionId":"s2"},"title":"t"})";
  update(hint);
  answer("session/prompt", R"({"stopReason":"end_turn","_meta":{"sessionId":"s2"}})");
  std::vector<std::string> raw;
  for (const AgentUpdate& one : told<AgentUpdate>()) raw.push_back(one.update.text);
  EXPECT_THAT(raw, ElementsAre(elsewhere, hint));
  EXPECT_TRUE(told<MessageAgent>().empty()) << "another session's words are not ours";
  EXPECT_EQ(told<FrameSessionOpened>().size(), 1U);
  prompt();
  EXPECT_THAT(heard().back().params, HasSubstr(R"("sessionId":"s1")"));
}

TEST_F(AgentTest, X12_a_load_waits_for_the_moment_at_which_the_agent_can_do_it) {
  AgentSetup later = setup();
  later.launch.times.load_not_before = Timestamp{clock_.now().wall.ms + 5'000};
  agent_.emplace(AgentPorts{clock_, loop_, processes_, static_cast<FrameSink&>(*this)}, later);
  start();
  agent_->act(OpenSession{.method = OpenMethod::load, .agent_session_id = "s1"});
  loop_.advance_ms(4'999);
  EXPECT_EQ(heard("session/load"), 0U);
  loop_.advance_ms(1);
  EXPECT_EQ(heard("session/load"), 1U);
}

TEST_F(AgentTest, X12_a_clock_that_was_set_back_delays_a_load_no_longer_than_the_limit) {
  AgentSetup later = setup();
  later.launch.times.load_not_before = Timestamp{clock_.now().wall.ms + 10 * load_wait_ms_max};
  agent_.emplace(AgentPorts{clock_, loop_, processes_, static_cast<FrameSink&>(*this)}, later);
  start();
  agent_->act(OpenSession{.method = OpenMethod::load, .agent_session_id = "s1"});
  loop_.advance_ms(load_wait_ms_max);
  EXPECT_EQ(heard("session/load"), 1U);
}

TEST_F(AgentTest, an_answer_to_a_rung_that_was_given_up_is_not_that_of_the_next) {
  start();
  agent_->act(OpenSession{.method = OpenMethod::resume, .agent_session_id = "s1"});
  loop_.advance_ms(90'000);
  ASSERT_EQ(told<FrameOpenFailed>().size(), 1U);
  agent_->act(OpenSession{.method = OpenMethod::load, .agent_session_id = "s1"});
  answer("session/resume", R"({"sessionId":"s1"})");
  loop_.advance_ms(1'000);
  EXPECT_TRUE(told<FrameSessionOpened>().empty());
  answer("session/load", "null");
  loop_.advance_ms(300);
  ASSERT_EQ(told<FrameSessionOpened>().size(), 1U);
  EXPECT_EQ(told<FrameSessionOpened>()[0].method, OpenMethod::load);
}

TEST_F(AgentTest, P6_a_stall_is_told_once_until_there_is_a_sign_of_life) {
  open();
  const RunId run = prompt();
  loop_.advance_ms(599'999);
  EXPECT_TRUE(told<FrameRunStalled>().empty());
  loop_.advance_ms(1);
  ASSERT_EQ(told<FrameRunStalled>().size(), 1U);
  EXPECT_EQ(told<FrameRunStalled>()[0].run, run);
  loop_.advance_ms(1'800'000);
  EXPECT_EQ(told<FrameRunStalled>().size(), 1U);
  chunk("agent_message_chunk", "awake");
  loop_.advance_ms(1'200'000);
  EXPECT_EQ(told<FrameRunStalled>().size(), 2U);
}

TEST_F(AgentTest, P6_neither_a_tool_nor_a_question_is_a_stall) {
  open();
  prompt();
  update(R"({"sessionUpdate":"tool_call","toolCallId":"t1","title":"build","status":"pending"})");
  loop_.advance_ms(3'600'000);
  EXPECT_TRUE(told<FrameRunStalled>().empty());
  update(R"({"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"})");
  ask_permission("5");
  loop_.advance_ms(3'600'000);
  EXPECT_TRUE(told<FrameRunStalled>().empty());
  agent_->act(AnswerRequest{told<FramePermission>().at(0).request, "allow"});
  loop_.advance_ms(1'200'000);
  EXPECT_EQ(told<FrameRunStalled>().size(), 1U);
}

TEST_F(AgentTest, P14_early_deaths_slow_the_start_and_then_end_it) {
  for (const std::int64_t delay_ms : {0, 1'000, 2'000, 4'000, 8'000}) {
    const std::size_t before = processes_.children.size();
    agent_->act(StartAgent{});
    if (delay_ms > 0) {
      loop_.advance_ms(delay_ms - 1);
      EXPECT_EQ(processes_.children.size(), before) << delay_ms;
      loop_.advance_ms(1);
    }
    ASSERT_EQ(processes_.children.size(), before + 1) << delay_ms;
    child().events->on_error_output("broken \xff pipe");
    exit({.code = 1});
  }
  agent_->act(StartAgent{});
  loop_.advance_ms(60'000);
  EXPECT_EQ(processes_.children.size(), 5U);
  ASSERT_EQ(told<FrameAgentExited>().size(), 6U);
  EXPECT_EQ(told<FrameAgentExited>()[5].exit.why, "crash_loop");
  EXPECT_TRUE(is_utf8(told<FrameAgentExited>()[5].exit.stderr_tail));
  agent_->act(StartAgent{});
  EXPECT_EQ(processes_.children.size(), 6U);
}

TEST_F(AgentTest, a_stop_closes_the_input_then_terminates_then_kills) {
  open();
  prompt();
  ask_permission("5");
  std::size_t stopped = 0;
  agent_->stop([&] { ++stopped; });
  EXPECT_EQ(heard("session/cancel"), 1U);
  EXPECT_EQ(answers("5"), 1U);
  EXPECT_TRUE(child().input_closed);
  loop_.advance_ms(1'999);
  EXPECT_THAT(child().signals, IsEmpty());
  loop_.advance_ms(1);
  EXPECT_THAT(child().signals, ElementsAre(SIGTERM));
  loop_.advance_ms(3'000);
  EXPECT_THAT(child().signals, ElementsAre(SIGTERM, SIGKILL));
  EXPECT_EQ(stopped, 0U);
  processes_.marked_left = 2;  // two hidden children
  exit({.signal = SIGKILL});
  EXPECT_EQ(stopped, 0U);
  loop_.advance_ms(1'000);
  EXPECT_EQ(stopped, 1U);
  EXPECT_EQ(told<FrameAgentExited>().at(0).exit.why, "stopped");
}

TEST_F(AgentTest, P1_out_of_memory_is_told_no_surer_than_its_evidence) {
  struct Case {
    OomEvidence evidence;
    const char* why;
    const char* words;
  };
  const Case cases[] = {{OomEvidence::group, "out_of_memory", "probably out of memory"},
                        {OomEvidence::machine, "crashed", "perhaps out of memory"}};
  for (const auto& [evidence, why, words] : cases) {
    open();
    prompt();
    exit({.signal = SIGKILL, .oom = evidence});
    const AgentExited told_exit = told<FrameAgentExited>().back().exit;
    EXPECT_EQ(told_exit.why, why);
    EXPECT_EQ(told_exit.signal, SIGKILL);
    EXPECT_THAT(told_exit.stderr_tail, HasSubstr(words));
  }
  open();
  exit({.signal = SIGKILL});
  EXPECT_EQ(told<FrameAgentExited>().back().exit.why, "crashed");
  EXPECT_EQ(told<FrameAgentExited>().back().exit.stderr_tail, "");
}

TEST_F(AgentTest, P15_what_was_at_work_beyond_its_turn_is_reported_as_lost) {
  open();
  prompt();
  update(R"({"sessionUpdate":"subagent_update","sessionId":"c1","title":"Explore",)"
         R"("state":{"state":"running"}})");
  update(R"({"sessionUpdate":"subagent_update","sessionId":"c2","title":"Review",)"
         R"("state":{"state":"running"}})");
  update(R"({"sessionUpdate":"tool_call","toolCallId":"t1","title":"npm run dev",)"
         R"("status":"in_progress"})");
  update(R"({"sessionUpdate":"tool_call","toolCallId":"t2","title":"ls","status":"pending"})");
  answer("session/prompt", R"({"stopReason":"end_turn"})");
  update(R"({"sessionUpdate":"subagent_update","sessionId":"c2","state":{"state":"idle"}})");
  update(R"({"sessionUpdate":"tool_call_update","toolCallId":"t2","status":"completed"})");
  exit({.code = 0});
  const std::string told_tail = told<FrameAgentExited>().back().exit.stderr_tail;
  EXPECT_THAT(told_tail, HasSubstr("lost with it"));
  EXPECT_THAT(told_tail, HasSubstr("subagent Explore; tool npm run dev"));
  EXPECT_THAT(told_tail, Not(HasSubstr("Review")));
  EXPECT_THAT(told_tail, Not(HasSubstr("ls")));
  // The next agent starts with an empty tail.
  open();
  exit({.code = 0});
  EXPECT_EQ(told<FrameAgentExited>().back().exit.stderr_tail, "");
}

TEST_F(AgentTest, O26_C9_a_turn_that_only_a_stop_cancelled_is_left_without_an_end) {
  open();
  prompt();
  agent_->stop([] {});
  EXPECT_EQ(heard("session/cancel"), 1U);
  answer("session/prompt", R"({"stopReason":"cancelled"})");
  exit({.code = 0});
  EXPECT_THAT(told<FrameRunFinished>(), IsEmpty());
  EXPECT_THAT(told<FrameRunFailed>(), IsEmpty());
  EXPECT_EQ(told<FrameAgentExited>().size(), 1U);
}

TEST_F(AgentTest, a_turn_that_ends_by_itself_while_it_is_stopped_keeps_its_end) {
  open();
  prompt();
  agent_->stop([] {});
  answer("session/prompt", R"({"stopReason":"end_turn"})");
  ASSERT_EQ(told<FrameRunFinished>().size(), 1U);
  EXPECT_EQ(told<FrameRunFinished>()[0].stop_reason, "end_turn");
}

TEST_F(AgentTest, a_start_while_it_stops_waits_for_the_end_of_the_old_one) {
  open();
  child().events->on_output_end();
  agent_->act(StartAgent{});
  EXPECT_THAT(child().signals, ElementsAre(SIGKILL));
  agent_->act(StartAgent{});
  EXPECT_EQ(processes_.children.size(), 1U);
  exit({.signal = SIGKILL});
  EXPECT_EQ(processes_.children.size(), 2U);
  EXPECT_EQ(processes_.alive(), 1U);
  EXPECT_TRUE(told<FrameAgentExited>().empty());
  answer("initialize", R"({"protocolVersion":1})");
  EXPECT_EQ(told<FrameAgentStarted>().size(), 2U);
}

TEST_F(AgentTest, TOK4_a_question_that_was_answered_and_taken_back_has_one_answer) {
  const std::string take_back =
      R"({"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}})";
  open();
  prompt();
  ask_permission("5");
  agent_->act(AnswerRequest{told<FramePermission>().at(0).request, "allow"});
  say(take_back);
  EXPECT_EQ(answers("5"), 1U);
  ask_permission("5");
  say(take_back);
  say(take_back);
  agent_->act(AnswerRequest{told<FramePermission>().at(1).request, "allow"});
  EXPECT_EQ(answers("5"), 2U);
  EXPECT_EQ(told<FramePermissionGone>().size(), 1U);
  const std::size_t before = heard().size();
  say(R"({"jsonrpc":"2.0","method":"$/cancel_request","params":{}})");
  EXPECT_EQ(heard().size(), before);
}

TEST_F(AgentTest, P8_a_flood_of_noise_leaves_its_tail_and_nothing_else) {
  open();
  const std::size_t frames = frames_.size();
  std::string flood;
  for (int i = 0; i < 30'000; ++i) flood += "x\n";
  for (int i = 0; i < 10; ++i) say(flood);
  say("the last words");
  EXPECT_EQ(frames_.size(), frames);
  exit({.code = 1});
  const std::string tail = told<FrameAgentExited>().at(0).exit.stderr_tail;
  EXPECT_LE(tail.size(), stderr_tail_bytes);
  EXPECT_TRUE(tail.ends_with("[stdout] the last words\n"));
  EXPECT_THAT(tail, HasSubstr("[stdout] x\n"));
}

TEST_F(AgentTest, G8_updates_before_the_session_is_open_are_kept_within_bounds) {
  start();
  agent_->act(OpenSession{.method = OpenMethod::fresh});
  const std::string text(1UL << 20, 'x');
  for (int i = 0; i < 8; ++i) chunk("agent_message_chunk", text);
  answer("session/new", R"({"sessionId":"s1"})");
  EXPECT_EQ(told<FrameSessionOpened>().size(), 1U);
  EXPECT_EQ(told<MessageAgent>().size(), 3U);
  EXPECT_EQ(agent_->updates_dropped(), 5U);
}

}  // namespace
}  // namespace perdure
