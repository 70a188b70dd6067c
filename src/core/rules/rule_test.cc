// Typed rules: what matches, what never does, and which rules are rejected or offered.
#include "core/rules/rule.h"

#include <gmock/gmock.h>

namespace perdure {
namespace {

using ::testing::HasSubstr;

const RuleScene scene{.agent = "demo", .session = SessionId(Ulid{1, 1}), .cwd = "/srv/me/app"};

Question command(const std::string& text) {
  return {.tool_kind = "execute",
          .command = text,
          .words = simple_command(text),
          .within = commands_within(text),
          .paths_are_all = true};
}
Question edit(std::vector<std::string> paths) {
  return {
      .tool_kind = "edit", .paths = std::move(paths), .paths_are_all = true, .changes_files = true};
}
TypedRule allow_words(Words words) { return {.effect = "allow", .argv = std::move(words)}; }
TypedRule allow_edit(const std::string& path) {
  return {.effect = "allow", .tools = {"edit"}, .path = path};
}
bool allows(const TypedRule& rule, const Question& question) {
  return match_rule(rule, scene, question) == RuleMatch::yes;
}
std::string why(const TypedRule& rule) {
  const Result<> checked = check_typed_rule(rule);
  return checked ? "" : checked.error().message();
}

TEST(TypedRules, RULE3_an_allow_rule_matches_a_simple_command_by_its_first_words) {
  const TypedRule rule = allow_words({"npm", "test"});
  EXPECT_TRUE(allows(rule, command("npm test")));
  EXPECT_TRUE(allows(rule, command("npm test -- --watch")));
  EXPECT_FALSE(allows(rule, command("npm")));
  EXPECT_FALSE(allows(rule, command("npm tests")));
  EXPECT_FALSE(allows(rule, command("/usr/bin/npm test"))) << "another program may lie there";
  EXPECT_FALSE(allows(rule, command("npm test; rm -rf /")));
  EXPECT_FALSE(allows(rule, command("sudo npm test")));
  Question question = command("npm test");
  question.tool_kind = "other";
  EXPECT_FALSE(allows(rule, question));
  question = command("npm test");
  question.cwd = "/srv/me/app/sub";
  EXPECT_TRUE(allows(rule, question));
  for (const char* const elsewhere : {"/tmp", "..", "/srv/me/app/../other", "~", "$HOME"}) {
    question.cwd = elsewhere;
    EXPECT_FALSE(allows(rule, question)) << elsewhere;
  }
}

TEST(TypedRules, RULE3_an_allow_rule_without_a_command_never_allows_one) {
  const TypedRule rule{.effect = "allow", .tools = {"read"}};
  Question question = command("ls");
  question.tool_kind = "read";
  EXPECT_FALSE(allows(rule, question));
  EXPECT_TRUE(allows(rule, {.tool_kind = "read"}));
  EXPECT_FALSE(allows(rule, {.tool_kind = "read", .changes_files = true}));
  EXPECT_FALSE(allows(rule, {}));
}

TEST(TypedRules, RULE4_an_allow_rule_for_the_workspace_matches_only_paths_in_it) {
  const TypedRule rule = allow_edit("workspace");
  EXPECT_TRUE(allows(rule, edit({"/srv/me/app/src/a.cc"})));
  EXPECT_TRUE(allows(rule, edit({"src/a.cc", "./b/../c"})));
  EXPECT_TRUE(allows(rule, edit({"/srv/me/app/./x//y"})));
  for (const char* const path :
       {"/srv/me/app/../x", "../x", "/srv/me/application/x", "/etc/passwd", "~/x", "/srv/me/app/~",
        "$HOME/x", "src\\..\\..\\x", "file:///etc/passwd", "", "a\nb",
        "/srv/me/app/\xe2\x80\xae"
        "cc.a",
        "/srv/me/app/\xd0\xb0.cc", "/srv/me/app/a\x7f", ".git/hooks/pre-commit", "sub/.GIT/config",
        "/"}) {
    const bool is_name = std::string_view(path) == "/srv/me/app/~";
    EXPECT_EQ(allows(rule, edit({path})), is_name) << path;
    EXPECT_FALSE(allows(rule, edit({"src/a.cc", path})) && !is_name) << "one of several: " << path;
  }
  EXPECT_FALSE(allows(rule, edit({})));
  Question more = edit({"src/a.cc"});
  more.paths_are_all = false;
  EXPECT_FALSE(allows(rule, more));
  const TypedRule folder = allow_edit("/srv/me/app/docs");
  EXPECT_TRUE(allows(folder, edit({"docs/a.md"})));
  EXPECT_FALSE(allows(folder, edit({"docs/../src/a.cc"})));
  EXPECT_FALSE(allows(allow_edit("/srv/me"), edit({"/srv/me/.bashrc"})))
      << "beyond the workspace no symlink can be looked for";
}

TEST(TypedRules, RULE5_a_deny_rule_matches_any_command_and_any_path) {
  const TypedRule rule{.effect = "deny", .argv = {"git", "push"}};
  for (const char* const text : {"git push", "npm test && git push --force", "sudo git push",
                                 "/usr/bin/git push", "sh -c 'git push'", "echo \"$(git push)\""}) {
    EXPECT_EQ(match_rule(rule, scene, command(text)), RuleMatch::yes) << text;
  }
  EXPECT_EQ(match_rule(rule, scene, command("git pull")), RuleMatch::no);
  const TypedRule outside{.effect = "deny", .tools = {"edit"}, .path = "outside"};
  EXPECT_EQ(match_rule(outside, scene, edit({"src/a.cc", "/etc/x"})), RuleMatch::yes);
  EXPECT_EQ(match_rule(outside, scene, edit({"a/../../x"})), RuleMatch::yes);
  EXPECT_EQ(match_rule(outside, scene, edit({"src/a.cc"})), RuleMatch::no);
  EXPECT_EQ(match_rule(outside, scene, edit({"~/x"})), RuleMatch::unclear);
  EXPECT_EQ(match_rule(outside, scene, edit({})), RuleMatch::unclear);
  EXPECT_EQ(match_rule(outside, scene, {}), RuleMatch::unclear) << "its kind is not told";
}

TEST(TypedRules, RULE6_deny_beats_ask_beats_allow) {
  const TypedRule allow = allow_words({"npm"});
  const TypedRule ask{.effect = "ask", .argv = {"npm", "publish"}};
  const TypedRule deny{.effect = "deny", .argv = {"npm", "publish", "--force"}};
  const TypedRule unclear{.effect = "deny", .tools = {"edit"}, .path = "outside"};
  const auto kind = [&](const std::string& text) {
    return judge({&allow, &ask, &deny, &unclear}, scene, command(text)).kind;
  };
  EXPECT_EQ(kind("npm test"), RuleVerdict::Kind::allow);
  EXPECT_EQ(kind("npm publish"), RuleVerdict::Kind::ask);
  EXPECT_EQ(kind("npm publish --force"), RuleVerdict::Kind::deny);
  EXPECT_EQ(kind("cargo test"), RuleVerdict::Kind::none);
  const TypedRule edits = allow_edit("workspace");
  EXPECT_EQ(judge({&edits, &unclear}, scene, edit({"a"})).kind, RuleVerdict::Kind::allow);
  EXPECT_TRUE(judge({&edits, &unclear}, scene, edit({"a"})).look_ups == Words{"a"});
  EXPECT_EQ(judge({&edits, &unclear}, scene, edit({"$A"})).kind, RuleVerdict::Kind::ask);
}

TEST(TypedRules, RULE3_the_folder_of_a_command_is_looked_at_for_symlinks) {
  const TypedRule npm = allow_words({"npm"});
  const TypedRule outside{.effect = "deny", .tools = {"edit"}, .path = "outside"};
  Question question = command("npm test");
  EXPECT_EQ(judge({&npm}, scene, question).look_ups, Words{});
  question.cwd = "sub";
  EXPECT_EQ(judge({&npm}, scene, question).look_ups, Words{"sub"});
  question.paths = {"/etc/x"};
  EXPECT_EQ(judge({&npm, &outside}, scene, question).look_ups, Words{"sub"})
      << "no rule about commands looks at paths";
  const TypedRule deny{.effect = "deny", .argv = {"npm"}};
  EXPECT_EQ(judge({&npm, &deny}, scene, question).look_ups, Words{});
}

TEST(TypedRules, RULE6_a_rule_of_a_later_version_never_allows_and_asks_a_person) {
  TypedRule later = allow_words({"npm"});
  later.version = typed_rule_version + 1;
  const TypedRule allow = allow_words({"npm"});
  EXPECT_EQ(judge({&later}, scene, command("npm test")).kind, RuleVerdict::Kind::ask);
  EXPECT_EQ(judge({&allow, &later}, scene, command("npm test")).kind, RuleVerdict::Kind::ask);
  later.agent = "other";
  EXPECT_EQ(judge({&allow, &later}, scene, command("npm test")).kind, RuleVerdict::Kind::allow);
}

TEST(TypedRules, RULE7_agent_session_and_folder_bound_a_rule) {
  TypedRule rule = allow_words({"npm", "test"});
  for (const char* const folder : {"/srv/me/app", "/srv/me", "/", "/srv/me/app/."}) {
    rule.folder = folder;
    EXPECT_TRUE(allows(rule, command("npm test"))) << folder;
  }
  for (const char* const folder : {"/srv/me/app/sub", "/srv/me/ap", "/srv/you"}) {
    rule.folder = folder;
    EXPECT_FALSE(allows(rule, command("npm test"))) << folder;
  }
  rule.folder.clear();
  rule.agent = "claude";
  EXPECT_FALSE(allows(rule, command("npm test")));
  rule.agent = "demo";
  rule.session = SessionId(Ulid{2, 2});
  EXPECT_FALSE(allows(rule, command("npm test")));
  rule.session = scene.session;
  EXPECT_TRUE(allows(rule, command("npm test")));
}

TEST(TypedRules, RULE8_a_rule_that_would_allow_too_much_is_refused) {
  EXPECT_EQ(why(allow_words({"npm", "test"})), "");
  EXPECT_EQ(why({.effect = "deny", .tools = {"fetch"}}), "");
  EXPECT_EQ(why({.effect = "ask", .path = "outside"}), "");
  EXPECT_EQ(why(allow_edit("workspace")), "");
  EXPECT_THAT(why({.effect = "permit"}), HasSubstr("effect"));
  EXPECT_THAT(why({.effect = "allow"}), HasSubstr("tools or argv"));
  EXPECT_THAT(why({.effect = "deny"}), HasSubstr("a rule names"));
  EXPECT_THAT(why({.effect = "allow", .tools = {"execute"}}), HasSubstr("argv"));
  EXPECT_THAT(why({.effect = "allow", .tools = {"other"}}), HasSubstr("title"));
  EXPECT_THAT(why({.effect = "allow", .tools = {"edit"}}), HasSubstr("path"));
  EXPECT_THAT(why(allow_edit("outside")), HasSubstr("path"));
  EXPECT_THAT(why(allow_edit("src")), HasSubstr("absolute"));
  EXPECT_THAT(why({.effect = "deny", .tools = {"edits"}}), HasSubstr("'edits'"));
  for (const char* const program : {"sh", "/bin/bash", "sudo", "env", "xargs", "find", "eval"}) {
    EXPECT_THAT(why(allow_words({program, "x"})), HasSubstr("any command")) << program;
    EXPECT_EQ(why({.effect = "deny", .argv = {program}}), "");
  }
  EXPECT_THAT(why(allow_words({"a;b"})), HasSubstr("plain name"));
  EXPECT_THAT(why(allow_words({"npm", ""})), HasSubstr("argv"));
  TypedRule always = allow_words({"npm"});
  always.option_kind = "reject_once";
  EXPECT_THAT(why(always), HasSubstr("option_kind"));
  always.option_kind = "allow_always";
  EXPECT_EQ(why(always), "");
  EXPECT_EQ(chosen_option_kind(always), "allow_always");
  EXPECT_EQ(chosen_option_kind(allow_words({"npm"})), "allow_once");
  EXPECT_EQ(chosen_option_kind({.effect = "deny"}), "reject_once");
}

TEST(TypedRules, RULE9_a_question_offers_rules_that_match_it) {
  const auto offers = offer_rules(scene, command("npm test -- --watch"));
  ASSERT_EQ(offers.size(), 4u);
  EXPECT_EQ(offers[0].text, "Always allow `npm test -- --watch` in this project");
  EXPECT_EQ(offers[1].text, "Always allow `npm test` in this project");
  EXPECT_EQ(offers[3].text, "Always allow `npm test` in this session");
  EXPECT_EQ(rule_text(offers[1].rule), "allow `npm test` in /srv/me/app");
  for (const RuleOffer& offer : offers) {
    EXPECT_EQ(why(offer.rule), "");
    EXPECT_TRUE(allows(offer.rule, command("npm test -- --watch")));
  }
  const auto texts = [](const std::string& text) {
    std::vector<std::string> out;
    for (const RuleOffer& offer : offer_rules(scene, command(text))) {
      if (!offer.rule.session) out.push_back(rule_text(offer.rule));
    }
    return out;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(texts("npm run build -q"), ElementsAre("allow `npm run build -q` in /srv/me/app",
                                                     "allow `npm run build` in /srv/me/app"));
  EXPECT_THAT(texts("python tool.py"), ElementsAre("allow `python tool.py` in /srv/me/app"))
      << "an interpreter alone would allow any program";
  EXPECT_THAT(texts("go run ./x"), ElementsAre("allow `go run ./x` in /srv/me/app"));
  EXPECT_TRUE(offer_rules(scene, command("npm test; rm x")).empty());
  EXPECT_TRUE(offer_rules(scene, command("sudo rm x")).empty());
  EXPECT_TRUE(offer_rules(scene, {.tool_kind = "other"}).empty());
  EXPECT_TRUE(offer_rules(scene, edit({"/etc/passwd"})).empty());
  const auto edits = offer_rules(scene, edit({"src/a.cc"}));
  ASSERT_EQ(edits.size(), 2u);
  EXPECT_EQ(edits[0].text, "Always allow changing files inside the workspace in this project");
}

}  // namespace
}  // namespace perdure
