// A conversation with the core of the test agent, for tests: requests go in, lines come out, and
// time passes only on command. One Talk is one life of the agent; homes outlive lives.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "demo/agent_lines.h"
#include "testing/agent/test_agent.h"

namespace perdure::testagent {

class Talk {
 public:
  static constexpr std::int64_t start_ms = 1'800'000'000'000;

  explicit Talk(SharedHome& shared, const std::vector<std::string>& switches = {},
                std::int64_t now_ms = start_ms)
      : home_(shared), now_ms_(now_ms) {
    TestAgentSetup setup;
    for (const std::string& one : switches) {
      const Result<> applied = apply_switch(setup.switches, one);
      EXPECT_TRUE(applied) << one << ": " << (applied ? "" : applied.error().message());
    }
    setup.now_ms = now_ms;
    setup.seed = 7 + shared.sessions.size();
    agent_ = std::make_unique<TestAgent>(std::move(setup), home_);
    settle();
  }

  // Returns the request's id.
  std::int64_t request(const std::string& method, const std::string& params) {
    const std::int64_t id = ++last_id_;
    send(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method +
         R"(","params":)" + params + "}");
    return id;
  }
  void notify(const std::string& method, const std::string& params) {
    send(R"({"jsonrpc":"2.0","method":")" + method + R"(","params":)" + params + "}");
  }
  void send(const std::string& line) {
    agent_->feed(line + "\n");
    settle();
  }

  void initialize() { request("initialize", R"({"protocolVersion":1,"clientCapabilities":{}})"); }
  // Calls session/new; returns the session's id.
  std::string open() {
    initialize();
    const std::int64_t id = request("session/new", R"({"cwd":"/somewhere","mcpServers":[]})");
    session_ = result(id).text("sessionId");
    EXPECT_FALSE(session_.empty());
    return session_;
  }
  std::int64_t reopen(const std::string& method, const std::string& session_id) {
    initialize();
    session_ = session_id;
    return request(method,
                   R"({"sessionId":")" + session_id + R"(","cwd":"/somewhere","mcpServers":[]})");
  }
  std::int64_t prompt(const std::string& text) {
    JsonWriter json;
    json.begin_object().key("sessionId").string(session_).key("prompt").begin_array();
    json.begin_object().key("type").string("text").key("text").string(text).end_object();
    json.end_array().end_object();
    return request("session/prompt", json.text());
  }
  void cancel() { notify("session/cancel", R"({"sessionId":")" + session_ + R"("})"); }
  void answer(const std::string& id, const std::string& option) {
    send(R"({"jsonrpc":"2.0","id":)" + id +
         R"(,"result":{"outcome":{"outcome":"selected","optionId":")" + option + R"("}}})");
  }

  // Lets time pass; everything happens at its due time.
  void pass_ms(std::int64_t ms) {
    const std::int64_t end = now_ms_ + ms;
    while (true) {
      const auto wake = agent_->wake_at_ms();
      if (!wake || *wake > end) break;
      now_ms_ = std::max(now_ms_, *wake);
      settle();
    }
    now_ms_ = end;
    settle();
  }

  TestAgent& agent() { return *agent_; }
  const std::vector<std::string>& lines() const { return lines_; }
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }
  const std::vector<Act>& other_acts() const { return other_acts_; }
  std::optional<int> exit_code() const {
    if (other_acts_.empty()) return std::nullopt;
    const auto* exit = std::get_if<ExitProcess>(&other_acts_.back());
    return exit ? std::optional(exit->code) : std::nullopt;
  }
  std::optional<int> signal() const {
    if (other_acts_.empty()) return std::nullopt;
    const auto* killed = std::get_if<KillItself>(&other_acts_.back());
    return killed ? std::optional(killed->signal) : std::nullopt;
  }
  void forget_output() { lines_.clear(), out_.clear(), err_.clear(); }

  // The lines that answer this request.
  std::vector<std::string> answers(std::int64_t id) const {
    std::vector<std::string> found;
    for (const std::string& line : lines_) {
      const auto message = demo::parse_client_message(line);
      if (message && message->is_answer() && message->id.json == std::to_string(id)) {
        found.push_back(line);
      }
    }
    return found;
  }
  demo::LooseObject result(std::int64_t id) const { return demo::LooseObject(part(id, "result")); }
  demo::LooseObject error(std::int64_t id) const { return demo::LooseObject(part(id, "error")); }
  std::string stop_reason(std::int64_t id) const { return result(id).text("stopReason"); }
  // The raw member of the only answer; empty if there is none.
  std::string part(std::int64_t id, std::string_view member) const {
    const auto found = answers(id);
    if (found.size() != 1) return {};
    const demo::LooseObject message(found.front());
    return std::string(message.raw(member));
  }
  // The bodies of all updates of this kind.
  std::vector<std::string> updates(std::string_view kind) const {
    std::vector<std::string> found;
    for (const std::string& line : lines_) {
      const demo::LooseObject message(line);
      const demo::LooseObject params{std::string(message.raw("params"))};
      const demo::LooseObject update{std::string(params.raw("update"))};
      if (!kind.empty() && update.text("sessionUpdate") == kind) {
        found.emplace_back(params.raw("update"));
      }
    }
    return found;
  }
  // All text of agent_message_chunks.
  std::string text(std::string_view kind = "agent_message_chunk") const {
    std::string joined;
    for (const std::string& update : updates(kind)) {
      const demo::LooseObject object(update);
      const demo::LooseObject content{std::string(object.raw("content"))};
      joined += content.text("text");
    }
    return joined;
  }
  // The raw ids of open and answered permission requests, in order.
  std::vector<std::string> permission_ids() const {
    std::vector<std::string> ids;
    for (const std::string& line : lines_) {
      const auto message = demo::parse_client_message(line);
      if (message && message->method == "session/request_permission")
        ids.push_back(message->id.json);
    }
    return ids;
  }

 private:
  void settle() {
    while (true) {
      agent_->tick(now_ms_);
      for (Act& act : agent_->take_acts()) take(std::move(act));
      const auto wake = agent_->wake_at_ms();
      if (!wake || *wake > now_ms_) return;
    }
  }
  void take(Act act) {
    if (auto* out = std::get_if<WriteStdout>(&act)) {
      out_ += out->bytes;
      splitter_.feed(out->bytes);
      while (auto line = splitter_.next()) lines_.push_back(std::move(*line));
    } else if (auto* err = std::get_if<WriteStderr>(&act)) {
      err_ += err->bytes;
    } else {
      other_acts_.push_back(std::move(act));
    }
  }

  MemoryHome home_;
  std::int64_t now_ms_;
  std::unique_ptr<TestAgent> agent_;
  demo::LineSplitter splitter_;
  std::int64_t last_id_ = 0;
  std::string session_;
  std::vector<std::string> lines_;
  std::string out_;
  std::string err_;
  std::vector<Act> other_acts_;
};

}  // namespace perdure::testagent
