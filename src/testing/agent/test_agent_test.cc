// Turns of the test agent: the behaviour of each verb and switch, observed only through its lines.
#include "testing/agent/test_agent.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "testing/agent/test_agent_talk_for_test.h"
#include "testing/sequence.h"

namespace perdure::testagent {
namespace {

using ::testing::HasSubstr;

void expect_whole_turn(const Talk& talk, std::uint64_t prompt, std::uint64_t chunks) {
  const auto turns = read_sequence(talk.text());
  ASSERT_TRUE(turns) << turns.error().message();
  ASSERT_TRUE(turns->contains(prompt));
  EXPECT_EQ(turns->at(prompt), (SeenTurn{chunks, true}));
}

TEST(TestAgentTurn, chunks_are_numbered_and_the_turn_ends_once) {
  SharedHome home;
  Talk talk(home);
  talk.open();
  const auto first = talk.prompt("say 5");
  const auto second = talk.prompt("chunks 1000 64");
  EXPECT_EQ(talk.stop_reason(first), "end_turn");
  EXPECT_EQ(talk.stop_reason(second), "end_turn");
  expect_whole_turn(talk, 1, 5);
  expect_whole_turn(talk, 2, 1000);
  const demo::LooseObject chunk(talk.updates("agent_message_chunk").at(100));
  const demo::LooseObject content{std::string(chunk.raw("content"))};
  EXPECT_EQ(content.text("text").size(), 64U);
}

TEST(TestAgentTurn, paced_chunks_name_the_time_they_were_due_even_when_late) {
  SharedHome home;
  Talk talk(home);
  talk.open();
  talk.prompt("paced 4 50");
  talk.pass_ms(49);
  EXPECT_EQ(talk.updates("agent_message_chunk").size(), 1U);
  talk.agent().tick(Talk::start_ms + 130);  // it did not run for a while
  talk.pass_ms(200);
  const std::vector<std::string> chunks = talk.updates("agent_message_chunk");
  ASSERT_GE(chunks.size(), 4U);
  for (std::int64_t n = 0; n < 4; ++n) {
    EXPECT_THAT(chunks.at(static_cast<std::size_t>(n)),
                HasSubstr("due=" + std::to_string(Talk::start_ms + 50 * n) + " "));
  }
}

TEST(TestAgentTurn, verbs_show_every_kind_of_update) {
  SharedHome home;
  Talk talk(home);
  talk.open();
  const auto id =
      talk.prompt("think 2; plan; tool 2; usage 7; title My work; commands; mode; say 1");
  EXPECT_EQ(talk.stop_reason(id), "end_turn");
  EXPECT_EQ(talk.updates("agent_thought_chunk").size(), 2U);
  EXPECT_EQ(talk.updates("plan").size(), 4U);
  EXPECT_EQ(talk.updates("tool_call").size(), 2U);
  EXPECT_EQ(talk.updates("tool_call_update").size(), 2U);
  EXPECT_EQ(talk.updates("usage_update").size(), 1U);
  EXPECT_THAT(talk.updates("session_info_update").at(0), HasSubstr("My work"));
  EXPECT_EQ(talk.updates("available_commands_update").size(), 2U);
  EXPECT_THAT(talk.text(), HasSubstr("mode=ask model=small"));
}

TEST(TestAgentTurn, N9_cancel_ends_a_hanging_turn_and_the_session_goes_on) {
  SharedHome home;
  Talk talk(home);
  talk.open();
  const auto hanging = talk.prompt("say 1; hang");
  EXPECT_TRUE(talk.answers(hanging).empty());
  talk.cancel();
  EXPECT_EQ(talk.stop_reason(hanging), "cancelled");
  talk.cancel();  // late: has no effect
  EXPECT_EQ(talk.stop_reason(talk.prompt("say 1")), "end_turn");
}

TEST(TestAgentTurn, X4_ignore_cancel_goes_on_as_if_nothing_was_said) {
  SharedHome home;
  Talk talk(home, {"ignore_cancel"});
  talk.open();
  const auto id = talk.prompt("sleep_tool 500; say 2");
  talk.cancel();
  EXPECT_TRUE(talk.answers(id).empty());
  talk.pass_ms(499);
  EXPECT_TRUE(talk.answers(id).empty());
  talk.pass_ms(1);
  EXPECT_EQ(talk.stop_reason(id), "end_turn");
}

TEST(TestAgentTurn, P3_never_complete_says_all_and_never_answers) {
  SharedHome home;
  Talk talk(home, {"never_complete"});
  talk.open();
  const auto id = talk.prompt("say 4");
  talk.pass_ms(3'600'000);
  EXPECT_EQ(read_sequence(talk.text())->at(1), (SeenTurn{4, false}));
  EXPECT_TRUE(talk.answers(id).empty());
  talk.cancel();
  EXPECT_EQ(talk.stop_reason(id), "cancelled");
}

TEST(TestAgentTurn, prompts_wait_for_the_one_before) {
  SharedHome home;
  Talk talk(home);
  talk.open();
  const auto first = talk.prompt("sleep 100; say 1");
  const auto second = talk.prompt("say 2");
  EXPECT_TRUE(talk.answers(second).empty());
  talk.pass_ms(100);
  EXPECT_EQ(talk.stop_reason(first), "end_turn");
  EXPECT_EQ(talk.stop_reason(second), "end_turn");
  expect_whole_turn(talk, 2, 2);
}

TEST(TestAgentTurn, when_busy_may_cancel_the_first_or_refuse_the_second) {
  SharedHome home;
  Talk cancels(home, {"when_busy=cancel_first"});
  cancels.open();
  const auto first = cancels.prompt("hang");
  const auto second = cancels.prompt("say 1");
  EXPECT_EQ(cancels.stop_reason(first), "cancelled");
  EXPECT_EQ(cancels.stop_reason(second), "end_turn");
  Talk refuses(home, {"when_busy=refuse"});
  refuses.open();
  refuses.prompt("hang");
  EXPECT_EQ(refuses.error(refuses.prompt("say 1")).number("code"), -32600);
}

TEST(TestAgentTurn, N5_permissions_one_by_one_wait_for_their_answers) {
  SharedHome home;
  Talk talk(home);
  talk.open();
  const auto id = talk.prompt("permission 2; say 1");
  ASSERT_EQ(talk.permission_ids().size(), 1U);
  talk.pass_ms(86'400'000);
  EXPECT_TRUE(talk.answers(id).empty());
  talk.answer(talk.permission_ids()[0], "allow_once");
  ASSERT_EQ(talk.permission_ids().size(), 2U);
  talk.answer(talk.permission_ids()[1], "reject_once");
  EXPECT_EQ(talk.stop_reason(id), "end_turn");
  EXPECT_THAT(talk.text(), HasSubstr("tool-1-1 allow_once"));
  EXPECT_THAT(talk.text(), HasSubstr("tool-1-2 reject_once"));
  EXPECT_THAT(talk.updates("tool_call_update").at(1), HasSubstr("failed"));
}

TEST(TestAgentTurn, N8_permission_switch_asks_concurrently_in_every_turn) {
  SharedHome home;
  Talk talk(home, {"permission=3,concurrent"});
  talk.open();
  const auto id = talk.prompt("say 1");
  ASSERT_EQ(talk.permission_ids().size(), 3U);
  for (const int i : {2, 0, 1}) {
    EXPECT_TRUE(talk.answers(id).empty());
    talk.answer(talk.permission_ids()[static_cast<std::size_t>(i)], "allow_once");
  }
  EXPECT_EQ(talk.stop_reason(id), "end_turn");
}

TEST(TestAgentTurn, X18_reused_ids_look_the_same_on_the_wire) {
  SharedHome home;
  Talk talk(home, {"permission=2,reused_id"});
  talk.open();
  const auto id = talk.prompt("say 1");
  talk.answer(talk.permission_ids().at(0), "allow_once");
  ASSERT_EQ(talk.permission_ids().size(), 2U);
  EXPECT_EQ(talk.permission_ids()[0], talk.permission_ids()[1]);
  EXPECT_TRUE(talk.answers(id).empty());
  talk.answer(talk.permission_ids()[1], "allow_once");
  EXPECT_EQ(talk.stop_reason(id), "end_turn");
}

TEST(TestAgentTurn, an_answer_after_the_cancel_hits_nothing) {
  SharedHome home;
  Talk talk(home);
  talk.open();
  const auto first = talk.prompt("permission 1");
  talk.cancel();
  EXPECT_EQ(talk.stop_reason(first), "cancelled");
  const auto second = talk.prompt("permission 1");
  talk.answer(talk.permission_ids().at(0), "allow_once");
  EXPECT_TRUE(talk.answers(second).empty());
  talk.answer(talk.permission_ids().at(1), "allow_once");
  EXPECT_EQ(talk.stop_reason(second), "end_turn");
}

TEST(TestAgentTurn, N7_permission_then_exit_leaves_a_question_behind) {
  SharedHome home;
  Talk talk(home, {"permission_then_exit"});
  talk.open();
  const auto id = talk.prompt("say 1");
  EXPECT_EQ(talk.permission_ids().size(), 1U);
  EXPECT_EQ(talk.exit_code(), 0);
  EXPECT_TRUE(talk.answers(id).empty());
}

TEST(TestAgentTurn, P2_exit_zero_mid_prompt_answers_nothing) {
  SharedHome home;
  Talk talk(home, {"exit_zero_mid_prompt"});
  talk.open();
  const auto id = talk.prompt("say 9");
  EXPECT_EQ(read_sequence(talk.text())->at(1), (SeenTurn{1, false}));
  EXPECT_EQ(talk.exit_code(), 0);
  EXPECT_TRUE(talk.answers(id).empty());
}

TEST(TestAgentTurn, P1_X2_crash_at_a_frame_writes_exactly_the_frames_before_it) {
  for (const std::uint64_t frame : {1U, 4U, 7U}) {
    SharedHome home;
    Talk talk(home, {"crash_at=" + std::to_string(frame)});
    talk.initialize();
    if (frame > 1) {
      talk.forget_output();
      talk.open();
      talk.prompt("say 9");
    }
    EXPECT_EQ(talk.signal(), 9);
    EXPECT_EQ(talk.agent().frames_written(), frame);
  }
  SharedHome home;
  Talk half(home, {"crash_at=5:half"});
  half.open();
  half.prompt("say 9");
  EXPECT_EQ(half.signal(), 9);
  EXPECT_FALSE(half.out().ends_with('\n'));
  Talk aborts(home, {"crash_at=2:abort"});
  aborts.initialize();
  aborts.request("session/new", R"({"cwd":"/x"})");
  EXPECT_EQ(aborts.signal(), 6);
}

TEST(TestAgentTurn, crash_and_exit_verbs_end_the_process) {
  SharedHome home;
  Talk crash(home);
  crash.open();
  crash.prompt("say 2; crash segv; say 1");
  EXPECT_EQ(crash.signal(), 11);
  Talk exit(home);
  exit.open();
  exit.prompt("exit 3");
  EXPECT_EQ(exit.exit_code(), 3);
  exit.prompt("say 1");
  EXPECT_EQ(exit.text(), "");
}

TEST(TestAgentTurn, X30_background_updates_come_after_the_end) {
  SharedHome home;
  Talk talk(home, {"background_updates=2"});
  talk.open();
  const auto id = talk.prompt("say 1; background 1");
  EXPECT_EQ(talk.stop_reason(id), "end_turn");
  EXPECT_THAT(talk.text(), ::testing::Not(HasSubstr("<b1:")));
  talk.pass_ms(1000);
  EXPECT_THAT(talk.text(), HasSubstr("<b1:3>"));
  // Version 2 requires an id on every chunk.
  EXPECT_THAT(talk.updates("agent_message_chunk").back(),
              HasSubstr("\"messageId\":\"background-1"));
  expect_whole_turn(talk, 1, 1);
}

TEST(TestAgentTurn, P7_floods_need_no_memory) {
  SharedHome home;
  MemoryHome view(home);
  TestAgent agent({}, view);
  agent.feed(R"({"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/x"}})"
             "\n");
  ASSERT_EQ(agent.take_acts().size(), 2U);
  const std::string id = *home.locks.begin();
  agent.feed(R"({"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":")" + id +
             R"(","prompt":[{"type":"text","text":"flood 20000000"}]}})"
             "\n");
  std::size_t total = 0;
  std::size_t largest = 0;
  std::int64_t now = 0;
  while (agent.wake_at_ms()) {
    agent.tick(++now);
    std::size_t bytes = 0;
    for (const Act& act : agent.take_acts()) bytes += std::get<WriteStdout>(act).bytes.size();
    largest = std::max(largest, bytes);
    total += bytes;
  }
  EXPECT_GT(total, 20'000'000U);
  EXPECT_LT(largest, 512U << 10);
}

