// The agent's half: typed requests of clients, invalid ones rejected without effect, and whole
// conversations with our own client in both protocol versions.
#include "core/acp/agent/agent.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/acp/client/client.h"
#include "core/acp/samples_for_test.h"

namespace perdure::acp {
namespace {

template <class Expected>
Expected only(std::string_view request) {
  Agent agent({.name = "a", .version = "1"});
  std::vector<AgentEvent> events;
  agent.feed(std::string(request) + "\n", events);
  EXPECT_EQ(events.size(), 1U);
  const Expected* event = events.empty() ? nullptr : std::get_if<Expected>(&events[0]);
  EXPECT_NE(event, nullptr) << request;
  return event == nullptr ? Expected{} : *event;
}

TEST(Agent, requests_are_typed) {
  const auto hello = only<InitializeAsked>(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,)"
      R"("clientCapabilities":{"fs":{"readTextFile":true},"terminal":true},)"
      R"("clientInfo":{"name":"zed","version":"9"}}})");
  EXPECT_EQ(hello.client_name, "zed");
  EXPECT_TRUE(hello.fs_read && hello.terminal && !hello.fs_write);

  const auto prompt = only<PromptAsked>(
      R"({"jsonrpc":"2.0","id":"x","method":"session/prompt","params":{"sessionId":"s",)"
      R"("prompt":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}})");
  EXPECT_EQ(prompt.id.text, R"("x")");
  EXPECT_EQ(prompt.text, "a\nb");

  const auto load = only<SessionAsked>(
      R"({"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/w",)"
      R"("mcpServers":[{"name":"m"}],"additionalDirectories":["/x"]}})");
  EXPECT_EQ(load.call, Call::load);
  EXPECT_EQ(load.setup.mcp_servers.text, R"([{"name":"m"}])");
  EXPECT_EQ(load.setup.additional_directories, std::vector<std::string>{"/x"});
  EXPECT_EQ(only<SessionAsked>(R"({"jsonrpc":"2.0","id":1,"method":"session/resume","params":)"
                               R"({"sessionId":"s","cwd":"/w","replayFrom":{"type":"start"}}})")
                .call,
            Call::load);

  EXPECT_EQ(only<OptionAsked>(R"({"jsonrpc":"2.0","id":1,"method":"session/set_mode","params":)"
                              R"({"sessionId":"s","modeId":"plan"}})")
                .option,
            (OptionValue{"mode", "plan"}));
  EXPECT_EQ(
      only<OptionAsked>(R"({"jsonrpc":"2.0","id":1,"method":"session/set_config_option","params":)"
                        R"({"sessionId":"s","configId":"web","type":"boolean","value":true}})")
          .option,
      (OptionValue{"web", "true"}));
  EXPECT_EQ(
      only<CancelTold>(R"({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}})")
          .session_id,
      "s");
  EXPECT_EQ(only<RequestTakenBack>(
                R"({"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}})")
                .id,
            RpcId::number(7));
  EXPECT_EQ(only<OtherAsked>(R"({"jsonrpc":"2.0","id":1,"method":"_x/y"})").method, "_x/y");
  EXPECT_EQ(only<OtherTold>(R"({"jsonrpc":"2.0","method":"_x/y"})").method, "_x/y");
}

TEST(Agent, bad_requests_are_refused_by_name) {
  for (const std::string_view request :
       {R"("method":"initialize","params":{})", R"("method":"session/new","params":{"cwd":7}})",
        R"("method":"session/load","params":{"cwd":"/w"}})",
        R"("method":"session/prompt","params":{"sessionId":"s","prompt":"hi"}})",
        R"("method":"session/set_config_option","params":{"sessionId":"s","configId":"c"}})",
        R"("method":"session/close")"}) {
    std::string line = R"({"jsonrpc":"2.0","id":3,)" + std::string(request);
    while (!json_validate(line)) line += '}';
    const auto bad = only<BadRequest>(line);
    EXPECT_EQ(bad.id, RpcId::number(3));
    EXPECT_EQ(bad.error.code, rpc_code::invalid_params) << bad.error.message;
  }
}

