// Requests that an editor serves: handed out once, answered, and served by the workspace if no
// editor lends.
#include "agentctl/supervisor/services/lending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agentctl/supervisor/fake_world_for_test.h"
#include "base/json/json_view.h"

namespace perdure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string read = R"({"sessionId":"a","path":"/w/file"})";

struct LendingOnStage {
  LendingOnStage()
      : lending({.loop = loop,
                 .roots = {"/w"},
                 .workspace = [this](const std::string& method, const std::string&,
                                     Lending::AgentReply reply) {
                   served.push_back(method);
                   reply(std::string(R"("by the workspace")"));
                 }}) {}

  void lend(const std::string& lender, std::uint64_t got = 0) {
    lending.lend(R"({"lender":")" + lender + R"(","got":)" + std::to_string(got) +
                     R"(,"fs_read":true,"fs_write":true,"terminal":true})",
                 [this](const Result<std::string>& result) {
                   told.push_back(result ? *result : result.error().message());
                 });
  }
  // Offers a request; whether a lender takes it.
  bool ask(const std::string& method, const std::string& params = read) {
    Lending::AgentReply reply = [this](std::expected<std::string, acp::RpcError> answer) {
      answers.push_back(answer ? *answer : answer.error().message);
    };
    return lending.offer(method, params, reply);
  }

  FakeLoop loop;
  Lending lending;
  std::vector<std::string> told;     // lenders
  std::vector<std::string> answers;  // to the agent
  std::vector<std::string> served;   // by the workspace
};

TEST(Lending, X30_a_request_goes_to_the_editor_and_its_answer_to_the_agent) {
  LendingOnStage stage;
  EXPECT_FALSE(stage.ask("fs/read_text_file")) << "nobody lends";
  stage.lend("e");
  EXPECT_THAT(stage.told, IsEmpty());
  EXPECT_TRUE(stage.ask("fs/read_text_file"));
  ASSERT_EQ(stage.told.size(), 1U);
  EXPECT_THAT(stage.told[0], HasSubstr(R"("id":1,"method":"fs/read_text_file")"));
  // It has not polled again yet but still counts as present.
  EXPECT_TRUE(stage.ask("fs/write_text_file"));
  stage.lend("e", 1);
  ASSERT_EQ(stage.told.size(), 2U);
  ASSERT_TRUE(stage.lending.give_back(R"({"id":2,"result":{}})"));
  ASSERT_TRUE(stage.lending.give_back(R"({"id":1,"error":{"code":-32002,"message":"none"}})"));
  EXPECT_THAT(stage.answers, ElementsAre("{}", "none"));
  EXPECT_EQ(stage.lending.give_back(R"({"id":1,"result":{}})").error().code(), Code::not_found);
  EXPECT_THAT(stage.served, IsEmpty());
}

TEST(Lending, N5_what_got_lost_on_the_way_to_the_editor_comes_again) {
  LendingOnStage stage;
  stage.lend("e");
  EXPECT_TRUE(stage.ask("fs/read_text_file"));
  stage.lend("e", 0);
  ASSERT_EQ(stage.told.size(), 2U);
  EXPECT_EQ(stage.told[0], stage.told[1]);
}

TEST(Lending, L24_an_editor_that_went_away_leaves_it_to_the_workspace) {
  LendingOnStage stage;
  stage.lend("e");
  EXPECT_TRUE(stage.ask("fs/read_text_file"));
  stage.loop.advance_ms(6'000);
  EXPECT_THAT(stage.served, ElementsAre("fs/read_text_file"));
  EXPECT_THAT(stage.answers, ElementsAre(R"("by the workspace")"));
  EXPECT_FALSE(stage.ask("fs/read_text_file"));
}

TEST(Lending, one_that_waits_is_answered_and_one_that_is_slow_is_passed_over) {
  LendingOnStage stage;
  stage.lend("e");
  stage.loop.advance_ms(21'000);
  EXPECT_THAT(stage.told, ElementsAre(R"({"request":null})"));
  stage.lend("e");
  EXPECT_TRUE(stage.ask("fs/read_text_file"));
  for (int i = 0; i < 7; ++i) {
    stage.lend("e", 1);
    stage.loop.advance_ms(19'000);
  }
  EXPECT_THAT(stage.served, ElementsAre("fs/read_text_file"));
}

TEST(Lending, X21_nothing_outside_of_the_workspace_is_asked_of_an_editor) {
  LendingOnStage stage;
  stage.lend("e");
  EXPECT_FALSE(stage.ask("fs/read_text_file", R"({"path":"/etc/passwd"})"));
  EXPECT_FALSE(stage.ask("fs/read_text_file", R"({"path":"/w/../etc/passwd"})"));
  EXPECT_FALSE(stage.ask("session/request_permission"));
}

TEST(Lending, a_terminal_stays_with_the_editor_that_made_it) {
  LendingOnStage stage;
  const std::string terminal = R"({"terminalId":"t1"})";
  stage.lend("e");
  EXPECT_FALSE(stage.ask("terminal/output", terminal)) << "one of the workspace";
  EXPECT_TRUE(stage.ask("terminal/create", R"({"command":"ls"})"));
  ASSERT_TRUE(stage.lending.give_back(R"({"id":1,"result":{"terminalId":"t1"}})"));
  stage.lend("e", 1);
  EXPECT_TRUE(stage.ask("terminal/wait_for_exit", terminal));
  stage.loop.advance_ms(6'000);
  EXPECT_THAT(stage.answers.back(), HasSubstr("gone"));
  EXPECT_TRUE(stage.ask("terminal/output", terminal)) << "answered with an error, not elsewhere";
  EXPECT_THAT(stage.served, IsEmpty());
}

}  // namespace
}  // namespace perdure
