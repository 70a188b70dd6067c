// Typed permission rules: the routes, and what a rule does to a question.
#include <gmock/gmock.h>

#include "core/rules/rule_limits.h"
#include "daemon/api/bench_for_test.h"

namespace perdure {
namespace {

using ::testing::HasSubstr;

struct TypedRules : ApiBench {
  TypedRules() {
    make_worked();
    on_session("prompt", R"({"text":"go"})");
  }
  void add(TypedRule rule) {
    rule.id = "rule_" + std::to_string(++rules_added);
    node.held.typed_rules[rule.id] = std::move(rule);
    node.held.head += 1;
  }
  // Asks a question as an agent does; the members describe its tool call.
  PermissionId asks_about(const std::string& members, const std::string& tool = "t") {
    FramePermission question{
        .request = "q" + std::to_string(state().head),
        .tool_call_id = tool,
        .title = "May I?",
        .options = {{"allow", "Allow", "allow_once"},
                    {"ever", "Always", "allow_always"},
                    {"reject", "Reject", "reject_once"}},
        .update = {R"({"toolCall":{"toolCallId":")" + tool + "\"" + members + "}}"}};
    frame(question, state().run->id);
    run_now();
    const State now = state();
    for (const auto& [id, permission] : now.permissions) {
      if (permission.request == question.request) return id;
    }
    return now.closed_waits.back().permission;
  }
  PermissionId asks_to_run(const std::string& command) {
    return asks_about(R"(,"kind":"execute","rawInput":{"command":")" + command + "\"}");
  }
  PermissionId asks_to_edit(const std::string& path) {
    return asks_about(R"(,"kind":"edit","locations":[{"path":")" + path + "\"}]");
  }
  PermissionId asks_to_run_in(const std::string& folder) {
    return asks_about(R"(,"kind":"execute","rawInput":{"command":"npm test","cwd":")" + folder +
                      "\"}");
  }
  // "allow by rule:rule_1"; empty while it is open.
  std::string decided(PermissionId permission) {
    const State now = state();
    for (const ClosedWait& closed : now.closed_waits) {
      if (closed.permission == permission) return closed.option_id + " by " + closed.by;
    }
    return "";
  }
  // The agentctl's answer to the last fs.stat.
  void stat_is(Result<std::string> reply) {
    auto asked = std::move(workspaces.asked.back());
    workspaces.asked.pop_back();
    asked.done(std::move(reply));
    run_now();
  }
  int rules_added = 0;
};

TEST(TypedRuleAnswers, RULE10_a_rule_allows_denies_or_asks_and_is_named_in_the_record) {
  TypedRules bench;
  bench.add({.effect = "allow", .argv = {"npm"}});
  bench.add({.effect = "ask", .argv = {"npm", "publish"}});
  bench.add({.effect = "deny", .argv = {"rm"}});
  EXPECT_EQ(bench.decided(bench.asks_to_run("npm test")), "allow by rule:rule_1");
  EXPECT_EQ(bench.decided(bench.asks_to_run("npm publish")), "");
  EXPECT_EQ(bench.decided(bench.asks_to_run("npm test; rm -rf x")), "reject by rule:rule_3");
  EXPECT_EQ(bench.decided(bench.asks_to_run("npm test > x")), "");
  EXPECT_EQ(bench.decided(bench.asks_to_run("cargo test")), "");
  EXPECT_EQ(bench.count("permission.resolved"), 2U);
  std::string records;
  for (const std::string& each : bench.store->read(bench.session, {.limit = 1000})->records) {
    records += each;
  }
  EXPECT_THAT(records, HasSubstr(R"("by":"rule:rule_1")"));
  EXPECT_THAT(records, HasSubstr(R"("by":"rule:rule_3")"));
}

TEST(TypedRuleAnswers, G7_a_question_that_is_not_whole_is_left_to_a_person) {
  TypedRules bench;
  bench.add({.effect = "allow", .argv = {"npm"}});
  const auto closes = [&](FramePermission question) {
    const std::size_t before = bench.count("permission.resolved");
    question.request = "q" + std::to_string(bench.state().head);
    question.update = {R"({"toolCall":{"kind":"execute","rawInput":{"command":"npm test"}}})"};
    bench.frame(question, bench.state().run->id);
    bench.run_now();
    return bench.count("permission.resolved") > before;
  };
  const PermissionOption allow{"allow", "Allow", "allow_once"};
  EXPECT_TRUE(closes({.title = "x", .options = {allow}}));
  EXPECT_FALSE(closes({.title = std::string(title_bytes_max, 'x'), .options = {allow}}));
  EXPECT_FALSE(closes({.title = "x", .options = {allow}, .options_left_out = 1}));
  EXPECT_FALSE(closes({.title = "x", .options = {allow, {"b", "Allow all", "allow_once"}}}));
  EXPECT_FALSE(closes({.title = "x", .options = {{"ever", "Always", "allow_always"}}}));
}

