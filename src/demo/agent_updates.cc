#include "demo/agent_updates.h"

#include <algorithm>
#include <utility>

namespace perdure::demo {
namespace {

JsonWriter opened_update(std::string_view kind) {
  JsonWriter json;
  json.begin_object().key("sessionUpdate").string(kind);
  return json;
}

Update closed_update(JsonWriter&& json) {
  json.end_object();
  return {std::move(json).take()};
}

void write_text_block(JsonWriter& json, std::string_view text) {
  json.begin_object().key("type").string("text").key("text").string(text).end_object();
}

void write_optional(JsonWriter& json, std::string_view key, const std::string& value) {
  if (!value.empty()) json.key(key).string(value);
}

void write_tool_content(JsonWriter& json, const ToolView& tool) {
  if (tool.text.empty() && !tool.diff) return;
  json.key("content").begin_array();
  if (!tool.text.empty()) {
    json.begin_object().key("type").string("content").key("content");
    write_text_block(json, tool.text);
    json.end_object();
  }
  if (tool.diff) {
    json.begin_object().key("type").string("diff").key("path").string(tool.diff->path);
    json.key("oldText");
    if (tool.diff->old_text) {
      json.string(*tool.diff->old_text);
    } else {
      json.null();
    }
    json.key("newText").string(tool.diff->new_text).end_object();
  }
  json.end_array();
}

void write_tool_members(JsonWriter& json, const ToolView& tool) {
  json.key("toolCallId").string(tool.id);
  write_optional(json, "title", tool.title);
  write_optional(json, "kind", tool.kind);
  write_optional(json, "status", tool.status);
  write_tool_content(json, tool);
  if (!tool.path.empty()) {
    json.key("locations").begin_array().begin_object();
    json.key("path").string(tool.path).end_object().end_array();
  }
  if (!tool.raw_input.text.empty()) json.key("rawInput").raw(tool.raw_input.text);
  if (!tool.raw_output.text.empty()) json.key("rawOutput").raw(tool.raw_output.text);
}

std::string_view chunk_kind(Speaker speaker) {
  switch (speaker) {
    case Speaker::user: return "user_message_chunk";
    case Speaker::thought: return "agent_thought_chunk";
    case Speaker::agent: break;
  }
  return "agent_message_chunk";
}

}  // namespace

Update chunk_update(const Chunk& chunk) {
  JsonWriter json = opened_update(chunk_kind(chunk.speaker));
  json.key("content");
  write_text_block(json, chunk.text);
  if (!chunk.message_id.empty()) json.key("messageId").string(chunk.message_id);
  return closed_update(std::move(json));
}

Update tool_update(const ToolView& tool, Mention mention, Dialect dialect) {
  const bool is_call = mention == Mention::first && dialect == Dialect::v1;
  JsonWriter json = opened_update(is_call ? "tool_call" : "tool_call_update");
  write_tool_members(json, tool);
  return closed_update(std::move(json));
}

RawJson tool_object(const ToolView& tool) {
  JsonWriter json;
  json.begin_object();
  write_tool_members(json, tool);
  json.end_object();
  return {std::move(json).take()};
}

Update plan_update(const std::vector<PlanItem>& items, Dialect dialect) {
  JsonWriter json = opened_update(dialect == Dialect::v1 ? "plan" : "plan_update");
  if (dialect == Dialect::v2) {
    json.key("plan").begin_object().key("type").string("items").key("planId").string("plan-1");
  }
  json.key("entries").begin_array();
  for (const PlanItem& item : items) {
    json.begin_object().key("content").string(item.content);
    json.key("priority").string(item.priority).key("status").string(item.status).end_object();
  }
  json.end_array();
  if (dialect == Dialect::v2) json.end_object();
  return closed_update(std::move(json));
}

Update usage_update(const UsageView& usage) {
  JsonWriter json = opened_update("usage_update");
  json.key("used").number(usage.used).key("size").number(usage.size);
  return closed_update(std::move(json));
}

Update title_update(std::string_view title) {
  JsonWriter json = opened_update("session_info_update");
  json.key("title").string(title);
  return closed_update(std::move(json));
}

Update mode_update(std::string_view mode) {
  JsonWriter json = opened_update("current_mode_update");
  json.key("currentModeId").string(mode);
  return closed_update(std::move(json));
}

Update commands_update(const std::vector<CommandView>& commands, Dialect dialect) {
  JsonWriter json = opened_update("available_commands_update");
  json.key("availableCommands").begin_array();
  for (const CommandView& command : commands) {
    json.begin_object();
    if (dialect == Dialect::v2) json.key("type").string("command");
    json.key("name").string(command.name).key("description").string(command.description);
    if (!command.hint.empty()) {
      json.key("input").begin_object();
      if (dialect == Dialect::v2) json.key("type").string("text");
      json.key("hint").string(command.hint).end_object();
    }
    json.end_object();
  }
  json.end_array();
  return closed_update(std::move(json));
}

bool OptionView::has(std::string_view value) const {
  return std::ranges::any_of(choices, [&](const OptionChoice& c) { return c.value == value; });
}

RawJson options_array(const std::vector<OptionView>& options, Dialect dialect) {
  JsonWriter json;
  json.begin_array();
  for (const OptionView& option : options) {
    json.begin_object().key(dialect == Dialect::v1 ? "id" : "configId").string(option.id);
    json.key("name").string(option.name).key("category").string(option.category);
    json.key("type").string("select").key("currentValue").string(option.current);
    json.key("options").begin_array();
    for (const OptionChoice& choice : option.choices) {
      json.begin_object().key("value").string(choice.value).key("name").string(choice.name);
      write_optional(json, "description", choice.description);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
  return {std::move(json).take()};
}

Update options_update(const std::vector<OptionView>& options, Dialect dialect) {
  JsonWriter json = opened_update("config_option_update");
  json.key("configOptions").raw(options_array(options, dialect).text);
  return closed_update(std::move(json));
}

RawJson modes_object(const OptionView& mode) {
  JsonWriter json;
  json.begin_object().key("currentModeId").string(mode.current);
  json.key("availableModes").begin_array();
  for (const OptionChoice& choice : mode.choices) {
    json.begin_object().key("id").string(choice.value).key("name").string(choice.name);
    write_optional(json, "description", choice.description);
    json.end_object();
  }
  json.end_array().end_object();
  return {std::move(json).take()};
}

RawJson permission_params(const PermissionView& ask, Dialect dialect) {
  JsonWriter json;
  json.begin_object().key("sessionId").string(ask.session_id);
  if (dialect == Dialect::v1) {
    json.key("toolCall").raw(tool_object(ask.tool).text);
  } else {
    json.key("title").string(ask.tool.title).key("subject").begin_object();
    json.key("type").string("tool_call").key("toolCall").raw(tool_object(ask.tool).text);
    json.end_object();
  }
  json.key("options").begin_array();
  for (const PermissionView::Choice& choice : ask.choices) {
    json.begin_object().key("optionId").string(choice.id).key("name").string(choice.name);
    json.key("kind").string(choice.kind).end_object();
  }
  json.end_array().end_object();
  return {std::move(json).take()};
}

}  // namespace perdure::demo
