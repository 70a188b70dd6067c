// G8: everything that an agent, or a misbehaving daemon, can make grow is bounded, and limits.h
// says what happens at each bound. R4: late parts of a replay are dropped.
#include <string>

#include <gmock/gmock.h>

#include "agentctl/supervisor/agent/agent_on_stage_for_test.h"
#include "base/limits.h"

namespace perdure {
namespace {

using ::testing::HasSubstr;

class AgentBounds : public AgentOnStage {
 protected:
  void load(const std::string& id) {
    agent_->act(OpenSession{.method = OpenMethod::load, .agent_session_id = id});
  }
  void fail_load() {
    std::string id;
    for (const acp::RpcMessage& message : heard()) {
      if (message.method == "session/load") id = message.id.text;
    }
    say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-32002,"message":"unknown"}})");
  }
};

TEST_F(AgentBounds, G8_prompts_that_wait_are_refused_beyond_their_number) {
  open();
  prompt();
  for (std::size_t i = 0; i < queue_prompts_max; ++i) prompt();
  EXPECT_TRUE(told<FrameRunFailed>().empty());
  const RunId last = prompt();
  ASSERT_EQ(told<FrameRunFailed>().size(), 1U);
  EXPECT_EQ(told<FrameRunFailed>()[0].run, last);
  EXPECT_EQ(told<FrameRunFailed>()[0].failure.code, "limit_reached");
  EXPECT_EQ(frames_.back().run, last);
}

TEST_F(AgentBounds, G8_prompts_that_wait_are_refused_beyond_their_bytes) {
  open();
  prompt();
  const std::string text(agent_unread_bytes_max / 2, 'x');
  const auto send = [&] {
    agent_->act(SendPrompt{.run = ids_.next<RunId>(), .prompt = {.text = text}});
  };
  send();
  send();
  EXPECT_TRUE(told<FrameRunFailed>().empty());
  send();
  EXPECT_EQ(told<FrameRunFailed>().size(), 1U);
}

TEST_F(AgentBounds, G8_settings_that_wait_are_refused_beyond_their_number) {
  start();
  agent_->act(OpenSession{.method = OpenMethod::fresh});
  answer("session/new", R"({"sessionId":"s1","modes":{"currentModeId":"a","availableModes":[]}})");
  const std::size_t before = told<AgentUpdate>().size();
  for (std::size_t i = 0; i < options_waiting_max; ++i) {
    agent_->act(SetOptions{.options = {{"mode", std::to_string(i)}}});
  }
  EXPECT_EQ(heard("session/set_mode"), 1U);
  EXPECT_EQ(told<AgentUpdate>().size(), before);
  agent_->act(SetOptions{.options = {{"mode", "b"}}});
  ASSERT_EQ(told<AgentUpdate>().size(), before + 1);
  EXPECT_THAT(told<AgentUpdate>().back().update.text, HasSubstr("option_refused"));
}

TEST_F(AgentBounds, G8_questions_beyond_their_number_are_answered_cancelled) {
  open();
  prompt();
  for (std::size_t i = 0; i < waits_open_max; ++i) ask_permission(std::to_string(1000 + i));
  EXPECT_EQ(told<FramePermission>().size(), waits_open_max);
  ask_permission("7");
  EXPECT_EQ(answers("7"), 1U);
  EXPECT_EQ(told<FramePermission>().size(), waits_open_max);
  // There is room again.
  agent_->act(AnswerRequest{told<FramePermission>()[0].request, "allow"});
  ask_permission("8");
  EXPECT_EQ(answers("8"), 0U);
  ask_permission('"' + std::string(4096, 'i') + '"');
  EXPECT_EQ(told<FramePermission>().size(), waits_open_max + 1) << "an id of that length";
}

