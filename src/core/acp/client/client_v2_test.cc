// Protocol v2 through the same interface: a prompt is acknowledged, a state ends its turn, and
// neither an earlier idle nor one of another session does.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "core/acp/client/client.h"

namespace perdure::acp {
namespace {

// A client that has negotiated v2 and sent a prompt, with the id 2.
struct ClientV2Turn : testing::Test {
  ClientV2Turn() {
    client.initialize(out);
    feed(R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2,"info":{"name":"a",)"
         R"("version":"1"},"capabilities":{"session":{"prompt":{"image":{}},"delete":{}}}}})");
    out.clear();
    client.prompt(out, "s", "[]");
    events.clear();
  }

  void feed(std::string_view line) {
    client.feed(line, events);
    client.feed("\n", events);
  }
  void state(std::string_view members) {
    feed(R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":)"
         R"({"sessionUpdate":"state_update",)" +
         std::string(members) + "}}}");
  }
  void acknowledge() { feed(R"({"jsonrpc":"2.0","id":2,"result":{"messageId":"m"}})"); }
  // The ends of turns so far, and failures with that word as a prefix.
  std::vector<std::string> ends() const {
    std::vector<std::string> found;
    for (const Event& event : events) {
      if (const auto* ended = std::get_if<TurnEnded>(&event)) found.push_back(ended->stop_reason);
      if (const auto* failed = std::get_if<CallFailed>(&event)) {
        found.push_back("failed " + failed->error.message);
      }
    }
    return found;
  }

  Client client{{.protocol_version = 2, .client_version = "1"}};
  std::string out;
  std::vector<Event> events;
};

using Ends = std::vector<std::string>;

TEST_F(ClientV2Turn, ends_when_the_agent_is_idle_again) {
  acknowledge();
  EXPECT_TRUE(events.empty());
  state(R"("state":"running")");
  state(R"("state":"requires_action")");
  state(R"("state":"running")");
  EXPECT_EQ(ends(), Ends{});
  state(R"("state":"idle","stopReason":"refusal","usage":{"totalTokens":1})");
  EXPECT_EQ(ends(), Ends{"refusal"});
  EXPECT_EQ(std::get<TurnEnded>(events.back()).usage.text, R"({"totalTokens":1})");
  EXPECT_EQ(std::get<TurnEnded>(events.back()).session_id, "s");
}

TEST_F(ClientV2Turn, may_run_and_end_before_it_is_acknowledged) {
  state(R"("state":"running")");
  state(R"("state":"idle")");
  acknowledge();
  EXPECT_EQ(ends(), Ends{"end_turn"});
}

TEST_F(ClientV2Turn, is_not_ended_by_an_idle_of_before) {
  state(R"("state":"idle","stopReason":"end_turn")");
  acknowledge();
  state(R"("state":"idle")");
  EXPECT_EQ(ends(), Ends{});
  state(R"("state":"idle","stopReason":"cancelled")");
  EXPECT_EQ(ends(), Ends{"cancelled"});
}

TEST_F(ClientV2Turn, ends_once) {
  acknowledge();
  state(R"("state":"running")");
  state(R"("state":"idle","stopReason":"end_turn")");
  state(R"("state":"idle","stopReason":"end_turn")");
  EXPECT_EQ(ends(), Ends{"end_turn"});
}

TEST_F(ClientV2Turn, is_not_ended_by_another_session) {
  acknowledge();
  state(R"("state":"running")");
  feed(R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"t","update":)"
       R"({"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}}})");
  EXPECT_EQ(ends(), Ends{});
}

TEST_F(ClientV2Turn, fails_with_the_error_of_its_state) {
  acknowledge();
  state(R"("state":"running")");
  state(R"("state":"idle","stopReason":"error","error":{"code":-32000,"message":"log in"})");
  EXPECT_EQ(ends(), Ends{"failed log in"});
  const auto& failed = std::get<CallFailed>(events.back());
  EXPECT_EQ(failed.call, Call::prompt);
  EXPECT_EQ(failed.failure, Failure::auth);
}

TEST_F(ClientV2Turn, fails_with_the_error_of_its_prompt) {
  feed(R"({"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"gone"}})");
  state(R"("state":"running")");
  state(R"("state":"idle","stopReason":"end_turn")");
  EXPECT_EQ(ends(), Ends{"failed gone"});
}

