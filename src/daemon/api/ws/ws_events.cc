#include "daemon/api/ws/ws_events.h"

#include <utility>

#include "base/json/json.h"
#include "base/limits.h"
#include "core/views/transcript.h"

namespace perdure {
namespace {

constexpr std::string_view added = "session.message.added";
constexpr std::string_view updated = "session.message.updated";

// Without the opening brace, because it follows other members.
std::string members_of(JsonWriter json) {
  std::string text = std::move(json).take();
  text.front() = ',';
  text.pop_back();
  return text;
}

std::string executor_members(const Record& record) {
  JsonWriter out;
  out.begin_object().key("seq").number_unsigned(record.seq);
  out.key("exec_id").string(record.event.origin.exec.text());
  if (const auto* error = get_if<ExecutorError>(&record.event.body)) {
    out.key("code").string(error->code).key("error_message").string(error->message);
  }
  out.end_object();
  return members_of(std::move(out));
}

std::string_view executor_action(const EventBody& body) {
  if (holds_alternative<ExecutorStarting>(body)) return "session.agentctl_starting";
  if (holds_alternative<ExecutorReady>(body) || holds_alternative<ExecutorReattached>(body)) {
    return "session.agentctl_ready";
  }
  if (holds_alternative<ExecutorError>(body)) return "session.agentctl_error";
  return {};
}

}  // namespace

NamedEvent EventNamer::message(std::string_view action, const Record& record,
                               std::uint64_t id) const {
  JsonWriter out;
  out.begin_object().key("seq").number_unsigned(record.seq);
  out.key("message").begin_object().key("id").string(std::to_string(id));
  out.key("role").string(role_).key("text").string(text_).key("run_id");
  if (record.event.origin.run) {
    out.string(record.event.origin.run.text());
  } else {
    out.null();
  }
  out.end_object().end_object();
  return {action, members_of(std::move(out))};
}

void EventNamer::add_chunk(const Record& record, const std::string& text) {
  role_ = "assistant";
  text_ = text;
  const bool begins = streaming_ == 0;
  if (begins) streaming_ = record.seq;
  found_.push_back(message(begins ? added : updated, record, streaming_));
}

void EventNamer::add_tool(const Record& record) {
  const auto* call = get_if<ToolCall>(&record.event.body);
  const auto* update = get_if<ToolUpdate>(&record.event.body);
  const std::string& id = call ? call->tool_call_id : update->tool_call_id;
  const std::string& status = call ? call->status : update->status;
  role_ = "tool_call";
  const std::string& text = call ? call->text : update->text;
  text_ = update && text.empty() ? update->added : text;
  if (tools_.size() >= tools_open_max) tools_.erase(tools_.begin());
  const auto [at, begins] = tools_.try_emplace(id, record.seq);
  found_.push_back(message(begins ? added : updated, record, at->second));
  const bool over = status == "completed" || status == "failed" || status == "cancelled";
  if (over) tools_.erase(at);
}

std::vector<NamedEvent> EventNamer::add(const Record& record) {
  found_.clear();
  const EventBody& body = record.event.body;
  const FoldClass fold = fold_class(record);
  if (fold == FoldClass::flush || fold == FoldClass::segment) streaming_ = 0;
  if (fold == FoldClass::segment) tools_.clear();
  if (const std::string_view action = executor_action(body); !action.empty()) {
    found_.push_back({action, executor_members(record)});
  } else if (const auto* user = get_if<MessageUser>(&body)) {
    role_ = "user";
    text_ = user->prompt.text;
    found_.push_back(message(added, record, record.seq));
  } else if (const auto* agent = get_if<MessageAgent>(&body)) {
    add_chunk(record, agent->text);
  } else if (const auto* thought = get_if<MessageThought>(&body)) {
    add_chunk(record, thought->text);
  } else if (holds_alternative<ToolCall>(body) || holds_alternative<ToolUpdate>(body)) {
    add_tool(record);
  }
  return std::move(found_);
}

}  // namespace perdure