TEST_F(AgentBounds, G7_G8_a_question_offers_so_many_options_with_names_of_such_a_length) {
  open();
  prompt();
  const std::string huge(1UL << 20, 'x');
  std::string options = R"({"optionId":")" + huge + R"(","name":"no","kind":"allow_once"})";
  for (std::size_t i = 0; i < question_options_max + 5; ++i) {
    options += R"(,{"optionId":")" + std::to_string(i) + R"(","name":")" + huge.substr(0, 1000) +
               R"(","kind":"allow_once"})";
  }
  say(R"({"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{)"
      R"("sessionId":"s1","toolCall":{"toolCallId":"t1","title":")" +
      huge + R"("},"options":[)" + options + "]}}");
  ASSERT_EQ(told<FramePermission>().size(), 1U);
  const FramePermission asked = told<FramePermission>()[0];
  EXPECT_EQ(asked.title, huge.substr(0, title_bytes_max - 3) + "…") << "one sees that it was cut";
  EXPECT_EQ(asked.options_left_out, 6U);
  ASSERT_EQ(asked.options.size(), question_options_max);
  EXPECT_EQ(asked.options[0].id, "0");
  EXPECT_EQ(asked.options[0].name.size(), question_option_bytes_max);
  EXPECT_GT(asked.update.text.size(), huge.size()) << "all of it is kept";
}

TEST_F(AgentBounds, G7_an_id_that_two_options_share_or_that_is_empty_is_not_offered) {
  open();
  prompt();
  const auto option = [](const std::string& id, const std::string& kind) {
    return R"({"optionId":")" + id + R"(","name":")" + kind + R"(","kind":")" + kind + "\"}";
  };
  say(R"({"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{)"
      R"("sessionId":"s1","toolCall":{"toolCallId":"t1","title":"x"},"options":[)" +
      option("z", "allow_once") + "," + option("n", "reject_once") + "," +
      option("z", "reject_once") + "," + option("", "allow_always") + "]}}");
  ASSERT_EQ(told<FramePermission>().size(), 1U);
  const FramePermission asked = told<FramePermission>()[0];
  EXPECT_EQ(asked.options, (std::vector<PermissionOption>{{"n", "reject_once", "reject_once"}}));
  EXPECT_EQ(asked.options_left_out, 3U);
}

// Accepts every request and never answers.
class Deaf final : public AgentRequests {
 public:
  bool serve(const std::string&, const std::string&, Reply reply) override {
    replies.push_back(std::move(reply));
    return true;
  }
  std::vector<Reply> replies;
};

TEST_F(AgentBounds, G8_requests_beyond_their_number_are_answered_with_an_error) {
  Deaf deaf;
  agent_.emplace(AgentPorts{clock_, loop_, processes_, static_cast<FrameSink&>(*this), &deaf},
                 setup());
  open();
  prompt();
  const auto ask = [&](const std::string& id) {
    say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"fs/read_text_file","params":{}})");
  };
  for (std::size_t i = 0; i < agent_requests_open_max; ++i) ask(std::to_string(1000 + i));
  EXPECT_EQ(deaf.replies.size(), agent_requests_open_max);
  ask("7");
  EXPECT_EQ(answers("7"), 1U);
  EXPECT_EQ(deaf.replies.size(), agent_requests_open_max);
  deaf.replies[0](std::string("{}"));
  EXPECT_EQ(answers("1000"), 1U);
  ask("8");
  EXPECT_EQ(answers("8"), 0U);
  agent_.reset();
}

TEST_F(AgentBounds, X5_G8_of_the_sessions_that_were_refused_the_oldest_is_forgotten) {
  start();
  for (std::size_t i = 0; i <= sessions_refused_max; ++i) {
    load("old-" + std::to_string(i));
    fail_load();
  }
  agent_->act(OpenSession{.method = OpenMethod::fresh});
  answer("session/new", R"({"sessionId":"s1"})");
  const std::string words = R"({"sessionUpdate":"agent_message_chunk","content":{}})";
  const std::size_t before = frames_.size();
  update(words, "old-1");
  update(words, "old-" + std::to_string(sessions_refused_max));
  EXPECT_EQ(frames_.size(), before);
  update(words, "old-0");  // forgotten, so it may be another session's
  EXPECT_EQ(told<AgentUpdate>().size(), 1U);
  EXPECT_TRUE(told<MessageAgent>().empty());
}