TEST(TypedRuleAnswers, RULE6_exact_and_typed_rules_go_together) {
  TypedRules bench;
  bench.node.held.rules["rule_x"] = {
      .id = "rule_x", .title = "May I?", .option_kind = "allow_once"};
  EXPECT_EQ(bench.decided(bench.asks_to_run("cargo test")), "allow by rule:rule_x");
  bench.add({.effect = "ask", .argv = {"cargo"}});
  bench.add({.effect = "deny", .argv = {"rm"}});
  EXPECT_EQ(bench.decided(bench.asks_to_run("cargo test")), "");
  EXPECT_EQ(bench.decided(bench.asks_to_run("rm x")), "reject by rule:rule_2");
  bench.node.held.rules["rule_x"].option_kind = "reject_once";
  bench.node.held.head += 1;
  bench.add({.effect = "allow", .argv = {"npm"}});
  EXPECT_EQ(bench.decided(bench.asks_to_run("npm test")), "reject by rule:rule_x");
}

TEST(TypedRuleAnswers, RULE10_a_rule_speaks_of_later_questions_only) {
  TypedRules bench;
  bench.add({.effect = "allow", .argv = {"npm"}, .created = {9'000'000'000'000}});
  EXPECT_EQ(bench.decided(bench.asks_to_run("npm test")), "");
}

TEST(TypedRuleAnswers, RULE4_an_edit_is_allowed_only_if_no_symlink_is_on_the_way) {
  TypedRules bench;
  bench.add({.effect = "allow", .tools = {"edit"}, .path = "workspace"});
  const std::string folder = R"({"name":"src","kind":"folder"})";
  const PermissionId plain = bench.asks_to_edit("/w/src/a.cc");
  ASSERT_EQ(bench.workspaces.asked.size(), 1U);
  EXPECT_EQ(bench.workspaces.asked[0].method, "fs.stat");
  EXPECT_EQ(bench.workspaces.asked[0].params, R"({"path":"src"})");
  bench.stat_is(folder);
  EXPECT_EQ(bench.workspaces.asked[0].params, R"({"path":"src/a.cc"})");
  bench.stat_is(fail(Code::not_found, "none"));
  EXPECT_EQ(bench.decided(plain), "allow by rule:rule_1");
  const PermissionId linked = bench.asks_to_edit("/w/src/b.cc");
  bench.stat_is(R"({"name":"src","kind":"symlink","leads_to":"folder"})");
  EXPECT_EQ(bench.decided(linked), "");
  const PermissionId unknown = bench.asks_to_edit("/w/src/c.cc");
  bench.stat_is(fail(Code::unavailable, "no link"));
  EXPECT_EQ(bench.decided(unknown), "");
  const PermissionId outside = bench.asks_to_edit("/w/../etc/passwd");
  EXPECT_TRUE(bench.workspaces.asked.empty());
  EXPECT_EQ(bench.decided(outside), "");
}

TEST(TypedRuleAnswers, RULE3_a_command_is_allowed_only_if_its_folder_is_reached_without_a_symlink) {
  TypedRules bench;
  bench.add({.effect = "allow", .argv = {"npm"}});
  const std::string symlink = R"({"kind":"symlink","leads_to":"folder"})";
  const std::string folder = R"({"kind":"folder"})";
  EXPECT_EQ(bench.decided(bench.asks_to_run_in("/w")), "allow by rule:rule_1");
  EXPECT_TRUE(bench.workspaces.asked.empty()) << "the workspace itself";
  const PermissionId plain = bench.asks_to_run_in("sub");
  ASSERT_EQ(bench.workspaces.asked.size(), 1U);
  EXPECT_EQ(bench.workspaces.asked[0].params, R"({"path":"sub"})");
  bench.stat_is(folder);
  EXPECT_EQ(bench.decided(plain), "allow by rule:rule_1");
  for (const char* const cwd : {"lnk", "/w/lnk", "lnk/..", "/w/lnk/../sub"}) {
    const PermissionId linked = bench.asks_to_run_in(cwd);
    ASSERT_EQ(bench.workspaces.asked.size(), 1U) << cwd;
    EXPECT_EQ(bench.workspaces.asked[0].params, R"({"path":"lnk"})") << cwd;
    bench.stat_is(symlink);
    EXPECT_EQ(bench.decided(linked), "") << cwd;
  }
  for (const char* const cwd : {"../w", "/x/../w", "/w/../w/sub"}) {
    EXPECT_EQ(bench.decided(bench.asks_to_run_in(cwd)), "") << cwd;
    EXPECT_TRUE(bench.workspaces.asked.empty()) << cwd;
  }
}

