// The agent of the acp_session fuzzer: sends what the bytes dictate, valid or not, and checks what
// it receives. It tracks requests independently, from the bytes of both directions.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "agentctl/supervisor/fake_world_for_test.h"
#include "base/check.h"
#include "base/json/json.h"
#include "base/text.h"
#include "core/acp/agent/agent.h"
#include "core/acp/line_reader.h"
#include "core/acp/rpc.h"
#include "core/session/random_inputs_for_test.h"

namespace perdure {

class FuzzedAgent final : private acp::LineSink {
 public:
  FuzzedAgent(std::shared_ptr<FakeProcesses::Child> child, std::int64_t protocol_version)
      : child_(std::move(child)), protocol_version_(protocol_version) {}

  bool lives() const { return child_->events != nullptr && !has_exited_; }
  bool can_speak() const { return lives() && !output_ended_ && !child_->is_paused; }
  bool was_killed() const {
    return std::ranges::find(child_->signals, SIGKILL) != child_->signals.end();
  }
  const FakeProcesses::Child* child() const { return child_.get(); }

  // Reads its stdin: whole lines of JSON-RPC, one prompt at a time, no second answer.
  void read_input() {
    const std::string_view fresh = std::string_view(child_->input).substr(read_);
    if (fresh.empty()) return;
    CHECK(fresh.ends_with('\n'), "a part of a line was written");
    read_ = child_->input.size();
    for (std::string_view rest = fresh; !rest.empty();) {
      const std::size_t end = rest.find('\n');
      take_line(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    if (protocol_version_ != 1) return;
    std::vector<acp::AgentEvent> events;
    judge_.feed(fresh, events);
    for (const acp::AgentEvent& event : events) {
      CHECK(!std::holds_alternative<acp::Noise>(event), "noise was written to the agent");
      CHECK(!std::holds_alternative<acp::BadRequest>(event), "a bad request to the agent");
    }
  }

  void say(std::string_view bytes) {
    if (!can_speak()) return;
    lines_.feed(bytes, *this);
    child_->events->on_output(bytes);
  }
  void end_output() {
    if (!can_speak()) return;
    output_ended_ = true;
    lines_.feed_end(*this);
    child_->events->on_output_end();
  }
  void exit(const ProcessExit& exit) {
    if (!lives()) return;
    has_exited_ = true;
    child_->events->on_exit(exit);
  }
  void complain(std::string_view bytes) {
    if (lives()) child_->events->on_error_output(bytes);
  }

  // One message from a table, with random fields.
  std::string message(Dice& dice) {
    switch (dice.below(16)) {
      case 0: return error_answer(dice);
      case 1: return line(R"("id":)" + some_id(dice) + R"(,"result":)" + any_value(dice));
      case 2: return cancel_request(dice);
      case 3: return request(dice);
      case 4: return notification("$/progress", any_value(dice));
      case 5:
      case 6: return permission(dice);
      case 7:
      case 8:
      case 9:
      case 10: return update(dice);
      default: return good_answer(dice);
    }
  }

  static std::string text(Dice& dice) {
    static constexpr std::string_view words[] = {"",     "word",      "session-1", "session-2",
                                                 "code", "completed", "tool-1",    "tool-2"};
    if (!dice.one_in(6)) return std::string(words[dice.below(std::size(words))]);
    std::string bytes;
    for (std::size_t left = dice.below(24); left > 0; --left) {
      bytes += static_cast<char>(dice.below(256));
    }
    return utf8_scrub(bytes);
  }

 private:
  void on_object(std::string_view json) override {
    const auto message = acp::parse_rpc(json);
    if (!message) return;
    if (message->kind == acp::RpcMessage::Kind::request) ++asked_[message->id.text];
    if (message->method.empty()) open_.erase(message->id.text);
  }
  void on_noise(std::string_view, acp::NoiseKind) override {}

  void take_line(std::string_view text_line) {
    CHECK(json_validate(text_line).has_value(), "a line to the agent is no JSON");
    const auto message = acp::parse_rpc(text_line);
    CHECK(message.has_value(), "a line to the agent is no message");
    switch (message->kind) {
      case acp::RpcMessage::Kind::request:
        CHECK(open_.emplace(message->id.text, message->method).second, "an id is used again");
        if (message->method == "session/prompt") {
          CHECK(protocol_version_ != 1 || prompts_open() == 1, "two prompts at once");
        }
        break;
      case acp::RpcMessage::Kind::notification: break;
      default: CHECK(++answered_[message->id.text] <= asked_[message->id.text], "answered twice");
    }
  }
  std::size_t prompts_open() const {
    std::size_t prompts = 0;
    for (const auto& [id, method] : open_) prompts += method == "session/prompt" ? 1 : 0;
    return prompts;
  }

  static std::string quoted(const std::string& value) {
    std::string out;
    json_append_string(out, value);
    return out;
  }
  static std::string line(const std::string& members) {
    return R"({"jsonrpc":"2.0",)" + members + "}\n";
  }
  static std::string notification(const std::string& method, const std::string& params) {
    return line(R"("method":")" + method + R"(","params":)" + params);
  }
  static std::string any_value(Dice& dice) {
    static constexpr std::string_view values[] = {
        "null", "{}", "[]", "0", R"("x")", R"({"sessionId":7})", R"({"stopReason":null})"};
    return std::string(values[dice.below(std::size(values))]);
  }
  std::string some_id(Dice& dice) {
    static constexpr std::string_view ids[] = {"0",   "1",      "2",  "3",   "4",   "5",
                                               "999", R"("p")", "-1", "1.5", "null"};
    return std::string(ids[dice.below(std::size(ids))]);
  }
  std::string session(Dice& dice) {
    static constexpr std::string_view ids[] = {"session-1", "session-1", "session-1", "session-2",
                                               ""};
    return quoted(std::string(ids[dice.below(std::size(ids))]));
  }

  std::string error_answer(Dice& dice) {
    static constexpr std::int64_t codes[] = {-32000, -32001, -32002, -32601, -32602,
                                             -32603, -32800, 429,    0};
    static constexpr std::string_view texts[] = {"", "session not found", "rate limit reached",
                                                 "please log in", "cancelled"};
    std::string id = some_id(dice);
    if (!open_.empty() && !dice.one_in(4)) id = some_open(dice).first;
    return line(R"("id":)" + id + R"(,"error":{"code":)" +
                std::to_string(codes[dice.below(std::size(codes))]) + R"(,"message":)" +
                quoted(std::string(texts[dice.below(std::size(texts))])) + "}");
  }

  std::pair<std::string, std::string> some_open(Dice& dice) {
    auto at = open_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(dice.below(open_.size())));
    return *at;
  }

  std::string good_answer(Dice& dice) {
    if (open_.empty()) return update(dice);
    const auto [id, method] = some_open(dice);
    return line(R"("id":)" + id + R"(,"result":)" + result_of(method, dice));
  }

  std::string result_of(const std::string& method, Dice& dice) {
    static constexpr std::string_view reasons[] = {"end_turn", "cancelled", "refusal", "max_tokens",
                                                   ""};
    if (method == "initialize") {
      const std::string load = dice.one_in(3) ? "false" : "true";
      const std::string resume = dice.one_in(3) ? "" : R"("resume":{})";
      if (protocol_version_ == 2) {
        return R"({"protocolVersion":2,"info":{"name":"a","version":"1"},)"
               R"("capabilities":{"session":{)" +
               resume + R"(}}})";
      }
      return R"({"protocolVersion":1,"agentCapabilities":{"loadSession":)" + load +
             R"(,"sessionCapabilities":{)" + resume + R"(}}})";
    }
    if (method == "session/prompt") {
      return R"({"stopReason":)" + quoted(std::string(reasons[dice.below(std::size(reasons))])) +
             "}";
    }
    const std::string id = dice.one_in(5) ? quoted(text(dice)) : R"("session-1")";
    if (dice.one_in(3)) return R"({"sessionId":)" + id + "}";
    return R"({"sessionId":)" + id +
           R"(,"modes":{"currentModeId":"code","availableModes":[{"id":"code","name":"Code"},)" +
           R"({"id":"plan","name":"Plan"}]},"configOptions":[{"id":"model","name":"Model",)" +
           R"("category":"model","type":"select","currentValue":"small","options":[]}]})";
  }

  std::string cancel_request(Dice& dice) {
    if (dice.one_in(4)) return notification("$/cancel_request", any_value(dice));
    return notification("$/cancel_request", R"({"requestId":)" + some_id(dice) + "}");
  }

  std::string request(Dice& dice) {
    static constexpr std::string_view methods[] = {"fs/read_text_file", "terminal/create", "x/y",
                                                   "session/request_permission"};
    return line(R"("id":)" + some_id(dice) + R"(,"method":")" +
                std::string(methods[dice.below(std::size(methods))]) + R"(","params":)" +
                any_value(dice));
  }

