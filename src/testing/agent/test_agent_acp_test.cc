// Parses the test agent's output with the product's ACP code: everything that a well-behaved agent
// writes is understood, in both versions, and noise costs no frame.
#include <algorithm>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/acp/client/client.h"
#include "testing/agent/test_agent.h"
#include "testing/sequence.h"

namespace perdure::testagent {
namespace {

// One life of the agent, driven by acp::Client. Permissions are allowed at once.
class ClientTalk {
 public:
  ClientTalk(SharedHome& shared, const std::vector<std::string>& switches, std::int64_t version)
      : home_(shared), client_({.protocol_version = version, .client_version = "1"}) {
    TestAgentSetup setup;
    for (const std::string& one : switches) EXPECT_TRUE(apply_switch(setup.switches, one)) << one;
    agent_ = std::make_unique<TestAgent>(std::move(setup), home_);
    call([&](std::string& out) { client_.initialize(out); });
  }
  void open() {
    call([&](std::string& out) { client_.open_new(out, {.cwd = "/place"}); });
    for (const acp::Event& event : events) {
      if (const auto* opened = std::get_if<acp::SessionOpened>(&event))
        session = opened->session_id;
    }
    ASSERT_NE(session, "");
  }
  void prompt(const std::string& text) {
    call([&](std::string& out) {
      client_.prompt(out, session, R"([{"type":"text","text":")" + text + R"("}])");
    });
  }
  void load(const std::string& id) {
    session = id;
    call([&](std::string& out) { client_.load(out, id, {.cwd = "/place"}); });
  }
  void end_input() {
    agent_->feed_end();
    settle();
    client_.feed_end(events);
  }
  template <class T>
  std::size_t count() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        events, [](const acp::Event& event) { return std::holds_alternative<T>(event); }));
  }
  // The joined text of the agent's messages, and how many updates of one type came.
  std::string text() const {
    std::string joined;
    for (const acp::Event& event : events) {
      const auto* updated = std::get_if<acp::Updated>(&event);
      const auto* chunk = updated ? std::get_if<acp::MessageChunk>(&updated->update.body) : nullptr;
      if (chunk && chunk->speaker == acp::Speaker::agent) joined += chunk->text;
    }
    return joined;
  }
  template <class T>
  std::size_t updates() const {
    return static_cast<std::size_t>(std::ranges::count_if(events, [](const acp::Event& event) {
      const auto* updated = std::get_if<acp::Updated>(&event);
      return updated && std::holds_alternative<T>(updated->update.body);
    }));
  }

  std::string session;
  std::vector<acp::Event> events;

 private:
  void call(const auto& write) {
    std::string out;
    write(out);
    agent_->feed(out);
    settle();
  }
  void settle() {
    while (true) {
      agent_->tick(now_ms_);
      for (const Act& act : agent_->take_acts()) {
        if (const auto* out = std::get_if<WriteStdout>(&act)) client_.feed(out->bytes, events);
      }
      std::string answers;
      for (; seen_ < events.size(); ++seen_) {
        if (const auto* asked = std::get_if<acp::PermissionAsked>(&events[seen_])) {
          client_.answer_permission(answers, asked->id, asked->choices.at(0).option_id);
        }
      }
      if (!answers.empty()) agent_->feed(answers);
      const auto wake = agent_->wake_at_ms();
      if (!wake) return;
      now_ms_ = std::max(now_ms_, *wake);
    }
  }

  MemoryHome home_;
  acp::Client client_;
  std::unique_ptr<TestAgent> agent_;
  std::int64_t now_ms_ = 1;
  std::size_t seen_ = 0;
};