TEST(TypedRuleAnswers, RULE4_a_symlink_that_dots_take_back_is_still_one) {
  TypedRules bench;
  bench.add({.effect = "allow", .tools = {"edit"}, .path = "workspace"});
  const PermissionId back = bench.asks_to_edit("/w/lnk/../a.cc");
  bench.stat_is(fail(Code::not_found, "a.cc is new"));
  ASSERT_EQ(bench.workspaces.asked.size(), 1U);
  EXPECT_EQ(bench.workspaces.asked[0].params, R"({"path":"lnk"})");
  bench.stat_is(R"({"kind":"symlink","leads_to":"folder"})");
  EXPECT_EQ(bench.decided(back), "");
}

TEST(TypedRuleAnswers, RULE4_a_rule_that_is_removed_during_the_look_answers_nothing) {
  TypedRules bench;
  bench.add({.effect = "allow", .tools = {"edit"}, .path = "workspace"});
  const PermissionId asked = bench.asks_to_edit("/w/a");
  bench.node.held.typed_rules.clear();
  bench.stat_is(R"({"kind":"file"})");
  EXPECT_EQ(bench.decided(asked), "");
}

TEST(TypedRuleAnswers, RULE4_what_the_tool_call_said_before_counts) {
  TypedRules bench;
  bench.add({.effect = "allow", .argv = {"npm"}});
  bench.frame(
      ToolCall{.tool_call_id = "t",
               .title = "run",
               .update = {R"({"toolCallId":"t","kind":"execute","rawInput":{"command":"npm i"}})"}},
      bench.state().run->id);
  EXPECT_EQ(bench.decided(bench.asks_about("")), "allow by rule:rule_1");
  EXPECT_EQ(bench.decided(bench.asks_about("", "other")), "");
}

TEST(TypedRuleAnswers, RULE4_a_large_question_is_read_whole_or_left_to_a_person) {
  TypedRules bench;
  bench.add({.effect = "allow", .tools = {"read"}});
  const auto padded = [&](std::size_t bytes) {
    return bench.asks_about(R"(,"kind":"read","_meta":{"x":")" + std::string(bytes, 'x') + "\"}");
  };
  EXPECT_EQ(bench.decided(padded(blob_threshold_bytes)), "allow by rule:rule_1");
  EXPECT_EQ(bench.decided(padded(rule_update_bytes_max)), "");
}

TEST(RuleRoutes, RULE8_a_typed_rule_is_made_listed_and_checked) {
  TypedRules bench;
  const Asked made = bench.post("/api/rules", R"({"effect":"allow","argv":["npm","test"],)"
                                              R"("folder":"/w"})");
  EXPECT_EQ(made.status(), 201);
  EXPECT_EQ(made.at("rule.text"), "allow `npm test` in /w");
  EXPECT_EQ(made.at("rule.by"), "uid:1000");
  const Asked listed = bench.ask_route("GET", "/api/rules", "");
  EXPECT_THAT(listed.at("typed_rules"), HasSubstr(made.at("rule.id")));
  EXPECT_EQ(listed.at("rules"), "[]");
  for (const char* const body :
       {R"({"effect":"allow","argv":["sudo"]})", R"({"effect":"allow","title":"x"})",
        R"({"argv":["npm"],"title":"x","option_kind":"allow_once"})", R"({"effect":"allow"})",
        R"({"effect":"allow","argv":["npm"],"regex":"x"})"}) {
    EXPECT_EQ(bench.post("/api/rules", body).code(), "invalid_argument") << body;
  }
}