TEST(ClientV2, says_its_calls_as_v2_does) {
  Client client({.protocol_version = 2, .client_version = "1"});
  std::string out;
  client.initialize(out);
  client.authenticate(out, "key");
  const SessionSetup setup{
      .cwd = "/w",
      .mcp_servers = {R"([{"name":"a","command":"/b","args":[]},{"type":"http","name":"c"}])"}};
  client.open_new(out, setup);
  client.load(out, "s", {.cwd = "/w"});
  client.resume(out, "s", {.cwd = "/w"});
  EXPECT_EQ(out,
            R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":2,)"
            R"("info":{"name":"perdure","version":"1"},"capabilities":{}}})"
            "\n"
            R"({"jsonrpc":"2.0","id":2,"method":"auth/login","params":{"methodId":"key"}})"
            "\n"
            R"({"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":"/w","mcpServers":)"
            R"([{"type":"stdio","name":"a","command":"/b","args":[]},{"type":"http","name":"c"}]}})"
            "\n"
            R"({"jsonrpc":"2.0","id":4,"method":"session/resume","params":{"sessionId":"s",)"
            R"("cwd":"/w","replayFrom":{"type":"start"}}})"
            "\n"
            R"({"jsonrpc":"2.0","id":5,"method":"session/resume","params":{"sessionId":"s",)"
            R"("cwd":"/w"}})"
            "\n");
}

TEST(ClientV2, falls_back_to_v1_where_the_agent_answers_that) {
  Client client({.protocol_version = 2});
  std::string out;
  client.initialize(out);
  std::vector<Event> events;
  client.feed("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1}}\n", events);
  out.clear();
  client.load(out, "s", {.cwd = "/w"});
  EXPECT_NE(out.find("session/load"), std::string::npos);
  client.prompt(out, "s", "[]");
  client.feed("{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}\n", events);
  EXPECT_TRUE(std::holds_alternative<TurnEnded>(events.back()));
}

TEST(ClientV2, R9_options_carry_their_type) {
  Client client({.protocol_version = 2});
  std::string out;
  client.open_new(out, {.cwd = "/w"});
  std::vector<Event> events;
  client.feed(
      R"({"jsonrpc":"2.0","id":1,"result":{"sessionId":"s","configOptions":[{"configId":"m",)"
      R"("category":"mode","type":"select","currentValue":"ask"},{"configId":"web",)"
      R"("type":"boolean","currentValue":true}]}})"
      "\n",
      events);
  EXPECT_EQ(std::get<SessionOpened>(events.at(0)).options,
            (std::vector<OptionValue>{{"mode", "ask"}, {"web", "true"}}));
  out.clear();
  EXPECT_TRUE(client.set_option(out, "s", {"mode", "auto"}));
  EXPECT_TRUE(client.set_option(out, "s", {"web", "false"}));
  EXPECT_EQ(out, R"({"jsonrpc":"2.0","id":2,"method":"session/set_config_option","params":)"
                 R"({"sessionId":"s","configId":"m","type":"id","value":"auto"}})"
                 "\n"
                 R"({"jsonrpc":"2.0","id":3,"method":"session/set_config_option","params":)"
                 R"({"sessionId":"s","configId":"web","type":"boolean","value":false}})"
                 "\n");
}

TEST(ClientV2, permission_shows_its_subject) {
  Client client({.protocol_version = 2});
  std::vector<Event> events;
  client.feed(
      R"({"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s",)"
      R"("title":"Run command?","subject":{"type":"tool_call","toolCall":{"toolCallId":"t",)"
      R"("title":"make"}},"options":[]}})"
      "\n"
      R"({"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s",)"
      R"("subject":{"type":"command","command":"make","cwd":"/w","toolCallId":"u"},"options":[]}})"
      "\n",
      events);
  const auto& tool = std::get<PermissionAsked>(events.at(0));
  EXPECT_EQ(tool.title, "Run command?");
  EXPECT_EQ(tool.tool_call_id, "t");
  EXPECT_EQ(tool.tool.value().title, "make");
  const auto& command = std::get<PermissionAsked>(events.at(1));
  EXPECT_EQ(command.title, "make");
  EXPECT_EQ(command.tool_call_id, "u");
  EXPECT_FALSE(command.tool);
}

}  // namespace
}  // namespace perdure::acp