TEST(TestAgentTurn, X22_huge_chunk_is_one_line) {
  SharedHome home;
  Talk talk(home, {"huge_chunk=3000000"});
  talk.open();
  const auto id = talk.prompt("say 1");
  EXPECT_EQ(talk.stop_reason(id), "end_turn");
  expect_whole_turn(talk, 1, 2);
  std::size_t longest = 0;
  for (const std::string& line : talk.lines()) longest = std::max(longest, line.size());
  EXPECT_GT(longest, 3'000'000U);
}

TEST(TestAgentTurn, P8_invalid_utf8_and_json_break_one_line_each) {
  SharedHome home;
  Talk talk(home, {"invalid_utf8", "invalid_json"});
  talk.open();
  const auto id = talk.prompt("say 2");
  EXPECT_EQ(talk.stop_reason(id), "end_turn");
  std::size_t not_utf8 = 0;
  std::size_t not_json = 0;
  for (const std::string& line : talk.lines()) {
    if (!is_utf8(line)) {
      not_utf8 += 1;
    } else if (!json_validate(line)) {
      not_json += 1;
    }
  }
  EXPECT_EQ(not_utf8, 1U);
  EXPECT_EQ(not_json, 1U);
  expect_whole_turn(talk, 1, 2);
}

TEST(TestAgentTurn, P8_stdout_noise_stands_around_good_lines) {
  SharedHome home;
  Talk talk(home, {"stdout_noise=banner,ansi,crlf,partial_utf8,no_final_newline"});
  EXPECT_TRUE(talk.out().starts_with("Welcome"));
  talk.initialize();
  EXPECT_THAT(talk.out(), HasSubstr("\x1b[32m{\"jsonrpc\""));
  EXPECT_TRUE(talk.out().ends_with("}\r\n"));
  EXPECT_FALSE(is_utf8(talk.out()));
  const auto id = talk.request("session/new", R"({"cwd":"/x"})");
  EXPECT_TRUE(talk.answers(id).empty());  // the noise hides it from a simple reader
  talk.agent().feed_end();
  std::string last;
  for (const Act& act : talk.agent().take_acts()) {
    if (const auto* out = std::get_if<WriteStdout>(&act)) last = out->bytes;
  }
  EXPECT_THAT(last, HasSubstr("last words"));
  EXPECT_FALSE(last.ends_with('\n'));
}