TEST(RuleRoutes, RULE9_an_open_question_suggests_rules_that_would_answer_it) {
  TypedRules bench;
  const PermissionId asked = bench.asks_to_run("npm test -- --watch");
  const std::string path = "/api/permissions/" + asked.text() + "/rules";
  const std::string offers = bench.ask_route("GET", path, "").at("suggested_rules");
  EXPECT_THAT(offers, HasSubstr(R"("text":"Always allow `npm test` in this project")"));
  EXPECT_THAT(offers,
              HasSubstr(R"("rule":{"effect":"allow","argv":["npm","test"],"folder":"/w"})"));
  bench.post("/api/permissions/" + asked.text(), R"({"option_id":"allow"})");
  EXPECT_EQ(bench.ask_route("GET", path, "").code(), "not_found");
  const PermissionId opaque = bench.asks_to_run("npm test; rm x");
  EXPECT_EQ(bench.ask_route("GET", "/api/permissions/" + opaque.text() + "/rules", "")
                .at("suggested_rules"),
            "[]");
}

TEST(RuleRoutes, RULE11_a_trial_counts_past_questions_and_changes_nothing) {
  TypedRules bench;
  const PermissionId first = bench.asks_to_run("npm test");
  bench.post("/api/permissions/" + first.text(), R"({"option_id":"allow"})");
  const PermissionId second = bench.asks_to_run("npm test --all");
  bench.post("/api/permissions/" + second.text(), R"({"option_id":"reject"})");
  bench.asks_to_run("npm test; rm x");
  bench.asks_to_run("cargo test");
  bench.add({.effect = "ask", .argv = {"npm", "test", "-x"}});
  bench.asks_to_run("npm test -x");
  const std::size_t records = bench.state().head;
  const Asked tried = bench.post("/api/rules/test", R"({"effect":"allow","argv":["npm","test"]})");
  EXPECT_EQ(tried.at("questions"), "5");
  EXPECT_EQ(tried.at("matched"), "2");
  EXPECT_EQ(tried.at("overruled"), "1");
  EXPECT_EQ(tried.at("answered_otherwise"), "1");
  EXPECT_EQ(tried.at("complete"), "true");
  EXPECT_EQ(tried.at("days"), "30");
  EXPECT_THAT(tried.at("list"), HasSubstr(first.text()));
  EXPECT_THAT(tried.at("list"), HasSubstr(R"("command":"npm test --all","answer":"reject_once")"));
  EXPECT_EQ(bench.state().head, records);
  EXPECT_TRUE(bench.node.held.typed_rules.size() == 1);
  const Asked elsewhere = bench.post(
      "/api/rules/test", R"({"effect":"allow","argv":["npm","test"],"folder":"/x","days":7})");
  EXPECT_EQ(elsewhere.at("matched"), "0");
  EXPECT_EQ(elsewhere.at("questions"), "5");
  const Asked exact =
      bench.post("/api/rules/test", R"({"title":"May I?","option_kind":"allow_once"})");
  EXPECT_EQ(exact.at("effect"), "allow");
  EXPECT_EQ(exact.at("text"), R"(allow_once "May I?")");
  EXPECT_EQ(exact.at("matched"), "4");
  EXPECT_EQ(exact.at("overruled"), "1");
  for (const char* const body :
       {R"({"effect":"allow","argv":["npm"],"days":0})", R"({"title":"x"})",
        R"({"effect":"allow","argv":["npm"],"days":400})", R"({"effect":"allow"})"}) {
    EXPECT_EQ(bench.post("/api/rules/test", body).code(), "invalid_argument") << body;
  }
}

TEST(RuleRoutes, RULE11_no_rule_is_kept_without_a_trial_in_its_answer) {
  TypedRules bench;
  bench.asks_to_run("npm test");
  bench.asks_to_run("cargo test");
  const Asked typed = bench.post("/api/rules", R"({"effect":"allow","argv":["npm","test"]})");
  EXPECT_EQ(typed.status(), 201);
  EXPECT_EQ(typed.at("trial.questions"), "2");
  EXPECT_EQ(typed.at("trial.matched"), "1");
  EXPECT_EQ(typed.at("trial.days"), "30");
  EXPECT_THAT(typed.at("trial.list"), HasSubstr(R"("command":"npm test")"));
  TypedRules exactly;
  exactly.asks_to_run("npm test");
  const Asked tried =
      exactly.post("/api/rules/test", R"({"title":"May I?","option_kind":"reject_once"})");
  EXPECT_EQ(tried.at("effect"), "deny");
  EXPECT_EQ(tried.at("matched"), "1");
  EXPECT_EQ(exactly.post("/api/rules/test", R"({"title":"Else","option_kind":"reject_once"})")
                .at("matched"),
            "0");
  EXPECT_EQ(exactly.post("/api/rules", R"({"title":"x","option_kind":"ever"})").code(),
            "invalid_argument");
}

}  // namespace
}  // namespace perdure
