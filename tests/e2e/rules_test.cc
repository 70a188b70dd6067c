// Typed permission rules end to end: a real daemon, real agents, the command line.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "daemon_test.h"

namespace perdure {
namespace {

class Rules : public DaemonTest {
 protected:
  // The test agent's question.
  void ask(const std::string& session, const std::string& tool) {
    const std::string options =
        R"("options":[{"optionId":"yes","name":"Allow","kind":"allow_once"},)"
        R"({"optionId":"ever","name":"Always","kind":"allow_always"},)"
        R"({"optionId":"no","name":"Reject","kind":"reject_once"}])";
    ASSERT_TRUE(client_
                    ->prompt({.session = session,
                              .text = "call session/request_permission {\"toolCall\":{" + tool +
                                      "}," + options + "}"})
                    .ok());
  }
  static std::string run_tool(const std::string& command) {
    return R"("toolCallId":"t","title":"Run it","kind":"execute","rawInput":{"command":")" +
           command + "\"}";
  }
  std::string rule(const std::string& body) {
    const ApiReply made = client_->post("/api/rules", body);
    EXPECT_EQ(made.status, 201) << made.body;
    return made.at("rule.id");
  }
  // The answer to question number `n`, once answered: "yes by rule:…".
  std::string answer(const std::string& session, std::size_t n) {
    std::vector<std::string> found;
    until([&] {
      found.clear();
      for (const std::string& each : client_->records(session)) {
        if (json_at(each, "kind") == "permission.resolved") found.push_back(each);
      }
      return found.size() >= n;
    });
    if (found.size() < n) return "";
    return json_at(found[n - 1], "option_id") + " by " + json_at(found[n - 1], "by");
  }
  ProgramRun run(const std::vector<std::string>& words) {
    std::vector<std::string> all = {daemon_->setup().program};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all, daemon_->environment());
  }
};

TEST_F(Rules, RULE10_one_rule_allows_one_asks_one_denies_and_each_answer_names_its_rule) {
  begin();
  const std::string session = client_->create_session({});
  const std::string folder = field(session, "cwd");
  const std::string allows =
      rule(R"({"effect":"allow","argv":["npm","test"],"folder":")" + folder + "\"}");
  const std::string denies = rule(R"({"effect":"deny","argv":["git","push"]})");
  rule(R"({"effect":"ask","argv":["npm","test","--publish"]})");
  ask(session, run_tool("npm test -- --watch"));
  EXPECT_EQ(answer(session, 1), "yes by rule:" + allows);
  ASSERT_TRUE(until_count(session, "run.completed", 1));
  ask(session, run_tool("npm test && git push"));
  EXPECT_EQ(answer(session, 2), "no by rule:" + denies);
  ASSERT_TRUE(until_count(session, "run.completed", 2));
  ask(session, run_tool("npm test --publish"));
  ASSERT_TRUE(until([&] { return field(session, "pending") != "[]"; }));
  EXPECT_EQ(client_->count(session, "permission.resolved"), 2u) << "a person decides";
  const std::string shown = run({"logs", session}).output;
  EXPECT_NE(shown.find("(rule:" + allows + ")"), std::string::npos) << shown;
  EXPECT_NE(shown.find("(rule:" + denies + ")"), std::string::npos) << shown;

  // The daemon is killed and restarted: it has the same rules, and the question is still open for a
  // person.
  daemon_->kill_daemon();
  ASSERT_TRUE(daemon_->start());
  ASSERT_TRUE(until([&] { return field(session, "pending") != "[]"; }));
  EXPECT_EQ(client_->count(session, "permission.resolved"), 2u);
  const ProgramRun listed = run({"rules", "ls"});
  EXPECT_NE(listed.output.find("allow `npm test` in " + folder), std::string::npos)
      << listed.output;

  const ProgramRun tried = run({"rules", "test", "allow", "--folder", folder, "--", "npm", "test"});
  EXPECT_NE(tried.output.find("would have allowed 1 of 3 questions of the last 30 days"),
            std::string::npos)
      << tried.output;
  EXPECT_NE(tried.output.find("1 more matches, but another rule asks or denies first"),
            std::string::npos)
      << tried.output;
}

TEST_F(Rules, RULE3_a_command_in_a_folder_behind_a_symlink_is_left_to_a_person) {
  begin();
  const std::string allows = rule(R"({"effect":"allow","argv":["npm","test"]})");
  const std::string session = client_->create_session({});
  const std::string folder = field(session, "cwd");
  std::filesystem::create_directory(folder + "/sub");
  std::filesystem::create_directory_symlink("/tmp", folder + "/out");
  const auto run_in = [&](const std::string& cwd) {
    ask(session, R"("toolCallId":"t","title":"Run it","kind":"execute","rawInput":)"
                 R"({"command":"npm test","cwd":")" +
                     cwd + "\"}");
  };
  run_in("sub");
  EXPECT_EQ(answer(session, 1), "yes by rule:" + allows);
  ASSERT_TRUE(until_count(session, "run.completed", 1));
  run_in("out");
  ASSERT_TRUE(until([&] { return field(session, "pending") != "[]"; }));
  EXPECT_EQ(client_->count(session, "permission.resolved"), 1u);
}

TEST_F(Rules, RULE4_the_demo_agent_may_edit_in_its_workspace_and_not_through_a_symlink) {
  begin();
  const std::string allows = rule(R"({"effect":"allow","tools":["edit"],"path":"workspace"})");
  const std::string session = client_->create_session({.agent = "demo"});
  ASSERT_TRUE(client_->prompt({.session = session, .text = "write a haiku"}).ok());
  EXPECT_EQ(answer(session, 1).substr(answer(session, 1).find(" by ")), " by rule:" + allows);
  ASSERT_TRUE(until_count(session, "run.completed", 1));

  const std::string other = client_->create_session({});
  const std::string folder = field(other, "cwd");
  std::filesystem::create_directory_symlink("/tmp", folder + "/out");
  const auto edit = [&](const std::string& path) {
    ask(other, R"("toolCallId":"e","title":"Edit","kind":"edit","locations":[{"path":")" + folder +
                   path + "\"}]");
  };
  edit("/src/new.txt");
  EXPECT_EQ(answer(other, 1), "yes by rule:" + allows);
  ASSERT_TRUE(until_count(other, "run.completed", 1));
  edit("/out/x");
  ASSERT_TRUE(until([&] { return field(other, "pending") != "[]"; }));
  EXPECT_EQ(client_->count(other, "permission.resolved"), 1u);
}

}  // namespace
}  // namespace perdure
