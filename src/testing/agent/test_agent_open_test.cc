// How the test agent opens sessions: the restore of a well-behaved one, and what each load and
// resume switch breaks. Lives share a home, so a second Talk is the agent after a restart.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/agent/test_agent.h"
#include "testing/agent/test_agent_talk_for_test.h"
#include "testing/sequence.h"

namespace perdure::testagent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t later_ms = Talk::start_ms + 600'000;

// Runs a first life with two prompts; returns its session's id.
std::string lived(SharedHome& home, const std::vector<std::string>& switches = {}) {
  Talk talk(home, switches);
  const std::string id = talk.open();
  talk.prompt("say 2");
  talk.prompt("tool 1; say 1");
  return id;
}

TEST(TestAgentOpen, load_replays_everything_and_then_answers) {
  SharedHome home;
  const std::string id = lived(home);
  Talk talk(home, {}, later_ms);
  const auto load = talk.reopen("session/load", id);
  EXPECT_EQ(talk.result(load).text("sessionId"), id);
  EXPECT_EQ(talk.text("user_message_chunk"), "say 2tool 1; say 1");
  EXPECT_EQ(talk.updates("tool_call").size(), 1U);
  EXPECT_EQ(talk.lines().back(), talk.answers(load).at(0));
  EXPECT_EQ(read_sequence(talk.text())->at(2), (SeenTurn{1, true}));
  talk.forget_output();
  talk.prompt("recall");
  EXPECT_THAT(talk.text(), HasSubstr("I know 2 earlier prompts"));
  EXPECT_THAT(talk.text(), HasSubstr("recall 2: tool 1; say 1"));
}

TEST(TestAgentOpen, resume_replays_nothing_and_knows_everything) {
  SharedHome home;
  const std::string id = lived(home);
  Talk talk(home, {"resume_only"}, later_ms);
  EXPECT_EQ(talk.error(talk.reopen("session/load", id)).number("code"), -32601);
  const auto resume = talk.reopen("session/resume", id);
  EXPECT_EQ(talk.result(resume).text("sessionId"), id);
  EXPECT_EQ(talk.text(), "");
  talk.prompt("recall");
  EXPECT_THAT(talk.text(), HasSubstr("recall 1: say 2"));
}

TEST(TestAgentOpen, what_is_advertised_follows_the_switches) {
  SharedHome home;
  Talk all(home);
  all.initialize();
  EXPECT_THAT(all.out(), HasSubstr(R"("loadSession":true)"));
  EXPECT_THAT(all.out(), HasSubstr(R"("list":{},"resume":{},"close":{})"));
  Talk none(home, {"no_load", "no_resume", "no_list", "no_close"});
  none.initialize();
  EXPECT_THAT(none.out(), HasSubstr(R"("loadSession":false)"));
  EXPECT_THAT(none.out(), HasSubstr(R"("sessionCapabilities":{})"));
  EXPECT_EQ(none.error(none.request("session/list", "{}")).number("code"), -32601);
}

TEST(TestAgentOpen, X11_a_session_without_a_prompt_is_not_durable) {
  SharedHome home;
  std::string id;
  {
    Talk talk(home);
    id = talk.open();
  }
  Talk after(home, {}, later_ms);
  EXPECT_EQ(after.error(after.reopen("session/load", id)).number("code"), -32002);
  {
    Talk talk(home, {"persist_unprompted"});
    id = talk.open();
  }
  EXPECT_EQ(after.answers(after.reopen("session/load", id)).size(), 1U);
  EXPECT_EQ(after.result(after.reopen("session/load", id)).text("sessionId"), id);
}

TEST(TestAgentOpen, R1_X9_X10_wrong_answers_to_load) {
  SharedHome home;
  const std::string id = lived(home);
  {
    Talk talk(home, {"load_error=-32603,Internal error,no rollout found"}, later_ms);
    const auto load = talk.reopen("session/load", id);
    EXPECT_EQ(talk.error(load).number("code"), -32603);
    EXPECT_THAT(talk.part(load, "error"), HasSubstr("no rollout found"));
    EXPECT_EQ(talk.error(talk.prompt("say 1")).number("code"), -32002);
  }
  {
    Talk talk(home, {"load_other_id"}, later_ms);
    const std::string other = talk.result(talk.reopen("session/load", id)).text("sessionId");
    EXPECT_NE(other, "");
    EXPECT_NE(other, id);
  }
  {
    Talk talk(home, {"load_null_result"}, later_ms);
    EXPECT_EQ(talk.part(talk.reopen("session/load", id), "result"), "null");
    EXPECT_EQ(talk.stop_reason(talk.prompt("say 1")), "end_turn");
  }
  {
    Talk talk(home, {"load_without_session_id"}, later_ms);
    const auto load = talk.reopen("session/load", id);
    EXPECT_EQ(talk.result(load).raw("sessionId"), "");
    EXPECT_NE(talk.result(load).raw("configOptions"), "");
  }
  {
    Talk talk(home, {"load_empty_success"}, later_ms);
    const auto load = talk.reopen("session/load", "never-heard-of");
    EXPECT_EQ(talk.result(load).text("sessionId"), "never-heard-of");
    talk.prompt("recall");
    EXPECT_THAT(talk.text(), HasSubstr("I know 0 earlier prompts"));
  }
}

