// The audit trail of a real daemon: on both local engines, across kills and restarts, on the
// command line, in the log.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "daemon_test.h"

namespace perdure {
namespace {

using testing::HasSubstr;
using testing::Not;

class AuditEnd : public DaemonTest, public testing::WithParamInterface<std::string> {
 protected:
  ProgramRun run(const std::vector<std::string>& words) {
    std::vector<std::string> all = {daemon_->setup().program};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all, daemon_->environment());
  }
  std::vector<std::string> entries() {
    return json_list(client_->get("/api/audit?limit=1000").body, "entries");
  }
  std::size_t count(std::string_view what) {
    return static_cast<std::size_t>(std::ranges::count_if(
        entries(), [&](const std::string& entry) { return json_at(entry, "what") == what; }));
  }
};

TEST_P(AuditEnd, the_trail_outlives_kills_is_read_by_the_command_line_and_holds_no_secret) {
  begin({.arguments = {"--store", GetParam()}});
  const ApiReply made = client_->post("/api/tokens", R"({"name":"ci","scopes":["operate"]})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string session = client_->create_session({});
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1; permission 1"}).ok());
  ASSERT_TRUE(until_count(session, "run.waiting", 1));
  std::string question;
  for (const std::string& record : client_->records(session)) {
    if (json_at(record, "kind") == "permission.requested") question = json_at(record, "perm_id");
  }
  ASSERT_TRUE(client_->post("/api/permissions/" + question, R"({"option_id":"allow_once"})").ok());
  daemon_->kill_daemon();
  const Result<> started = daemon_->start();
  ASSERT_TRUE(started) << started.error().message();
  EXPECT_EQ(count("token.create"), 1U) << "an answered action has its entry";
  EXPECT_EQ(count("question.answer"), 1U);
  EXPECT_EQ(count("daemon.start"), 2U);
  std::uint64_t last = 0;
  for (const std::string& entry : entries()) {
    EXPECT_EQ(std::stoull(json_at(entry, "seq")), ++last) << "no gap";
    EXPECT_THAT(entry, Not(HasSubstr(made.at("text"))));
    EXPECT_THAT(entry, Not(HasSubstr("permission 1"))) << "a prompt's words";
  }
  const ProgramRun shown = run({"audit"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.output, HasSubstr("question.answer"));
  EXPECT_THAT(shown.output, HasSubstr("\"ci\", scope operate"));
  const ProgramRun lines = run({"audit", "--json", "--since", "1h"});
  EXPECT_EQ(static_cast<std::uint64_t>(std::ranges::count(lines.output, '\n')), last);
  // The trail is not listed among the sessions, and is intact.
  EXPECT_EQ(json_list(client_->get("/api/sessions").body, "sessions").size(), 1U);
  EXPECT_EQ(run({"verify"}).exit_code, 0);
}

TEST_P(AuditEnd, refused_logins_are_in_the_trail_and_in_the_log_and_a_flood_is_counted) {
  begin({.arguments = {"--store", GetParam()}});
  client_->use_token("wrong");
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(client_->get("/api/inbox").ok());
  client_->use_token("");
  EXPECT_EQ(count("sign_in.refuse"), 1U);
  EXPECT_THAT(daemon_->log(), HasSubstr("refused: sign_in.refuse from"));
}

TEST_P(AuditEnd, what_happens_while_no_daemon_runs_leaves_no_entry_of_its_own) {
  begin({.arguments = {"--store", GetParam()}});
  const std::string backup = daemon_->folder() + "/backup";
  ASSERT_EQ(run({"backup", backup}).exit_code, 0);
  const std::size_t before = entries().size();
  ASSERT_EQ(daemon_->stop(), 0);
  const ProgramRun copied = run({"store", "copy", daemon_->home(), "files:" + backup + ".copy"});
  ASSERT_EQ(copied.exit_code, 0) << copied.output;
  std::filesystem::create_directories(daemon_->home() + "/remotes");
  std::ofstream(daemon_->home() + "/remotes/box.json")
      << R"({"name":"box","host":"127.0.0.1","port":1,"secret":"s","fingerprint":")"
      << std::string(64, 'a') << "\"}\n";
  ASSERT_TRUE(daemon_->start());
  // The entries of the stop and the start are written asynchronously.
  std::vector<std::string> after;
  until([&] {
    after = entries();
    return after.size() >= before + 2;
  });
  ASSERT_EQ(after.size(), before + 2) << testing::PrintToString(after);
  EXPECT_EQ(json_at(after[before], "what"), "daemon.stop");
  EXPECT_EQ(json_at(after[before + 1], "what"), "daemon.start");
  EXPECT_THAT(json_at(after[before + 1], "text"), HasSubstr("remotes: box"));
}

// Each change of the rules is on disk before it is acknowledged, and so is each answer by a rule.
TEST_P(AuditEnd, rules_that_are_added_removed_or_answer_are_in_the_trail) {
  begin({.arguments = {"--store", GetParam()}});
  const auto add = [&](const std::string& body) {
    const ApiReply made = client_->post("/api/rules", body);
    EXPECT_EQ(made.status, 201) << made.body;
    return made.at("rule.id");
  };
  const std::string typed = add(R"({"effect":"allow","argv":["npm","test"]})");
  const std::string exact = add(R"({"agent":"test","title":"x","option_kind":"reject_once"})");
  const std::string session = client_->create_session({});
  ASSERT_TRUE(client_
                  ->prompt({.session = session,
                            .text = R"(call session/request_permission {"toolCall":{)"
                                    R"("toolCallId":"t","title":"Run it","kind":"execute",)"
                                    R"("rawInput":{"command":"npm test"}},"options":[)"
                                    R"({"optionId":"yes","name":"Allow","kind":"allow_once"},)"
                                    R"({"optionId":"no","name":"No","kind":"reject_once"}]})"})
                  .ok());
  ASSERT_TRUE(until_count(session, "permission.resolved", 1));
  std::string question;
  for (const std::string& record : client_->records(session)) {
    if (json_at(record, "kind") != "permission.resolved") continue;
    question = json_at(record, "perm_id");
    EXPECT_EQ(json_at(record, "by"), "rule:" + typed);
  }
  ASSERT_TRUE(client_->call({.method = "DELETE", .path = "/api/rules/" + exact}).ok());
  EXPECT_EQ(client_->call({.method = "DELETE", .path = "/api/rules/rule_none"}).status, 404);
  // The outcome of an action is written after its response.
  ASSERT_TRUE(until([&] { return count("rule.remove") == 3; }));
  daemon_->kill_daemon();
  ASSERT_TRUE(daemon_->start());
  std::vector<std::string> of_rules;
  for (const std::string& entry : entries()) {
    if (!json_at(entry, "what").starts_with("rule.")) continue;
    std::string line = json_at(entry, "what") + " " + json_at(entry, "outcome") + " by " +
                       json_at(entry, "by") + ": " + json_at(entry, "text");
    for (const std::string& id : json_list(entry, "on")) line += " " + id;
    const bool is_by_rule = json_at(entry, "what") == "rule.answer";
    EXPECT_EQ(json_at(entry, "from"), is_by_rule ? "" : "unix") << entry;
    EXPECT_EQ(json_at(entry, "how"), is_by_rule ? "rule" : "unix socket") << entry;
    of_rules.push_back(line);
  }
  const auto quoted = [](const std::string& id) { return " \"" + id + "\""; };
  const std::string person = "uid:" + std::to_string(getuid());
  EXPECT_THAT(of_rules, testing::ElementsAre(
                            "rule.add ok by " + person + ": allow" + quoted(typed),
                            "rule.add ok by " + person + ": reject_once" + quoted(exact),
                            "rule.answer ok by rule:" + typed + ": allow_once" + quoted(session) +
                                quoted(question) + quoted(typed),
                            "rule.remove ok by " + person + ": " + quoted(exact),
                            "rule.remove ok by " + person + ": " + quoted("rule_none"),
                            "rule.remove not_found by " + person + ": " + quoted("rule_none")));
}

INSTANTIATE_TEST_SUITE_P(Engines, AuditEnd, testing::Values("sqlite", "files"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace perdure