TEST(Agent, noise_is_told) {
  EXPECT_EQ(only<Noise>("this is not json").kind, NoiseKind::not_json);
  EXPECT_EQ(only<Noise>(R"([{"jsonrpc":"2.0","id":1,"method":"a"}])").kind, NoiseKind::batch);
}

// Both halves, connected: each receives the other's output at once.
struct Talk {
  explicit Talk(std::int64_t version)
      : client({.protocol_version = version, .client_version = "1"}),
        agent({.name = "a",
               .version = "2",
               .abilities = {.load = true, .resume = true, .remove = true, .image = true},
               .versions = Versions::v1_and_v2}) {}

  template <class Expected>
  Expected agent_hears() {
    std::vector<AgentEvent> events;
    agent.feed(std::exchange(to_agent, {}), events);
    EXPECT_EQ(events.size(), 1U);
    return std::get<Expected>(events.at(0));
  }
  std::vector<Event> client_hears() {
    std::vector<Event> events;
    client.feed(std::exchange(to_client, {}), events);
    return events;
  }
  template <class Expected>
  Expected client_hears_last() {
    return std::get<Expected>(client_hears().back());
  }
  void open() {
    client.initialize(to_agent);
    agent.answer_initialize(to_client, agent_hears<InitializeAsked>().id, "");
    EXPECT_EQ(client_hears_last<Initialized>().agent_version, "2");
    client.open_new(to_agent, {.cwd = "/w"});
    const auto asked = agent_hears<SessionAsked>();
    EXPECT_EQ(asked.setup.cwd, "/w");
    agent.answer_session(to_client, asked.id,
                         {.session_id = "s", .options = {mode_option(), flag_option()}});
    EXPECT_EQ(client_hears_last<SessionOpened>().options,
              (std::vector<OptionValue>{{"mode", "ask"}, {"web", "true"}}));
  }

  Client client;
  Agent agent;
  std::string to_agent;
  std::string to_client;
};

class AgentTalk : public testing::TestWithParam<std::int64_t> {};

TEST_P(AgentTalk, agrees_on_a_version_and_tells_abilities) {
  Talk talk(GetParam());
  talk.client.initialize(talk.to_agent);
  talk.agent.answer_initialize(talk.to_client, talk.agent_hears<InitializeAsked>().id, "");
  const auto told = talk.client_hears_last<Initialized>();
  EXPECT_EQ(told.protocol_version, GetParam());
  EXPECT_TRUE(told.abilities.load && told.abilities.resume && told.abilities.remove);
  EXPECT_TRUE(told.abilities.image);
  EXPECT_FALSE(told.abilities.audio || told.abilities.fork);
}

TEST_P(AgentTalk, a_turn_with_a_permission_ends_once) {
  Talk talk(GetParam());
  talk.open();
  talk.client.prompt(talk.to_agent, "s", R"([{"type":"text","text":"go"}])");
  const auto prompt = talk.agent_hears<PromptAsked>();
  EXPECT_EQ(prompt.text, "go");
  talk.agent.begin_turn(talk.to_client, prompt, "m1");
  talk.agent.update(talk.to_client, "s", MessageChunk{Speaker::agent, "m2", "text", "ok"});
  const RpcId id = talk.agent.ask_permission(
      talk.to_client, "s", {"Run it?", tool_sample(), {{"y", "Yes", "allow_once"}}});
  const auto asked = talk.client_hears_last<PermissionAsked>();
  EXPECT_EQ(asked.tool_call_id, "t1");
  EXPECT_EQ(asked.title, GetParam() == 2 ? "Run it?" : "Run tests");
  talk.client.answer_permission(talk.to_agent, asked.id, "y");
  const auto answered = talk.agent_hears<PermissionAnswered>();
  EXPECT_EQ(answered.id, id);
  EXPECT_EQ(answered.option_id, "y");
  talk.agent.end_turn(talk.to_client, prompt, {.stop_reason = "max_tokens"});
  std::vector<std::string> ends;
  for (const Event& event : talk.client_hears()) {
    if (const auto* ended = std::get_if<TurnEnded>(&event)) ends.push_back(ended->stop_reason);
  }
  EXPECT_EQ(ends, std::vector<std::string>{"max_tokens"});
}