  std::string permission(Dice& dice) {
    return line(R"("id":)" + some_id(dice) +
                R"(,"method":"session/request_permission","params":{"sessionId":)" + session(dice) +
                R"(,"toolCall":{"toolCallId":)" + quoted(text(dice)) + R"(,"title":)" +
                quoted(text(dice)) +
                R"(},"options":[{"optionId":"allow","name":"Allow","kind":"allow_once"},)" +
                R"({"optionId":"reject","name":"Reject","kind":"reject_once"}]})");
  }

  std::string update(Dice& dice) {
    static constexpr std::string_view kinds[] = {"agent_message_chunk", "user_message_chunk",
                                                 "agent_thought_chunk", "tool_call",
                                                 "tool_call_update",    "plan",
                                                 "current_mode_update", "available_commands_update",
                                                 "usage_update",        "state_update",
                                                 "state_change",        "unheard_of"};
    std::string body = R"({"sessionUpdate":")";
    body += kinds[dice.below(std::size(kinds))];
    body += R"(","content":{"type":"text","text":)" + quoted(text(dice)) + "}";
    body += R"(,"toolCallId":)" + quoted(text(dice)) + R"(,"status":)" + quoted(text(dice));
    body += R"(,"messageId":)" + quoted(text(dice)) + R"(,"title":)" + quoted(text(dice));
    body += R"(,"currentModeId":)" + quoted(text(dice));
    body +=
        dice.one_in(2) ? R"(,"state":"running"})" : R"(,"state":"idle","stopReason":"end_turn"})";
    return notification("session/update",
                        R"({"sessionId":)" + session(dice) + R"(,"update":)" + body + "}");
  }

  std::shared_ptr<FakeProcesses::Child> child_;
  std::int64_t protocol_version_;
  acp::Agent judge_{acp::AgentSetup{.name = "judge"}};
  acp::LineReader lines_;
  std::size_t read_ = 0;
  bool output_ended_ = false;
  bool has_exited_ = false;
  std::map<std::string, std::string> open_;        // our requests by id: which method
  std::map<std::string, std::uint64_t> asked_;     // by the agent, by id: how often
  std::map<std::string, std::uint64_t> answered_;  // the same, for the answers
};

}  // namespace perdure