TEST(TestAgentTurn, floods_stderr_at_the_start_and_with_each_prompt) {
  SharedHome home;
  Talk talk(home, {"floods_stderr=300000"});
  EXPECT_EQ(talk.err().size(), 300'000U);
  talk.open();
  talk.prompt("say 1; stderr 10");
  EXPECT_EQ(talk.err().size(), 600'010U);
}

TEST(TestAgentTurn, P13_rate_limit_names_its_reset_and_is_over_then) {
  SharedHome home;
  Talk talk(home, {"rate_limit=60"});
  talk.open();
  const auto refused = talk.prompt("say 1");
  EXPECT_EQ(talk.error(refused).number("code"), -32603);
  EXPECT_THAT(talk.part(refused, "error"), HasSubstr("\"resetsAt\":\"2027-01-15T08:01:00.000Z\""));
  talk.pass_ms(59'999);
  EXPECT_FALSE(talk.part(talk.prompt("say 1"), "error").empty());
  talk.pass_ms(1);
  EXPECT_EQ(talk.stop_reason(talk.prompt("say 1")), "end_turn");
  Talk words(home, {"rate_limit=60,text"});
  words.open();
  EXPECT_EQ(words.stop_reason(words.prompt("say 5")), "end_turn");
  EXPECT_THAT(words.text(), HasSubstr("resets at 2027-01-15"));
}

TEST(TestAgentTurn, P12_auth_required_until_authenticated) {
  SharedHome home;
  Talk talk(home, {"auth_required=prompt"});
  talk.open();
  EXPECT_EQ(talk.error(talk.prompt("say 1")).number("code"), -32000);
  talk.request("authenticate", R"({"methodId":"test-login"})");
  EXPECT_EQ(talk.stop_reason(talk.prompt("say 1")), "end_turn");
  Talk at_new(home, {"auth_required=new"});
  at_new.initialize();
  EXPECT_EQ(at_new.error(at_new.request("session/new", R"({"cwd":"/x"})")).number("code"), -32000);
}

TEST(TestAgentTurn, error_stop_and_call_verbs) {
  SharedHome home;
  Talk talk(home);
  talk.open();
  const auto failed = talk.prompt("say 1; error -32001 it broke; say 1");
  EXPECT_EQ(talk.error(failed).number("code"), -32001);
  EXPECT_EQ(talk.error(failed).text("message"), "it broke");
  EXPECT_EQ(talk.stop_reason(talk.prompt("stop max_tokens")), "max_tokens");
  const auto asking = talk.prompt(R"(call fs/read_text_file {"path":"/x"})");
  EXPECT_THAT(talk.lines().back(), HasSubstr(R"("method":"fs/read_text_file")"));
  EXPECT_THAT(talk.lines().back(), HasSubstr(R"("path":"/x")"));
  const auto ask = demo::parse_client_message(talk.lines().back());
  talk.send(R"({"jsonrpc":"2.0","id":)" + ask->id.json +
            R"(,"error":{"code":-32601,"message":"no"}})");
  EXPECT_EQ(talk.stop_reason(asking), "end_turn");
  EXPECT_THAT(talk.text(), HasSubstr("error {\"code\":-32601"));
}

TEST(TestAgentTurn, children_are_acts) {
  SharedHome home;
  Talk talk(home, {"fork_child"});
  ASSERT_EQ(talk.other_acts().size(), 1U);
  EXPECT_EQ(std::get<SpawnChild>(talk.other_acts()[0]).kind, ChildKind::child);
  talk.open();
  talk.prompt("spawn_child");
  ASSERT_EQ(talk.other_acts().size(), 2U);
  EXPECT_EQ(std::get<SpawnChild>(talk.other_acts()[1]).kind, ChildKind::setsid);
}

TEST(TestAgentTurn, slow_start_signals_and_ends_follow_their_switches) {
  SharedHome home;
  Talk slow(home, {"slow_start=3000"});
  const auto id = slow.request("initialize", R"({"protocolVersion":1})");
  slow.pass_ms(2999);
  EXPECT_TRUE(slow.answers(id).empty());
  slow.pass_ms(1);
  EXPECT_EQ(slow.answers(id).size(), 1U);

  Talk stubborn(home, {"exit_on_eof=no", "ignores_sigterm"});
  stubborn.agent().feed_end();
  stubborn.agent().terminate();
  EXPECT_FALSE(stubborn.agent().has_ended());
  Talk decent(home);
  decent.agent().terminate();
  EXPECT_TRUE(decent.agent().has_ended());

  Talk fails(home, {"exit_at_start=9"});
  EXPECT_EQ(fails.exit_code(), 9);
  EXPECT_NE(fails.err(), "");

  Talk deaf(home, {"never_reads_stdin=1"});
  deaf.initialize();
  EXPECT_FALSE(deaf.agent().reads_stdin());
  EXPECT_TRUE(deaf.answers(deaf.request("session/new", R"({"cwd":"/x"})")).empty());
}

TEST(TestAgentTurn, J5_equal_seeds_misbehave_equally) {
  const auto play = [](std::uint64_t seed) {
    SharedHome shared;
    MemoryHome home(shared);
    TestAgentSetup setup;
    setup.seed = seed;
    setup.switches.odd_per_million = 100'000;
    TestAgent agent(std::move(setup), home);
    agent.feed(R"({"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/x"}})"
               "\n");
    const std::string id = shared.locks.empty() ? "" : *shared.locks.begin();
    agent.feed(R"({"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":")" + id +
               R"(","prompt":[{"type":"text","text":"say 30; tool 5"}]}})"
               "\n");
    std::string trace;
    for (int turns = 0; agent.wake_at_ms() && turns < 1000; ++turns) {
      agent.tick(*agent.wake_at_ms());
      for (const Act& act : agent.take_acts()) {
        trace += std::to_string(act.index());
        if (const auto* out = std::get_if<WriteStdout>(&act)) trace += out->bytes;
      }
    }
    return trace;
  };
  std::set<std::string> stories;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(play(seed), play(seed));
    stories.insert(play(seed));
  }
  EXPECT_GT(stories.size(), 15U);
}

}  // namespace
}  // namespace perdure::testagent