TEST(TestAgentOpen, X8_load_hangs_after_its_replay) {
  SharedHome home;
  const std::string id = lived(home);
  Talk talk(home, {"load_hang", "load_replay=5,gap_ms:100"}, later_ms);
  const auto load = talk.reopen("session/load", id);
  talk.pass_ms(100'000);
  EXPECT_TRUE(talk.answers(load).empty());
  EXPECT_THAT(talk.out(), HasSubstr("user_message_chunk"));
}

TEST(TestAgentOpen, R3_X5_replays_in_every_shape) {
  SharedHome home;
  const std::string id = lived(home);
  const auto count = [](const Talk& talk) {
    return talk.updates("user_message_chunk").size() + talk.updates("agent_message_chunk").size() +
           talk.updates("tool_call").size();
  };
  Talk many(home, {"load_replay=10000,after"}, later_ms);
  const auto load = many.reopen("session/load", id);
  EXPECT_EQ(count(many), 10'000U);
  EXPECT_NE(many.lines().back(), many.answers(load).at(0));
}

TEST(TestAgentOpen, R3_replays_without_ids_merged_twice_or_only_the_last) {
  SharedHome home;
  const std::string id = lived(home);
  {
    Talk talk(home, {"load_replay=all,without_ids"}, later_ms);
    talk.reopen("session/load", id);
    EXPECT_THAT(talk.out(), Not(HasSubstr("messageId")));
  }
  {
    Talk talk(home, {"load_replay=merged"}, later_ms);
    talk.reopen("session/load", id);
    EXPECT_EQ(talk.updates("agent_message_chunk").size(), 1U);
    EXPECT_EQ(talk.updates("user_message_chunk").size(), 0U);
  }
  {
    Talk talk(home, {"load_replay=tools_twice"}, later_ms);
    talk.reopen("session/load", id);
    EXPECT_EQ(talk.updates("tool_call").size(), 2U);
  }
  {
    Talk talk(home, {"load_replay=1"}, later_ms);
    talk.reopen("session/load", id);
    EXPECT_EQ(talk.updates("agent_message_chunk").size(), 1U);
    EXPECT_EQ(talk.updates("user_message_chunk").size(), 0U);
  }
}

TEST(TestAgentOpen, X5_a_failed_load_may_have_replayed_already) {
  SharedHome home;
  const std::string id = lived(home);
  Talk talk(home, {"load_error=-32603", "load_replay=7"}, later_ms);
  const auto load = talk.reopen("session/load", id);
  EXPECT_EQ(talk.error(load).number("code"), -32603);
  EXPECT_GT(talk.updates("agent_message_chunk").size(), 3U);
}

TEST(TestAgentOpen, R4_late_replay_frames_come_behind_the_answer) {
  SharedHome home;
  const std::string id = lived(home);
  Talk talk(home, {"late_replay_frames=4,250"}, later_ms);
  const auto load = talk.reopen("session/load", id);
  EXPECT_EQ(talk.answers(load).size(), 1U);
  const std::size_t before = talk.lines().size();
  talk.pass_ms(249);
  EXPECT_EQ(talk.lines().size(), before);
  talk.pass_ms(1);
  EXPECT_EQ(talk.lines().size(), before + 4);
}

TEST(TestAgentOpen, X14_modes_are_kept_or_reset_on_load) {
  SharedHome home;
  std::string id;
  {
    Talk talk(home);
    id = talk.open();
    talk.prompt("say 1");
    const auto set =
        talk.request("session/set_config_option",
                     R"({"sessionId":")" + id + R"(","configId":"model","value":"large"})");
    EXPECT_THAT(talk.part(set, "result"), HasSubstr(R"("currentValue":"large")"));
    talk.request("session/set_mode", R"({"sessionId":")" + id + R"(","modeId":"auto"})");
    EXPECT_EQ(talk.updates("current_mode_update").size(), 1U);
    const auto wrong =
        talk.request("session/set_mode", R"({"sessionId":")" + id + R"(","modeId":"fly"})");
    EXPECT_EQ(talk.error(wrong).number("code"), -32602);
  }
  {
    Talk talk(home, {}, later_ms);
    talk.reopen("session/load", id);
    talk.forget_output();
    talk.prompt("mode");
    EXPECT_THAT(talk.text(), HasSubstr("mode=auto model=large"));
  }
  Talk talk(home, {"mode_reset_on_load"}, later_ms);
  talk.reopen("session/load", id);
  talk.forget_output();
  talk.prompt("mode");
  EXPECT_THAT(talk.text(), HasSubstr("mode=ask model=small"));
}

TEST(TestAgentOpen, R2_X12_same_minute_destroy_loses_the_session_for_good) {
  SharedHome home;
  const std::string id = lived(home);
  SharedHome waited = home;
  waited.locks.clear();
  Talk patient(waited, {"same_minute_destroy"}, later_ms);
  EXPECT_EQ(patient.result(patient.reopen("session/load", id)).text("sessionId"), id);
  {
    Talk hasty(home, {"same_minute_destroy"}, Talk::start_ms + 1000);
    EXPECT_FALSE(hasty.part(hasty.reopen("session/load", id), "error").empty());
  }
  Talk after(home, {}, later_ms);
  EXPECT_FALSE(after.part(after.reopen("session/load", id), "error").empty());
}

TEST(TestAgentOpen, X12_persist_only_on_clean_exit) {
  SharedHome home;
  const std::string killed = lived(home, {"persist_only_on_clean_exit"});
  EXPECT_TRUE(home.sessions.empty());
  std::string id;
  {
    Talk talk(home, {"persist_only_on_clean_exit"});
    id = talk.open();
    talk.prompt("say 1");
    talk.agent().terminate();
  }
  EXPECT_EQ(home.sessions.size(), 1U);
  Talk after(home, {}, later_ms);
  EXPECT_EQ(after.result(after.reopen("session/load", id)).text("sessionId"), id);
}

TEST(TestAgentOpen, X2_text_of_an_unfinished_turn_is_not_kept_but_its_prompt_is) {
  SharedHome home;
  std::string id;
  {
    Talk talk(home);
    id = talk.open();
    talk.prompt("say 3; hang");
  }
  Talk after(home, {}, later_ms);
  after.reopen("session/load", id);
  EXPECT_EQ(after.text("user_message_chunk"), "say 3; hang");
  EXPECT_EQ(after.text(), "");
}

TEST(TestAgentOpen, X26_clear_and_compact_change_what_it_knows) {
  SharedHome home;
  Talk talk(home);
  talk.open();
  talk.prompt("say 1");
  talk.prompt("say 2");
  talk.prompt("compact; recall");
  EXPECT_THAT(talk.text(), HasSubstr("I know 1 earlier prompts"));
  EXPECT_THAT(talk.text(), HasSubstr("summary of 2 prompts"));
  EXPECT_EQ(talk.updates("compaction_update").size(), 1U);
  talk.prompt("/clear; recall");
  EXPECT_THAT(talk.text(), HasSubstr("I know 0 earlier prompts"));
  Talk by_switch(home, {"clear=2"});
  by_switch.open();
  by_switch.prompt("say 1");
  by_switch.prompt("recall");
  EXPECT_THAT(by_switch.text(), HasSubstr("I know 0 earlier prompts"));
}

TEST(TestAgentOpen, usage_replay_counts_again) {
  SharedHome home;
  const std::string id = lived(home);
  Talk talk(home, {"usage_replay"}, later_ms);
  talk.reopen("session/load", id);
  EXPECT_EQ(talk.updates("usage_update").size(), 1U);
}

TEST(TestAgentOpen, copilot_s_update_before_the_answer_to_new) {
  SharedHome home;
  Talk talk(home, {"updates_before_new"});
  talk.open();
  EXPECT_THAT(talk.lines().at(1), HasSubstr("available_commands_update"));
  EXPECT_THAT(talk.lines().at(2), HasSubstr("\"result\""));
}

TEST(TestAgentOpen, resume_has_the_same_faults) {
  SharedHome home;
  const std::string id = lived(home);
  Talk hangs(home, {"resume_hang"}, later_ms);
  EXPECT_TRUE(hangs.answers(hangs.reopen("session/resume", id)).empty());
  Talk fails(home, {"resume_error=-32001,gone"}, later_ms);
  EXPECT_EQ(fails.error(fails.reopen("session/resume", id)).text("message"), "gone");
  Talk other(home, {"resume_other_id"}, later_ms);
  EXPECT_NE(other.result(other.reopen("session/resume", id)).text("sessionId"), id);
  Talk empty(home, {"resume_empty_success"}, later_ms);
  empty.reopen("session/resume", id);
  empty.prompt("recall");
  EXPECT_THAT(empty.text(), HasSubstr("I know 0 earlier prompts"));
}

TEST(TestAgentOpen, PROC1_two_lives_at_once_are_a_violation) {
  SharedHome home;
  Talk first(home);
  const std::string id = first.open();
  first.prompt("say 1");
  {
    Talk second(home, {}, later_ms);
    const auto load = second.reopen("session/load", id);
    EXPECT_TRUE(second.answers(load).empty());
    EXPECT_EQ(second.exit_code(), exit_violation);
  }
  ASSERT_EQ(home.violations.size(), 1U);
  EXPECT_THAT(home.violations[0], HasSubstr(id));
  first.request("session/close", R"({"sessionId":")" + id + R"("})");
  Talk third(home, {}, later_ms);
  EXPECT_EQ(third.result(third.reopen("session/load", id)).text("sessionId"), id);
}

TEST(TestAgentOpen, list_shows_what_is_kept) {
  SharedHome home;
  const std::string id = lived(home);
  Talk talk(home, {}, later_ms);
  talk.initialize();
  const auto all = talk.request("session/list", "{}");
  EXPECT_THAT(talk.part(all, "result"), HasSubstr(id));
  const auto elsewhere = talk.request("session/list", R"({"cwd":"/elsewhere"})");
  EXPECT_THAT(talk.part(elsewhere, "result"), Not(HasSubstr(id)));
}

TEST(TestAgentOpen, bad_input_is_answered_and_changes_nothing) {
  SharedHome home;
  Talk talk(home);
  talk.open();
  talk.send("this is no JSON");
  EXPECT_THAT(talk.lines().back(), HasSubstr("-32700"));
  talk.send("[]");
  EXPECT_THAT(talk.lines().back(), HasSubstr("-32700"));
  EXPECT_EQ(talk.error(talk.request("session/fly", "{}")).number("code"), -32601);
  EXPECT_EQ(talk.error(talk.request("session/prompt", "{}")).number("code"), -32002);
  EXPECT_EQ(talk.stop_reason(talk.prompt("say 1")), "end_turn");
}

TEST(TestAgentOpen, version_2_acknowledges_and_reports_states) {
  SharedHome home;
  Talk talk(home, {"protocol=2"});
  EXPECT_EQ(talk.error(talk.request("initialize", R"({"protocolVersion":0})")).number("code"),
            -32022);
  EXPECT_EQ(talk.error(talk.request("initialize", R"({"protocolVersion":2})")).number("code"),
            -32602);
  const auto init = talk.request(
      "initialize", R"({"protocolVersion":2,"info":{"name":"t","version":"1"},"capabilities":{}})");
  EXPECT_EQ(talk.result(init).number("protocolVersion"), 2);
  const auto opened = talk.request("session/new", R"({"cwd":"/x"})");
  const std::string id = talk.result(opened).text("sessionId");
  EXPECT_THAT(talk.part(opened, "result"), HasSubstr(R"("configId":"mode")"));
  const auto prompted = talk.request(
      "session/prompt",
      R"({"sessionId":")" + id +
          R"(","prompt":[{"type":"text","text":"say 2; tool 1; permission 1; plan"}]})");
  EXPECT_EQ(talk.result(prompted).text("messageId"), "user-1");
  EXPECT_EQ(talk.updates("tool_call").size(), 0U);
  const auto states = talk.updates("state_update");
  ASSERT_EQ(states.size(), 2U);
  EXPECT_THAT(states[1], HasSubstr("requires_action"));
  talk.answer(talk.permission_ids().at(0), "allow_once");
  EXPECT_EQ(talk.updates("plan_update").size(), 4U);
  EXPECT_THAT(talk.updates("state_update").back(),
              HasSubstr(R"("state":"idle","stopReason":"end_turn")"));
}

TEST(TestAgentOpen, version_2_resumes_with_a_replay_when_asked) {
  SharedHome home;
  const std::string id = lived(home);
  Talk talk(home, {"protocol=2"}, later_ms);
  talk.request("initialize", R"({"protocolVersion":2,"info":{"name":"t","version":"1"}})");
  const auto resume =
      talk.request("session/resume",
                   R"({"sessionId":")" + id + R"(","cwd":"/x","replayFrom":{"type":"start"}})");
  EXPECT_EQ(talk.text("user_message_chunk"), "say 2tool 1; say 1");
  EXPECT_EQ(talk.lines().back(), talk.answers(resume).at(0));
  EXPECT_EQ(talk.updates("state_update").size(), 1U);
  EXPECT_EQ(talk.error(talk.request("session/load", "{}")).number("code"), -32601);
}

}  // namespace
}  // namespace perdure::testagent
