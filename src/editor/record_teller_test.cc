// One table: records, and the updates that an editor receives for each.
#include "editor/record_teller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perdure::face {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> told(RecordTeller& teller, const std::string& record) {
  EXPECT_TRUE(JsonView::read(record)) << record;
  std::vector<std::string> updates;
  const JsonView view(record);
  teller.tell(view, view["update"].raw(), updates);
  for (const std::string& update : updates) EXPECT_TRUE(JsonView::read(update)) << update;
  return updates;
}

struct Case {
  const char* name;
  const char* record;
  const char* update;  // empty: no update
};

constexpr Case record_cases[] = {
    {"an agent's chunk goes on as it came",
     R"({"kind":"message.agent","text":"a","update":{"sessionUpdate":"agent_message_chunk",)"
     R"("content":{"type":"text","text":"a"},"messageId":"m","_meta":{"x":1}}})",
     R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},)"
     R"("messageId":"m","_meta":{"x":1}})"},
    {"an image of an agent too",
     R"({"kind":"message.agent","update":{"sessionUpdate":"agent_message_chunk","content":{)"
     R"("type":"image","data":"AA==","mimeType":"image/png"}}})",
     R"({"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"AA==",)"
     R"("mimeType":"image/png"}})"},
    {"a whole message of v2 as the piece that is new",
     R"({"kind":"message.agent","agent_message_id":"m","text":"new","update":{"sessionUpdate":)"
     R"("agent_message","messageId":"m"}})",
     R"({"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":)"
     R"("new"}})"},
    {"a block that lacks its text",
     R"({"kind":"message.thought","text":"t","update":{"sessionUpdate":"agent_thought_chunk",)"
     R"("content":{"type":"text"}}})",
     R"({"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"t"}})"},
    {"a prompt", R"({"kind":"message.user","message_id":"m","content":"hi"})",
     R"({"sessionUpdate":"user_message_chunk","messageId":"m","content":{"type":"text","text":)"
     R"("hi"}})"},
    {"a tool as it came",
     R"({"kind":"tool.call","tool_call_id":"t","update":{"sessionUpdate":"tool_call",)"
     R"("toolCallId":"t","title":"T","rawInput":{"a":1}}})",
     R"({"sessionUpdate":"tool_call","toolCallId":"t","title":"T","rawInput":{"a":1}})"},
    {"a first mention is announced, whatever the agent called it",
     R"({"kind":"tool.call","tool_call_id":"t","title":"T","status":"pending","update":{)"
     R"("sessionUpdate":"tool_call_update","toolCallId":"t","title":"T","status":"pending"}})",
     R"({"sessionUpdate":"tool_call","toolCallId":"t","title":"T","status":"pending"})"},
    {"a tool that nobody named", R"({"kind":"tool.call","tool_call_id":"t"})",
     R"({"sessionUpdate":"tool_call","toolCallId":"t","title":"tool"})"},
    {"a terminal is the workspace's: its text is told",
     R"({"kind":"tool.update","tool_call_id":"t","text":"out","update":{"sessionUpdate":)"
     R"("tool_call_update","toolCallId":"t","content":[{"type":"terminal","terminalId":"x"}]}})",
     R"({"sessionUpdate":"tool_call_update","toolCallId":"t","content":[{"type":"content",)"
     R"("content":{"type":"text","text":"out"}}]})"},
    {"a status and a kind that v1 does not have",
     R"({"kind":"tool.update","tool_call_id":"t","status":"cancelled","tool_kind":"dance",)"
     R"("update":{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"cancelled",)"
     R"("kind":"dance"}})",
     R"({"sessionUpdate":"tool_call_update","toolCallId":"t","kind":"other","status":"failed"})"},
    {"a tool that was closed for its agent",
     R"({"kind":"repair.closed_tool","tool_call_id":"t","outcome":"unknown"})",
     R"({"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed"})"},
    {"a plan",
     R"({"kind":"plan","update":{"sessionUpdate":"plan","entries":[{"content":"c","priority":)"
     R"("high","status":"pending"}]}})",
     R"({"sessionUpdate":"plan","entries":[{"content":"c","priority":"high","status":)"
     R"("pending"}]})"},
    {"a plan in words of v2",
     R"({"kind":"plan","update":{"sessionUpdate":"plan_update","plan":{"type":"items","planId":)"
     R"("p","entries":[{"content":"c","priority":"odd","status":"cancelled"}]}}})",
     R"({"sessionUpdate":"plan","entries":[{"content":"c","priority":"medium","status":)"
     R"("completed"}]})"},
    {"usage",
     R"({"kind":"usage","used":1,"size":2,"update":{"sessionUpdate":"usage_update","used":1,)"
     R"("size":2}})",
     R"({"sessionUpdate":"usage_update","used":1,"size":2})"},
    {"commands",
     R"({"kind":"commands","update":{"sessionUpdate":"available_commands_update",)"
     R"("availableCommands":[]}})",
     R"({"sessionUpdate":"available_commands_update","availableCommands":[]})"},
    {"a mode alone", R"({"kind":"mode","option":"mode","value":"plan"})",
     R"({"sessionUpdate":"current_mode_update","currentModeId":"plan"})"},
    {"a title", R"({"kind":"session.renamed","title":"T"})",
     R"({"sessionUpdate":"session_info_update","title":"T"})"},
    {"the agent's own title",
     R"({"kind":"agent.update","update":{"sessionUpdate":"session_info_update","title":"T"}})",
     R"({"sessionUpdate":"session_info_update","title":"T"})"},
    {"our own prompt, echoed",
     R"({"kind":"agent.update","update":{"sessionUpdate":"user_message_chunk","content":{)"
     R"("type":"text","text":"x"}}})",
     ""},
    {"what nobody knows", R"({"kind":"agent.update","update":{"sessionUpdate":"dance"}})", ""},
    {"a kind of a later version", R"({"kind":"weather","text":"rain"})", ""},
    {"a redacted record", R"({"kind":"redacted","hash":"00"})", ""},
};