TEST_P(AgentTalk, a_cancelled_permission_is_none) {
  Talk talk(GetParam());
  talk.open();
  talk.agent.ask_permission(talk.to_client, "s", {"?", tool_sample(), {}});
  talk.client.answer_permission_cancelled(talk.to_agent,
                                          talk.client_hears_last<PermissionAsked>().id);
  EXPECT_EQ(talk.agent_hears<PermissionAnswered>().option_id, "");
  talk.agent.ask_permission(talk.to_client, "s", {"?", tool_sample(), {}});
  talk.client.give_error(talk.to_agent, talk.client_hears_last<PermissionAsked>().id,
                         {.code = rpc_code::cancelled, .message = "no"});
  EXPECT_EQ(talk.agent_hears<AnswerRefused>().error.message, "no");
}

TEST_P(AgentTalk, every_update_arrives_as_it_was_sent) {
  Talk talk(GetParam());
  talk.open();
  for (const UpdateSample& sample : GetParam() == 2 ? v2_samples() : v1_samples()) {
    talk.agent.update(talk.to_client, "s", sample.body);
    const std::vector<Event> heard = talk.client_hears();
    ASSERT_FALSE(heard.empty());
    EXPECT_EQ(std::get<Updated>(heard[0]).update.body, sample.body);
  }
}

TEST_P(AgentTalk, options_lists_and_other_calls_work_both_ways) {
  Talk talk(GetParam());
  talk.open();
  ASSERT_TRUE(talk.client.set_option(talk.to_agent, "s", {"mode", "auto"}));
  const auto asked = talk.agent_hears<OptionAsked>();
  EXPECT_EQ(asked.option, (OptionValue{"m", "auto"}));
  ConfigOption changed = mode_option();
  changed.value = "auto";
  talk.agent.answer_options(talk.to_client, asked, {changed});
  EXPECT_EQ(talk.client_hears_last<OptionSet>().options,
            (std::vector<OptionValue>{{"mode", "auto"}}));

  talk.client.list(talk.to_agent, "c1");
  const auto list = talk.agent_hears<ListAsked>();
  EXPECT_EQ(list.cursor, "c1");
  talk.agent.answer_list(talk.to_client, list.id, {{{"s", "/w", "T", ""}}, "c2"});
  EXPECT_EQ(talk.client_hears_last<Answered>().result.text,
            R"({"sessions":[{"sessionId":"s","cwd":"/w","title":"T"}],"nextCursor":"c2"})");

  talk.client.remove_session(talk.to_agent, "s");
  const auto end = talk.agent_hears<SessionEndAsked>();
  EXPECT_EQ(end.call, Call::remove);
  talk.agent.answer_empty(talk.to_client, end.id);
  EXPECT_EQ(talk.client_hears_last<Answered>().call, Call::remove);

  const RpcId id = talk.agent.ask(talk.to_client, {"fs/read_text_file", R"({"path":"/w/a"})"});
  talk.client.give_result(talk.to_agent, talk.client_hears_last<Asked>().id, R"({"content":""})");
  EXPECT_EQ(talk.agent_hears<AnswerGiven>().id, id);
}

INSTANTIATE_TEST_SUITE_P(Versions, AgentTalk, testing::Values(1, 2));

TEST(Agent, an_agent_of_v1_alone_answers_1_to_everybody) {
  Agent agent({.name = "a", .version = "1"});
  std::vector<AgentEvent> events;
  agent.feed(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,)"
             R"("info":{"name":"c","version":"1"}}})"
             "\n",
             events);
  EXPECT_EQ(agent.dialect(), Dialect::v1);
  EXPECT_EQ(std::get<InitializeAsked>(events.at(0)).client_name, "c");
}

TEST(Agent, an_answer_to_nothing_is_dropped) {
  Agent agent({.name = "a", .version = "1"});
  std::vector<AgentEvent> events;
  agent.feed("{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n", events);
  EXPECT_TRUE(events.empty());
}

}  // namespace
}  // namespace perdure::acp
