#include "probe/agent_talk.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/json/json.h"
#include "base/text.h"

namespace perdure::probe {
namespace {

constexpr std::size_t text_bytes_max = 64UL << 10;
constexpr std::size_t errors_bytes_max = 4UL << 10;
constexpr std::size_t sessions_max = 64;     // that an agent may mention
constexpr std::size_t line_bytes_max = 200;  // of displayed text
constexpr int pump_ms = 50;

std::string option_of(JsonView params, std::string_view kind) {
  std::string any;
  for (const JsonView option : params["options"].items()) {
    const std::string id = option["optionId"].text();
    if (option["kind"].text().starts_with(kind)) return id;
    if (any.empty()) any = id;
  }
  return kind == "allow" ? any : "";
}

}  // namespace

std::int64_t steady_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::string Answer::trouble() const {
  switch (kind) {
    case Kind::result: return "";
    case Kind::silence: return "no answer within " + std::to_string(ms / 1000) + " s";
    case Kind::gone: return "it ended instead of answering";
    case Kind::error: break;
  }
  std::string words = error.message;
  const JsonView details(error.data.text);
  for (const std::string_view key : {"details", "message"}) {
    if (const std::string more = details[key].text(); !more.empty() && more != words) {
      words += ": " + more;
    }
  }
  std::ranges::replace(words, '\n', ' ');
  return "error " + std::to_string(error.code) + ", " +
         std::string(utf8_prefix(words, line_bytes_max));
}

Result<std::unique_ptr<AgentTalk>> AgentTalk::start(Ports ports, const SpawnSpec& spec) {
  std::unique_ptr<AgentTalk> talk(new AgentTalk(ports));
  talk->process_ = TRY(ports.processes.spawn(spec, *talk));
  return talk;
}

Answer AgentTalk::call(const Call& call) {
  return wait(ask(call.method, call.params), call.wait_ms);
}

acp::RpcId AgentTalk::ask(std::string_view method, std::string_view params) {
  const acp::RpcId id = acp::RpcId::number(++last_id_);
  std::string line;
  acp::append_request(line, id, {.method = method, .params = params});
  process_->write(line);
  return id;
}

Answer AgentTalk::wait(const acp::RpcId& id, std::int64_t wait_ms) {
  const std::int64_t began = steady_ms();
  const bool came = wait_until([&] { return answers_.contains(id.text); }, wait_ms);
  Answer answer;
  if (came) {
    answer = std::move(answers_.extract(id.text).mapped());
  } else {
    answer.kind = is_gone_ ? Answer::Kind::gone : Answer::Kind::silence;
  }
  answer.ms = steady_ms() - began;
  return answer;
}

void AgentTalk::notify(std::string_view method, std::string_view params) {
  std::string line;
  acp::append_notification(line, {.method = method, .params = params});
  process_->write(line);
}

bool AgentTalk::wait_until(const std::function<bool()>& condition, std::int64_t wait_ms) {
  const std::int64_t until = steady_ms() + wait_ms;
  while (!condition()) {
    const std::int64_t left = until - steady_ms();
    if (left <= 0 || is_gone_) return false;
    ports_.loop.pump_for_ms(static_cast<int>(std::min<std::int64_t>(left, pump_ms)));
  }
  return true;
}

bool AgentTalk::wait_gone(std::int64_t wait_ms) {
  (void)wait_until([] { return false; }, wait_ms);
  return is_gone_;
}

std::string AgentTalk::last_words() const {
  std::string_view all(errors_);
  while (all.ends_with('\n') || all.ends_with(' ')) all.remove_suffix(1);
  const std::size_t at = all.rfind('\n');
  return utf8_scrub(
      utf8_prefix(at == std::string_view::npos ? all : all.substr(at + 1), line_bytes_max));
}

void AgentTalk::on_error_output(std::string_view bytes) {
  errors_ += bytes;
  if (errors_.size() > errors_bytes_max) errors_.erase(0, errors_.size() - errors_bytes_max);
}

void AgentTalk::on_exit(const ProcessExit&) {
  reader_.feed_end(*this);
  is_gone_ = true;
}

void AgentTalk::on_object(std::string_view json) {
  const std::optional<acp::RpcMessage> message = acp::parse_rpc(json);
  if (!message) return;
  switch (message->kind) {
    case acp::RpcMessage::Kind::notification:
      if (message->method == "session/update") hear(JsonView(message->params));
      return;
    case acp::RpcMessage::Kind::request: return answer_request(*message);
    case acp::RpcMessage::Kind::result:
      answers_[message->id.text] = {.kind = Answer::Kind::result,
                                    .result = std::string(message->result)};
      return;
    case acp::RpcMessage::Kind::error:
      answers_[message->id.text] = {.kind = Answer::Kind::error,
                                    .error = acp::parse_rpc_error(message->error)};
      return;
  }
}

void AgentTalk::hear(JsonView params) {
  const std::string session = params["sessionId"].text();
  if (!heard_.contains(session) && heard_.size() >= sessions_max) return;
  Heard& heard = heard_[session];
  const JsonView update = params["update"];
  const std::string kind = update["sessionUpdate"].text();
  constexpr std::string_view of_history[] = {"user_message_chunk",  "agent_message_chunk",
                                             "agent_thought_chunk", "tool_call",
                                             "tool_call_update",    "plan"};
  if (std::ranges::find(of_history, kind) == std::end(of_history)) return;
  ++heard.updates;
  if (kind == "tool_call") ++heard.tools;
  if (kind != "agent_message_chunk" && kind != "agent_thought_chunk") return;
  ++heard.chunks;
  if (kind != "agent_message_chunk" || heard.text.size() > text_bytes_max) return;
  heard.text += update["content"]["text"].text();
}

void AgentTalk::answer_request(const acp::RpcMessage& message) {
  std::string line;
  if (message.method != "session/request_permission") {
    acp::append_error(line, message.id,
                      {.code = acp::rpc_code::method_not_found, .message = "not served here"});
    process_->write(line);
    return;
  }
  const JsonView params(message.params);
  ++heard_[params["sessionId"].text()].questions;
  const std::string option =
      option_of(params, permission_ == PermissionAnswer::allow ? "allow" : "reject");
  JsonWriter json;
  json.begin_object().key("outcome").begin_object().key("outcome");
  if (option.empty()) {
    json.string("cancelled");
  } else {
    json.string("selected").key("optionId").string(option);
  }
  json.end_object().end_object();
  acp::append_result(line, message.id, json.text());
  process_->write(line);
}

}  // namespace perdure::probe