TEST(RecordTeller, A20_A21_every_kind_is_told_in_words_that_an_editor_reads) {
  for (const Case& one : record_cases) {
    RecordTeller teller;
    const std::vector<std::string> updates = told(teller, one.record);
    if (std::string(one.update).empty()) {
      EXPECT_THAT(updates, IsEmpty()) << one.name;
    } else {
      EXPECT_THAT(updates, ElementsAre(one.update)) << one.name;
    }
  }
}

TEST(RecordTeller, all_blocks_of_a_prompt_are_told_and_broken_ones_left_out) {
  RecordTeller teller;
  const auto updates = told(
      teller,
      R"({"kind":"message.user","message_id":"m","content":"a","blocks":[{"type":"text","text":)"
      R"("a"},)"
      R"({"type":"image","data":"AA==","mimeType":"image/png"},{"type":"resource_link","uri":)"
      R"("file:///x","name":"x"},{"type":"image"}]})");
  EXPECT_THAT(updates, ElementsAre(HasSubstr(R"("text":"a")"), HasSubstr("image/png"),
                                   HasSubstr("file:///x")));
}

TEST(RecordTeller, an_agent_of_v2_is_told_in_v1) {
  RecordTeller teller;
  told(teller, R"({"kind":"agent.started","initialize":{"protocolVersion":2}})");
  EXPECT_THAT(
      told(
          teller,
          R"({"kind":"tool.call","tool_call_id":"t","title":"T","update":{"sessionUpdate":)"
          R"("tool_call_update","toolCallId":"t","title":"T","content":[{"type":"diff","changes":)"
          R"([{"operation":"modify","path":"/f"}],"patch":{"format":"git_patch","text":"@@"}}]}})"),
      ElementsAre(R"({"sessionUpdate":"tool_call","toolCallId":"t","title":"T","content":[{"type":)"
                  R"("content","content":{"type":"text","text":"@@"}}]})"));
}

struct BoundaryCase {
  const char* members;
  const char* text;  // empty: only `_meta`
};

TEST(RecordTeller, R1_what_the_agent_lost_is_said_and_what_it_kept_is_not) {
  const BoundaryCase table[] = {
      {R"("how":"native_resume","verified":"id_only")", ""},
      {R"("how":"native_load","verified":"full")", ""},
      {R"("how":"compacted")", ""},
      {R"("how":"fresh","inject":true)", "earlier conversation as text with the next prompt"},
      {R"("how":"injected","inject":true)", "earlier conversation as text with the next prompt"},
      {R"("how":"fresh","reason":"session_unknown")", "without the earlier conversation"},
      {R"("how":"handover","agent":"codex","inject":true)", "codex"},
      {R"("how":"cleared")", "forgotten"},
  };
  for (const BoundaryCase& one : table) {
    const std::string record =
        R"({"kind":"context.boundary","seq":9,)" + std::string(one.members) + "}";
    RecordTeller fresh;
    EXPECT_THAT(told(fresh, record), IsEmpty()) << "nothing was said before: " << record;
    RecordTeller teller;
    told(teller, R"({"kind":"message.user","message_id":"m","content":"hi"})");
    const auto updates = told(teller, record);
    ASSERT_EQ(updates.size(), 1U);
    EXPECT_THAT(updates[0], HasSubstr(R"("_meta":{"perdure":{"context":{"how":)"));
    EXPECT_EQ(updates[0].contains("[Perdure]"), *one.text != '\0') << updates[0];
    EXPECT_THAT(updates[0], HasSubstr(one.text));
  }
}

TEST(RecordTeller, X14_modes_of_an_older_agent_become_an_option_and_follow_what_is_observed) {
  RecordTeller teller;
  told(teller,
       R"({"kind":"mode","option":"mode","value":"ask","update":{"sessionUpdate":)"
       R"("current_mode_update","currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},)"
       R"({"id":"auto","name":"Auto"}]}})");
  ASSERT_EQ(teller.options().size(), 1U);
  EXPECT_EQ(teller.option_name("mode"), "mode");
  EXPECT_TRUE(teller.may_be({"mode", "auto"}));
  EXPECT_FALSE(teller.may_be({"mode", "fly"}));
  EXPECT_THAT(
      told(teller, R"({"kind":"mode","option":"mode","value":"auto"})"),
      ElementsAre(HasSubstr(R"("currentValue":"auto")"), HasSubstr(R"("currentModeId":"auto")")));
}

}  // namespace
}  // namespace perdure::face
