// Questions of the agent: each has one id of ours and gets one answer, whichever ids the agent uses
// and whichever daemon is attached.
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "fixture.h"

namespace perdure {
namespace {

using testing::HasSubstr;
using testing::Not;

class Permission : public Agentctl {
 protected:
  static std::vector<FramePermission> asked(const Driver& driver) {
    std::vector<FramePermission> found;
    for (const Frame& frame : driver.frames) {
      if (const auto* one = get_if<FramePermission>(&frame.body)) found.push_back(*one);
    }
    return found;
  }
};

TEST_F(Permission, X18_questions_at_once_get_their_own_answers) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  driver.prompt("permission 3 concurrent; say 1");
  ASSERT_TRUE(driver.until_frame("permission.asked", 3));
  const auto questions = asked(driver);
  EXPECT_NE(questions[0].request, questions[1].request);
  driver.command(AnswerRequest{questions[2].request, "allow_always"});
  driver.command(AnswerRequest{questions[0].request, "reject_once"});
  driver.command(AnswerRequest{questions[1].request, ""});
  ASSERT_TRUE(driver.until_frame("run.finished"));
  EXPECT_THAT(driver.text(), HasSubstr(questions[0].tool_call_id + " reject_once"));
  EXPECT_THAT(driver.text(), HasSubstr(questions[1].tool_call_id + " cancelled"));
  EXPECT_THAT(driver.text(), HasSubstr(questions[2].tool_call_id + " allow_always"));
}

TEST_F(Permission, X18_an_id_used_again_is_another_question) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  driver.prompt("permission 2 reused_id");
  ASSERT_TRUE(driver.until_frame("permission.asked"));
  driver.command(AnswerRequest{asked(driver)[0].request, "allow_once"});
  ASSERT_TRUE(driver.until_frame("permission.asked", 2));
  const auto questions = asked(driver);
  EXPECT_NE(questions[0].request, questions[1].request);
  // The first is answered: this must not reach the second, which reuses its id.
  driver.command(AnswerRequest{questions[0].request, "allow_always"});
  driver.command(AnswerRequest{questions[1].request, "reject_once"});
  ASSERT_TRUE(driver.until_frame("run.finished"));
  EXPECT_THAT(driver.text(), HasSubstr("allow_once"));
  EXPECT_THAT(driver.text(), HasSubstr("reject_once"));
  EXPECT_THAT(driver.text(), Not(HasSubstr("allow_always")));
}

TEST_F(Permission, X18_an_id_used_again_while_open_makes_the_first_question_void) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  const RunId run = driver.prompt("permission 2 concurrent reused_id");
  ASSERT_TRUE(driver.until_frame("permission.asked", 2));
  const auto questions = asked(driver);
  ASSERT_EQ(driver.count("permission.gone"), 1U);
  EXPECT_EQ(driver.last<FramePermissionGone>()->request, questions[0].request);
  driver.command(AnswerRequest{questions[0].request, "allow_always"});
  driver.command(AnswerRequest{questions[1].request, "reject_once"});
  ASSERT_TRUE(driver.until([&] { return driver.text().find("_once") != std::string::npos; }));
  EXPECT_THAT(driver.text(), Not(HasSubstr("allow_always")));
  driver.command(CancelPrompt{run});  // the agent still waits for an answer that it made impossible
  ASSERT_TRUE(driver.until_frame("run.finished"));
}

TEST_F(Permission, N6_the_first_answer_wins) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  driver.prompt("permission 1; say 1");
  ASSERT_TRUE(driver.until_frame("permission.asked"));
  const std::string request = asked(driver)[0].request;
  driver.command(AnswerRequest{request, "reject_once"});
  driver.command(AnswerRequest{request, "allow_always"});
  driver.command(AnswerRequest{"request-99", "allow_always"});
  ASSERT_TRUE(driver.until_frame("run.finished"));
  EXPECT_THAT(driver.text(), HasSubstr("reject_once"));
  EXPECT_THAT(driver.text(), Not(HasSubstr("allow_always")));
  // After the end of its turn it has no effect.
  driver.command(AnswerRequest{request, "allow_always"});
  ASSERT_TRUE(driver.run("say 1"));
  EXPECT_THAT(driver.text(), Not(HasSubstr("allow_always")));
}

TEST_F(Permission, N6_N9_a_cancel_answers_open_questions_and_later_answers_do_nothing) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  const RunId run = driver.prompt("permission 2 concurrent; say 1");
  ASSERT_TRUE(driver.until_frame("permission.asked", 2));
  const std::string request = asked(driver)[0].request;
  driver.command(CancelPrompt{run});
  driver.command(AnswerRequest{request, "allow_once"});
  ASSERT_TRUE(driver.until_frame("run.finished"));
  EXPECT_EQ(driver.last<FrameRunFinished>()->stop_reason, "cancelled");
  EXPECT_THAT(driver.text(), Not(HasSubstr("allow_once")));
}

TEST_F(Permission, N6_N7_an_answer_on_a_breaking_link_is_delivered_once) {
  DriverSetup recorded = setup();
  record(recorded);
  Driver& driver = begin(recorded);
  ASSERT_TRUE(driver.open_session());
  driver.prompt("permission 1; say 2; sleep 300; say 1");
  ASSERT_TRUE(driver.until_frame("permission.asked"));
  const std::string request = asked(driver)[0].request;
  const FrameNo last = driver.frames.back().number;
  driver.command_numbered(10, AnswerRequest{request, "allow_once"});
  driver_.reset();  // it is unknown whether it arrived

  driver_ = std::make_unique<Driver>(recorded);
  driver_->execution().attach(2, last);
  ASSERT_TRUE(driver_->until([&] { return !driver_->attaches.empty(); }));
  driver_->command_numbered(10, AnswerRequest{request, "allow_once"});
  ASSERT_TRUE(driver_->until_frame("run.finished"));
  EXPECT_EQ(driver_->acted, 10U);
  EXPECT_EQ(driver_->count("permission.asked"), 0U) << "asked once, and told once";
  EXPECT_EQ(told("\"outcome\"").size(), 1U);
  EXPECT_THAT(driver_->text(), HasSubstr("allow_once"));
}

TEST_F(Permission, N7_X18_an_agent_that_leaves_with_its_question_open) {
  Driver& driver = begin_next({"permission_then_exit"});
  ASSERT_TRUE(driver.open_session());
  const RunId run = driver.prompt("say 1");
  ASSERT_TRUE(driver.until_frame("agent.exited"));
  ASSERT_EQ(driver.count("permission.asked"), 1U);
  EXPECT_EQ(driver.frames.back().run, run) << "the exit ends its run";
  EXPECT_EQ(driver.last<FrameAgentExited>()->exit.why, "exited");
  const std::string id = driver.last<FrameSessionOpened>()->agent_session_id;
  driver.command(AnswerRequest{asked(driver)[0].request, "allow_once"});  // nothing is attached
  // The next process asks with another id, and the old answer does not reach it.
  ASSERT_TRUE(start_agent(driver));
  ASSERT_TRUE(load(driver, id));
  driver.prompt("say 1");
  ASSERT_TRUE(driver.until_frame("permission.asked", 2));
  const auto questions = asked(driver);
  EXPECT_NE(questions[0].request, questions[1].request);
  ASSERT_TRUE(driver.until_frame("agent.exited", 2));
}

}  // namespace
}  // namespace perdure