class TestAgentAcp : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(TestAgentAcp, our_client_understands_every_update) {
  SharedHome home;
  ClientTalk talk(home, {"protocol=2"}, GetParam());
  talk.open();
  talk.prompt("say 5");
  talk.prompt("think 2; plan; tool 2; usage 5; title abc; commands; mode; say 1");
  talk.prompt("permission 2 concurrent; permission 1; background 2");
  EXPECT_EQ(talk.count<acp::TurnEnded>(), 3U);
  EXPECT_EQ(talk.count<acp::PermissionAsked>(), 3U);
  EXPECT_EQ(talk.count<acp::Noise>(), 0U);
  EXPECT_EQ(talk.count<acp::CallFailed>(), 0U);
  EXPECT_EQ(talk.updates<acp::PlanShown>(), 4U);
  EXPECT_EQ(talk.updates<acp::UsageShown>(), 1U);
  EXPECT_EQ(talk.updates<acp::TitleShown>(), 1U);
  EXPECT_EQ(talk.updates<acp::CommandsOffered>(), 2U);
  const auto turns = read_sequence(talk.text());
  ASSERT_TRUE(turns) << turns.error().message();
  EXPECT_EQ(turns->at(1), (SeenTurn{5, true}));
  EXPECT_EQ(turns->at(2), (SeenTurn{2, true}));
  EXPECT_EQ(turns->at(3), (SeenTurn{3, true}));
}

INSTANTIATE_TEST_SUITE_P(Versions, TestAgentAcp, ::testing::Values(1, 2));

TEST(TestAgentLines, P8_noise_before_json_is_kept_apart) {
  SharedHome home;
  ClientTalk talk(home, {"stdout_noise=banner,ansi,crlf,partial_utf8,no_final_newline"}, 1);
  talk.open();
  talk.prompt("say 50");
  EXPECT_EQ(talk.count<acp::TurnEnded>(), 1U);
  EXPECT_EQ(read_sequence(talk.text())->at(1), (SeenTurn{50, true}));
  EXPECT_GT(talk.count<acp::Noise>(), 2U);
  talk.end_input();
  EXPECT_EQ(talk.updates<acp::TitleShown>(), 1U);  // the last line, which was not terminated
}

TEST(TestAgentLines, P8_broken_lines_cost_nothing_but_themselves) {
  SharedHome home;
  ClientTalk talk(home, {"invalid_utf8", "invalid_json", "huge_chunk=2000000"}, 1);
  talk.open();
  talk.prompt("say 5");
  EXPECT_EQ(talk.count<acp::TurnEnded>(), 1U);
  EXPECT_EQ(read_sequence(talk.text())->at(1), (SeenTurn{6, true}));
  EXPECT_GE(talk.count<acp::Noise>(), 1U);
}

TEST(TestAgentLines, R1_every_way_to_answer_a_load_is_an_event) {
  SharedHome home;
  std::string id;
  {
    ClientTalk talk(home, {}, 1);
    talk.open();
    talk.prompt("say 1");
    id = talk.session;
  }
  const auto loaded = [&](const std::string& word) {
    ClientTalk talk(home, {word}, 1);
    talk.load(id);
    for (const acp::Event& event : talk.events) {
      if (const auto* opened = std::get_if<acp::SessionOpened>(&event)) return opened->session_id;
      if (const auto* failed = std::get_if<acp::CallFailed>(&event)) {
        return std::to_string(failed->error.code);
      }
    }
    return std::string("nothing");
  };
  EXPECT_EQ(loaded("load_ok"), id);
  EXPECT_EQ(loaded("load_null_result"), "");
  EXPECT_EQ(loaded("load_without_session_id"), "");
  EXPECT_EQ(loaded("load_error=-32001,gone"), "-32001");
  EXPECT_EQ(loaded("load_hang"), "nothing");
  EXPECT_THAT(loaded("load_other_id"), ::testing::Not(id));
}

TEST(TestAgentLines, P13_the_reset_time_is_understood) {
  SharedHome home;
  ClientTalk talk(home, {"rate_limit=60"}, 1);
  talk.open();
  talk.prompt("say 1");
  const auto* failed = std::get_if<acp::CallFailed>(&talk.events.back());
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->failure, acp::Failure::rate_limited);
  ASSERT_TRUE(failed->reset_at);
  EXPECT_EQ(failed->reset_at->ms / 1000, 60);  // the client drops fractions of a second
}

}  // namespace
}  // namespace perdure::testagent
