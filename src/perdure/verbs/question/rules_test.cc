// Tests the verbs on permission rules against a daemon with prepared answers.
#include <gtest/gtest.h>

#include "perdure/verbs/call/fake_daemon_for_test.h"

namespace perdure::cli {
namespace {

constexpr const char* trial =
    R"({"effect":"allow","text":"allow `npm test` in /h/project","days":30,"questions":212,)"
    R"("matched":41,"overruled":1,"answered_otherwise":2,"complete":false,"list":[)"
    R"({"session_id":"sess_a","session_title":"parser","perm_id":"perm_b","seq":7,)"
    R"("ts":"2026-11-18T19:40:00.000Z","title":"Run","command":"npm test\u001b[31m","answer":)"
    R"("allow_once","by":"uid:0","overruled":false}]})";
constexpr const char* body = R"({"effect":"allow","argv":["npm","test"],"folder":"/h/project"})";

class RuleVerbs : public testing::Test {
 protected:
  FakeCli cli;
  void SetUp() override {
    cli.daemon.answers["POST /api/rules/test"] = {200, trial};
    cli.daemon.answers["POST /api/rules"] = {
        201, R"({"rule":{"id":"rule_1","text":"allow `npm test` in /h/project"}})"};
  }
  const std::vector<std::string> add{"rules", "add", "allow", "--folder", ".", "--", "npm", "test"};
  std::string added() const { return cli.daemon.sent("POST /api/rules"); }
  bool prints(std::string_view text) const {
    return cli.console.printed.find(text) != std::string::npos;
  }
};

TEST_F(RuleVerbs, RULE11_add_shows_the_trial_and_asks_first) {
  cli.console.interactive = true;
  cli.console.typed = "n";
  EXPECT_EQ(cli.run(add), 4);
  EXPECT_EQ(added(), "(never called)");
  EXPECT_TRUE(prints("would have allowed 41 of 212 questions of the last 30 days."));
  EXPECT_TRUE(prints("2 of them were answered otherwise."));
  EXPECT_TRUE(prints("1 more matches, but another rule asks or denies first."));
  EXPECT_TRUE(prints("Older questions were not looked at."));
  EXPECT_TRUE(prints("2026-11-18 19:40  parser"));
  EXPECT_FALSE(prints("\x1b[31m")) << "an agent's letters do not reach the terminal";
  EXPECT_TRUE(prints("and 41 more"));
  cli.console.typed = "y";
  EXPECT_EQ(cli.run(add), 0);
  EXPECT_EQ(added(), body);
  EXPECT_TRUE(prints("rule_1  allow `npm test` in /h/project\n"));
}

TEST_F(RuleVerbs, RULE11_without_a_terminal_a_rule_needs_yes) {
  EXPECT_EQ(cli.run(add), 2);
  EXPECT_EQ(added(), "(never called)");
  std::vector<std::string> yes = add;
  yes.insert(yes.begin() + 3, "--yes");
  EXPECT_EQ(cli.run(yes), 0);
  EXPECT_EQ(added(), body);
  EXPECT_EQ(cli.daemon.sent("POST /api/rules/test"), "(never called)");
  EXPECT_FALSE(prints("would have allowed")) << "a daemon of an earlier version";
}

TEST_F(RuleVerbs, RULE11_with_yes_the_trial_is_shown_with_the_rule) {
  cli.daemon.answers["POST /api/rules"] = {
      201,
      R"({"rule":{"id":"rule_1","text":"allow `npm test`"},"trial":)" + std::string(trial) + "}"};
  EXPECT_EQ(cli.run({"rules", "add", "allow", "--yes", "--", "npm", "test"}), 0);
  EXPECT_TRUE(prints("would have allowed 41 of 212 questions of the last 30 days."));
  EXPECT_TRUE(prints("rule_1  allow `npm test`\n"));
}

TEST_F(RuleVerbs, RULE11_an_exact_rule_is_tried_first) {
  cli.console.interactive = true;
  cli.console.typed = "n";
  EXPECT_EQ(cli.run({"rules", "add", "deny", "--title", "Read x"}), 4);
  EXPECT_TRUE(cli.daemon.sent("POST /api/rules/test").contains(R"("title":"Read x")"));
  EXPECT_EQ(added(), "(never called)");
}

TEST_F(RuleVerbs, every_part_of_a_rule_can_be_said) {
  EXPECT_EQ(cli.run({"rules", "add", "deny", "--tool", "edit,delete", "--path", "outside",
                     "--agent", "demo", "-y"}),
            0);
  EXPECT_EQ(added(),
            R"({"effect":"deny","tools":["edit","delete"],"path":"outside","agent":"demo"})");
  EXPECT_EQ(cli.run({"rules", "add", "allow", "--tool", "edit", "--path", "src", "--yes"}), 0);
  EXPECT_EQ(added(), R"({"effect":"allow","tools":["edit"],"path":"/h/project/src"})");
  EXPECT_EQ(cli.run({"rules", "add", "deny", "--title", "Read x", "--yes"}), 0);
  EXPECT_EQ(added(), R"({"title":"Read x","option_kind":"reject_once"})");
  EXPECT_EQ(cli.run({"rules", "add", "permit", "--yes"}), 2);
}

TEST_F(RuleVerbs, test_ls_and_rm) {
  EXPECT_EQ(cli.run({"rules", "test", "allow", "--days", "7", "--", "npm", "test"}), 0);
  EXPECT_EQ(cli.daemon.sent("POST /api/rules/test"),
            R"({"effect":"allow","argv":["npm","test"],"days":7})");
  cli.daemon.answers["GET /api/rules"] = {
      200, R"({"rules":[{"id":"rule_2","title":"Read","option_kind":"allow_once","agent":null,)"
           R"("session_id":null}],"typed_rules":[{"id":"rule_1","text":"deny `rm`"}]})"};
  EXPECT_EQ(cli.run({"rules", "ls"}), 0);
  EXPECT_EQ(cli.console.printed, "rule_1  deny `rm`\nrule_2  allow_once \"Read\"\n");
  cli.daemon.answers["DELETE /api/rules/rule_1"] = {200, R"({"removed":"rule_1"})"};
  EXPECT_EQ(cli.run({"rules", "rm", "rule_1"}), 0);
  EXPECT_EQ(cli.console.printed, "removed\n");
}

TEST_F(RuleVerbs, RULE9_approve_always_keeps_the_chosen_rule_after_the_answer) {
  cli.daemon.answers["GET /api/inbox"] = {
      200, R"({"items":[{"kind":"permission","perm_id":"perm_01abcdefgh","session_id":)"
           R"("sess_01hzzzzzparser01","session_title":"parser","text":"Run","options":[)"
           R"({"option_id":"ok","name":"Allow","kind":"allow_once"}]}]})"};
  cli.daemon.answers["GET /api/sessions/sess_01hzzzzzparser01"] = {
      200, R"({"session":{"id":"sess_01hzzzzzparser01","title":"parser","cwd":"/h/project"}})"};
  cli.daemon.answers["GET /api/permissions/perm_01abcdefgh"] = {
      200, R"({"title":"Run","is_whole":true,"parts":[]})"};
  cli.daemon.answers["POST /api/permissions/perm_01abcdefgh"] = {200, R"({"outcome":"selected",)"
                                                                      R"("option_id":"ok"})"};
  const std::string offers = "GET /api/permissions/perm_01abcdefgh/rules";
  cli.daemon.answers[offers] = {200, R"({"suggested_rules":[]})"};
  const auto answered = [&] {
    return cli.daemon.sent("POST /api/permissions/perm_01abcdefgh") != "(never called)";
  };
  const std::vector<std::string> words{"approve", "perm_01abcdefgh", "--yes", "--always"};
  EXPECT_EQ(cli.run(words), 4);
  EXPECT_FALSE(answered()) << "no rule can be made, so nothing is answered";
  cli.daemon.answers[offers] = {
      200, R"({"suggested_rules":[{"text":"Always allow `npm test` in this project","rule":)" +
               std::string(body) + "}]}"};
  EXPECT_EQ(cli.run(words), 0) << cli.console.errors;
  EXPECT_TRUE(answered());
  EXPECT_EQ(added(), body);
  EXPECT_TRUE(prints("Rule kept: allow `npm test` in /h/project (rule_1)"));
}

}  // namespace
}  // namespace perdure::cli