TEST_F(AgentBounds, R4_a_prompt_waits_for_a_replay_that_began_again) {
  start();
  load("s1");
  answer("session/load", "null");
  loop_.advance_ms(300);
  ASSERT_EQ(told<FrameSessionOpened>().size(), 1U);
  loop_.advance_ms(5'000);
  chunk("user_message_chunk", "an old question");
  prompt();
  EXPECT_EQ(heard("session/prompt"), 0U);
  loop_.advance_ms(200);
  chunk("agent_message_chunk", "an old reply");
  update(R"({"sessionUpdate":"tool_call","toolCallId":"t1","status":"completed"})");
  loop_.advance_ms(299);
  EXPECT_EQ(heard("session/prompt"), 0U);
  loop_.advance_ms(1);
  EXPECT_EQ(heard("session/prompt"), 1U);
  EXPECT_TRUE(told<MessageAgent>().empty());
  EXPECT_TRUE(told<ToolCall>().empty());
  ASSERT_EQ(told<AgentUpdate>().size(), 1U);
  EXPECT_EQ(told<AgentUpdate>()[0].update.text, R"({"perdure":"late_replay","updates":3})");
  chunk("agent_message_chunk", "a new reply");
  EXPECT_EQ(told<MessageAgent>().size(), 1U);
}

TEST_F(AgentBounds, R4_an_agent_that_never_falls_silent_gets_its_prompt_all_the_same) {
  start();
  load("s1");
  answer("session/load", "null");
  loop_.advance_ms(300);
  chunk("agent_message_chunk", "old");
  prompt();
  for (int i = 0; i < 449; ++i) {
    loop_.advance_ms(200);
    chunk("agent_message_chunk", "old");
  }
  EXPECT_EQ(heard("session/prompt"), 0U);
  loop_.advance_ms(200);
  chunk("agent_message_chunk", "old");
  loop_.advance_ms(300);
  EXPECT_EQ(heard("session/prompt"), 1U);
}

TEST_F(AgentBounds, R3_R4_what_comes_behind_a_resume_is_history_until_the_first_prompt) {
  agent_->act(StartAgent{});
  answer("initialize",
         R"({"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"resume":{}}}})");
  agent_->act(OpenSession{.method = OpenMethod::resume, .agent_session_id = "s1"});
  answer("session/resume", "{}");
  ASSERT_EQ(told<FrameSessionOpened>().size(), 1U);
  loop_.advance_ms(60'000);
  chunk("agent_message_chunk", "old");
  EXPECT_TRUE(told<MessageAgent>().empty());
  // Settings are not history.
  update(R"({"sessionUpdate":"current_mode_update","currentModeId":"plan"})");
  EXPECT_EQ(told<Mode>().size(), 1U);
  prompt();
  EXPECT_EQ(heard("session/prompt"), 0U);
  loop_.advance_ms(300);
  EXPECT_EQ(heard("session/prompt"), 1U);
}

TEST_F(AgentBounds, R4_a_waiting_prompt_can_be_cancelled_and_the_agent_never_hears_of_it) {
  start();
  load("s1");
  answer("session/load", "null");
  loop_.advance_ms(300);
  chunk("agent_message_chunk", "old");
  const RunId run = prompt();
  agent_->act(CancelPrompt{run});
  loop_.advance_ms(10'000);
  EXPECT_EQ(heard("session/prompt"), 0U);
  ASSERT_EQ(told<FrameRunFinished>().size(), 1U);
  EXPECT_EQ(told<FrameRunFinished>()[0].stop_reason, "cancelled");
}

}  // namespace
}  // namespace perdure
