// Questions in the forms that agents send, and hostile ones.
#include "wire/question.h"

#include <gmock/gmock.h>

namespace perdure {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

Question tool(const std::string& members) {
  return read_question(
      R"({"sessionId":"s","toolCall":{"toolCallId":"t",)" + members + R"(},"options":[]})", {});
}
Question execute(const std::string& input) {
  return tool(R"("kind":"execute","rawInput":)" + input);
}
Question edit(const std::string& input) { return tool(R"("kind":"edit","rawInput":)" + input); }

TEST(Questions, RULE3_a_command_is_read_as_agents_write_it) {
  const Words npm{"npm", "test"};
  for (const char* const input :
       {R"({"command":"npm test","description":"Runs tests","timeout":5000})",
        R"({"cmd":"npm test","env":{},"stdin":"","shell":null,"more":[]})",
        R"({"cmd":"npm test","run_in_background":false})",
        R"({"command":["npm","test"],"cwd":"/w"})",
        R"({"command":["bash","-lc","npm test"],"cwd":"/w","call_id":"c"})",
        R"({"command":"npm","args":["test"]})"}) {
    EXPECT_THAT(execute(input).words, Optional(npm)) << input;
    EXPECT_THAT(execute(input).within, Contains(npm)) << input;
    EXPECT_FALSE(execute(input).command.empty());
  }
  EXPECT_EQ(execute(R"({"command":"x","workdir":"/w"})").cwd, "/w");
  const Question v2 =
      read_question(R"({"subject":{"type":"command","command":"npm test","cwd":"/w"}})", {});
  EXPECT_EQ(v2.tool_kind, "execute");
  EXPECT_EQ(v2.command, "npm test");
}

TEST(Questions, RULE3_a_command_with_more_than_is_understood_has_no_words) {
  for (const char* const input : {R"({"command":"npm test; rm x"})",
                                  R"({"command":"npm test","env":{"A":"b"}})",
                                  R"({"command":"npm test","dangerouslyDisableSandbox":true})",
                                  R"({"command":"npm test","sandbox":false})",
                                  R"({"command":"npm test","x":0})",
                                  R"({"command":"npm test","args":false})",
                                  R"({"command":"npm test","cwd":false})",
                                  R"({"command":"npm test","stdin":"x"})",
                                  R"({"command":"npm test","cmd":"rm x"})",
                                  R"({"command":"npm test","command":"rm x"})",
                                  R"({"command":["npm","a b"]})",
                                  R"({"command":["bash","-lc","npm test; rm x"]})",
                                  R"({"command":["bash","-lc","npm test","x"]})",
                                  R"({"command":"npm test","args":["x"]})",
                                  R"({"command":"npm","args":[1]})",
                                  R"({"command":["npm",1]})",
                                  R"({"command":7})",
                                  R"({"command":"npm test","cwd":"/a","workdir":"/b"})",
                                  R"("npm test")",
                                  "[]"}) {
    EXPECT_EQ(execute(input).words, std::nullopt) << input;
  }
  EXPECT_THAT(execute(R"({"command":"npm test","cmd":"rm x"})").within, Contains(Words{"rm", "x"}));
  EXPECT_THAT(execute(R"({"command":["bash","-lc","npm test; rm x"]})").within,
              Contains(Words{"rm", "x"}));
  EXPECT_THAT(execute(R"("npm test; rm x")").within, Contains(Words{"rm", "x"}));
}

TEST(Questions, RULE4_paths_are_gathered_from_everywhere) {
  const Question question = tool(
      R"("kind":"edit","locations":[{"path":"/w/a","line":3}],"content":[{"type":"diff",)"
      R"("path":"/w/b","oldText":null,"newText":"x"},{"type":"content","content":{}}],)"
      R"("rawInput":{"file_path":"/w/c","old_string":"../x","new_string":"~","replace_all":true})");
  EXPECT_THAT(question.paths, ElementsAre("/w/a", "/w/b", "/w/c"));
  EXPECT_TRUE(question.paths_are_all);
  EXPECT_TRUE(question.changes_files);
  const Question codex =
      edit(R"({"changes":{"/w/a":{"type":"update","move_path":"/etc/x"},"/w/b":{"type":"add"}}})");
  EXPECT_THAT(codex.paths, ElementsAre("/w/a", "/etc/x", "/w/b"));
}

TEST(Questions, RULE4_paths_that_may_not_be_all_are_said_to_be_so) {
  EXPECT_TRUE(edit(R"({"file_path":"/w/a","content":"x"})").paths_are_all);
  EXPECT_TRUE(edit(R"({"path":"/w/a","-n":true,"replace_all":false,"line":3})").paths_are_all);
  for (const char* const input :
       {R"({"file_path":"/w/a","also":"/etc/x"})", R"({"file_path":["/w/a",7]})",
        R"({"file_path":7})", R"({"file_path":"/w/a","follow_links":true})",
        R"({"file_path":"/w/a","sandbox":false})", R"({"path":"/w","pattern":"../**"})",
        R"({"path":"/w","pattern":"/etc/*"})", R"({"path":"/w","glob":"{/etc,/w}/*"})",
        R"({"file_path":"/w/a","file_path":"/etc/x"})", R"({"changes":"x"})"}) {
    EXPECT_FALSE(edit(input).paths_are_all) << input;
  }
  EXPECT_FALSE(tool(R"("kind":"read","locations":[{"line":1}])").paths_are_all);
  EXPECT_FALSE(tool(R"("kind":"read","locations":"x")").paths_are_all);
}

TEST(Questions, RULE4_earlier_mentions_of_the_tool_call_count) {
  const std::vector<std::string> updates{
      R"({"sessionUpdate":"tool_call","toolCallId":"t","kind":"execute",)"
      R"("rawInput":{"command":"npm test"},"locations":[{"path":"/w/a"}]})"};
  const Question question = read_question(R"({"toolCall":{"toolCallId":"t"}})", updates);
  EXPECT_EQ(question.tool_kind, "execute");
  EXPECT_THAT(question.words, Optional(Words{"npm", "test"}));
  EXPECT_THAT(question.paths, ElementsAre("/w/a"));
  const Question newer =
      read_question(R"({"toolCall":{"toolCallId":"t","rawInput":{"command":"rm x"}}})", updates);
  EXPECT_EQ(newer.words, std::nullopt) << "which of the two is not known";
  EXPECT_THAT(newer.within, Contains(Words{"rm", "x"}));
  EXPECT_THAT(newer.within, Contains(Words{"npm", "test"}));
  for (const char* const later :
       {R"({"command":"npm test"})", R"({"command":"npm test","timeout":5})", "{}", R"("")"}) {
    const std::string asked =
        R"({"toolCall":{"toolCallId":"t","rawInput":)" + std::string(later) + "}}";
    EXPECT_THAT(read_question(asked, updates).words, Optional(Words{"npm", "test"})) << later;
  }
}

TEST(Questions, RULE4_a_question_that_says_more_than_is_understood_is_allowed_by_no_rule) {
  const TypedRule rule{.effect = "allow", .tools = {"read"}};
  const RuleScene scene{.session = SessionId(Ulid{1, 1}), .cwd = "/w"};
  const auto is_allowed = [&](const std::string& params) {
    return match_rule(rule, scene, read_question(params, {})) == RuleMatch::yes;
  };
  EXPECT_TRUE(
      is_allowed(R"({"toolCall":{"kind":"read","_meta":{"tool":"Read"},"elevated":null}})"));
  for (const char* const params :
       {R"({"toolCall":{"kind":"read","elevated":true}})",
        R"({"toolCall":{"kind":"read","kind":"execute"}})",
        R"({"toolCall":{"kind":"read"},"mode":"root"})",
        R"({"toolCall":{"kind":"read"},"subject":{"toolCall":{"kind":"read"}}})",
        R"({"toolCall":7,"subject":{"toolCall":{"kind":"read"}}})",
        R"({"subject":{"toolCall":{"kind":"read"},"more":1}})",
        R"({"toolCall":{"kind":"read","content":[{"type":"hologram"}]}})",
        R"({"toolCall":{"kind":"read","content":[7]}})"}) {
    EXPECT_FALSE(is_allowed(params)) << params;
  }
}

TEST(Questions, RULE4_any_bytes_give_a_question_that_nothing_allows) {
  for (const char* const text :
       {"", "x", "{", "[]", "null", R"({"toolCall":7})", R"({"toolCall":{"a":1,"a":2}})",
        R"({"subject":[]})", R"({"blob":"00","bytes":3})"}) {
    const Question question = read_question(text, {});
    EXPECT_EQ(question.words, std::nullopt) << text;
    EXPECT_THAT(question.paths, IsEmpty()) << text;
    EXPECT_TRUE(offer_rules({.session = SessionId(Ulid{1, 1}), .cwd = "/w"}, question).empty());
  }
}

}  // namespace
}  // namespace perdure
