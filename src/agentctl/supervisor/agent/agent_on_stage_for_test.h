// One Agent with a scripted process, on a clock that the test advances; keeps its frames. The
// helpers play the agent's half of protocol version 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "agentctl/supervisor/agent/agent.h"
#include "agentctl/supervisor/fake_world_for_test.h"
#include "core/acp/rpc.h"

namespace perdure {

class AgentOnStage : public ::testing::Test, protected FrameSink {
 protected:
  struct Written {
    RunId run;
    FrameBody body;
  };
  bool has_room_ = true;  // for frames that must be written at once

  void write(RunId run, FrameBody body) override { frames_.push_back({run, std::move(body)}); }
  Result<> write_now(RunId run, FrameBody body) override {
    if (!has_room_) return fail(Code::disk_full, "no room");
    write(run, std::move(body));
    return {};
  }

  static AgentSetup setup() {
    return {.launch = {.command = {"agent"}, .steer = true}, .cwd = "/ws", .mark = "MARK=1"};
  }

  FakeProcesses::Child& child() { return *processes_.children.back(); }

  void say(const std::string& line) {
    ASSERT_NE(child().events, nullptr);
    child().events->on_output(line + "\n");
    loop_.run();
  }
  void update(const std::string& body, const std::string& session = "s1") {
    say(R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":")" + session +
        R"(","update":)" + body + "}}");
  }
  void chunk(const std::string& kind, const std::string& text) {
    update(R"({"sessionUpdate":")" + kind + R"(","content":{"type":"text","text":")" + text +
           R"("}})");
  }
  void exit(const ProcessExit& exit) {
    child().events->on_exit(exit);
    loop_.run();
  }

  // Every message that was written to the agent, and how many have a given method.
  std::vector<acp::RpcMessage> heard() {
    std::vector<acp::RpcMessage> messages;
    std::string_view rest = child().input;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      const auto message = acp::parse_rpc(rest.substr(0, end));
      EXPECT_TRUE(message.has_value()) << rest.substr(0, end);
      if (message) messages.push_back(*message);
      rest.remove_prefix(end + 1);
    }
    return messages;
  }
  std::size_t heard(std::string_view method) {
    std::size_t count = 0;
    for (const acp::RpcMessage& message : heard()) count += message.method == method ? 1 : 0;
    return count;
  }
  // Counts the answers to one request of the agent.
  std::size_t answers(const std::string& id) {
    std::size_t count = 0;
    for (const acp::RpcMessage& message : heard()) {
      count += message.method.empty() && message.id.text == id ? 1 : 0;
    }
    return count;
  }
  // Answers the last request with that method.
  void answer(std::string_view method, const std::string& result) {
    std::string id;
    for (const acp::RpcMessage& message : heard()) {
      if (message.method == method) id = message.id.text;
    }
    ASSERT_FALSE(id.empty()) << method << " was not asked for";
    say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + result + "}");
  }
  void ask_permission(const std::string& id) {
    say(R"({"jsonrpc":"2.0","id":)" + id +
        R"(,"method":"session/request_permission","params":{"sessionId":"s1",)"
        R"("toolCall":{"toolCallId":""},"options":[{"optionId":"allow","name":"Allow",)"
        R"("kind":"allow_once"}]}})");
  }

  void start() {
    agent_->act(StartAgent{});
    answer("initialize", R"({"protocolVersion":1,"agentCapabilities":{"loadSession":true}})");
  }
  void open() {
    start();
    agent_->act(OpenSession{.method = OpenMethod::fresh});
    answer("session/new", R"({"sessionId":"s1"})");
  }
  RunId prompt() {
    const RunId run = ids_.next<RunId>();
    agent_->act(SendPrompt{.run = run, .prompt = {.text = "go"}});
    return run;
  }

  template <class Body>
  std::vector<Body> told() const {
    std::vector<Body> found;
    for (const Written& one : frames_) {
      if (const auto* body = get_if<Body>(&one.body)) found.push_back(*body);
    }
    return found;
  }

  FakeLoop loop_;
  FakeClock clock_{loop_};
  FakeProcesses processes_;
  IdSource ids_{{1'780'000'000'000}, 7};
  std::vector<Written> frames_;
  std::optional<Agent> agent_{std::in_place,
                              AgentPorts{clock_, loop_, processes_, static_cast<FrameSink&>(*this)},
                              setup()};
};

}  // namespace perdure
