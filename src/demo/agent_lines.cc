#include "demo/agent_lines.h"

#include <utility>
#include <vector>

#include "base/limits.h"

namespace perdure::demo {

void LineSplitter::feed(std::string_view bytes) {
  if (skipping_) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    skipping_ = false;
  }
  buffer_ += bytes;
}

std::optional<std::string> LineSplitter::next() {
  while (true) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end == std::string::npos) {
      searched_ = buffer_.size();
      if (buffer_.size() > agent_line_bytes_max) {
        buffer_.clear();
        searched_ = 0;
        skipping_ = true;
        ++lines_dropped_;
      }
      return std::nullopt;
    }
    std::string line = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    searched_ = 0;
    if (line.size() > agent_line_bytes_max) {
      ++lines_dropped_;
      continue;
    }
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) return line;
  }
}

Result<ClientMessage> parse_client_message(std::string_view line) {
  const JsonObject object = TRY(JsonObject::parse(line));
  ClientMessage message;
  message.id.json = object.find("id");
  if (const std::string_view method = object.find("method"); !method.empty()) {
    message.method = TRY(json_string(method));
  }
  message.params.text = object.find("params");
  if (message.params.text.empty()) message.params.text = "{}";
  message.result.text = object.find("result");
  message.error.text = object.find("error");
  if (message.method.empty() && message.result.text.empty() && message.error.text.empty()) {
    return fail(Code::invalid_argument, "neither a request nor an answer");
  }
  return message;
}

LooseObject::LooseObject(std::string text) : text_(std::move(text)) {
  if (auto parsed = JsonObject::parse(text_)) object_ = std::move(*parsed);
}

std::string_view LooseObject::raw(std::string_view key) const {
  return object_ ? object_->find(key) : std::string_view();
}

std::string LooseObject::text(std::string_view key) const {
  const std::string_view value = raw(key);
  if (!value.starts_with('"')) return {};
  auto text = json_string(value);
  return text ? std::move(*text) : std::string();
}

std::int64_t LooseObject::number(std::string_view key) const {
  const std::string_view value = raw(key);
  if (value.empty()) return 0;
  return json_int(value).value_or(0);
}

PromptText prompt_text(std::string_view blocks) {
  PromptText prompt;
  if (!blocks.starts_with('[')) return prompt;
  const auto elements = json_elements(blocks);
  if (!elements) return prompt;
  for (const std::string_view element : *elements) {
    const LooseObject block{std::string(element)};
    if (block.text("type") != "text") continue;
    prompt.last = block.text("text");
    if (!prompt.all.empty()) prompt.all += '\n';
    prompt.all += prompt.last;
  }
  return prompt;
}

std::string chosen_option(const ClientMessage& answer) {
  const LooseObject result(answer.result.text);
  const LooseObject outcome{std::string(result.raw("outcome"))};
  return outcome.text("outcome") == "selected" ? outcome.text("optionId") : std::string();
}

namespace {

JsonWriter opened_message() {
  JsonWriter json;
  json.begin_object().key("jsonrpc").string("2.0");
  return json;
}

std::string closed_line(JsonWriter&& json) {
  json.end_object();
  std::string line = std::move(json).take();
  line += '\n';
  return line;
}

std::string_view id_or_null(const RequestId& id) {
  return id.json.empty() ? std::string_view("null") : std::string_view(id.json);
}

}  // namespace

std::string result_line(const RequestId& id, const RawJson& result) {
  JsonWriter json = opened_message();
  json.key("id").raw(id_or_null(id)).key("result").raw(result.text);
  return closed_line(std::move(json));
}

std::string error_line(const RequestId& id, const RpcFault& fault) {
  JsonWriter json = opened_message();
  json.key("id").raw(id_or_null(id)).key("error").begin_object();
  json.key("code").number(fault.code).key("message").string(fault.message);
  if (!fault.details.text.empty()) json.key("data").raw(fault.details.text);
  json.end_object();
  return closed_line(std::move(json));
}

std::string request_line(const RequestId& id, std::string_view method, const RawJson& params) {
  JsonWriter json = opened_message();
  json.key("id").raw(id.json).key("method").string(method).key("params").raw(params.text);
  return closed_line(std::move(json));
}

std::string notification_line(std::string_view method, const RawJson& params) {
  JsonWriter json = opened_message();
  json.key("method").string(method).key("params").raw(params.text);
  return closed_line(std::move(json));
}

std::string update_line(std::string_view session_id, const Update& update) {
  JsonWriter params;
  params.begin_object().key("sessionId").string(session_id).key("update").raw(update.json);
  params.end_object();
  return notification_line("session/update", {std::move(params).take()});
}

}  // namespace perdure::demo
