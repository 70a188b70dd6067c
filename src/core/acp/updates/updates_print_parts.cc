#include "core/acp/updates/updates_print_parts.h"

#include "core/acp/updates/content.h"

namespace perdure::acp {
namespace {

// v2 lists the changed files and the kind of change, and shows the change as a patch.
void write_diff_v2(JsonWriter& writer, const FileDiff& diff) {
  const std::string_view from_v1 = diff.old_text || !diff.patch.empty() ? "modify" : "add";
  writer.key("changes").begin_array().begin_object();
  writer.key("operation").string(diff.operation.empty() ? from_v1 : diff.operation);
  if (!diff.old_path.empty()) writer.key("oldPath").string(diff.old_path);
  writer.key("path").string(diff.path).end_object().end_array();
  if (diff.patch.empty()) return;
  writer.key("patch").begin_object().key("format").string("git_patch");
  writer.key("text").string(diff.patch).end_object();
}

void write_diff_v1(JsonWriter& writer, const FileDiff& diff) {
  writer.key("path").string(diff.path);
  if (diff.old_text) writer.key("oldText").string(*diff.old_text);
  writer.key("newText").string(diff.new_text);
}

void write_text_if(JsonWriter& writer, std::string_view key,
                   const std::optional<std::string>& value) {
  if (value) writer.key(key).string(*value);
}

void write_locations(JsonWriter& writer, const std::vector<ToolLocation>& locations) {
  writer.key("locations").begin_array();
  for (const ToolLocation& location : locations) {
    writer.begin_object().key("path").string(location.path);
    if (location.line) writer.key("line").number(*location.line);
    writer.end_object();
  }
  writer.end_array();
}

void write_value(JsonWriter& writer, const ConfigOption& option) {
  writer.key("type").string(option.type).key("currentValue");
  if (option.type != "boolean") {
    writer.string(option.value).key("options").begin_array();
    for (const OptionChoice& choice : option.choices) {
      writer.begin_object().key("value").string(choice.value);
      writer.key("name").string(choice.name).end_object();
    }
    writer.end_array();
  } else {
    writer.boolean(option.value == "true");
  }
}

}  // namespace

std::vector<std::string> print_tool_items(const ToolContent& content, Dialect dialect) {
  std::vector<std::string> items;
  if (!content.text.empty()) {
    items.push_back(R"({"type":"content","content":)" + print_text_block(content.text) + '}');
  }
  for (const FileDiff& diff : content.diffs) {
    JsonWriter writer;
    writer.begin_object().key("type").string("diff");
    dialect == Dialect::v1 ? write_diff_v1(writer, diff) : write_diff_v2(writer, diff);
    items.push_back(std::move(writer.end_object()).take());
  }
  for (const std::string& terminal : content.terminals) {
    JsonWriter writer;
    writer.begin_object().key("type").string("terminal").key("terminalId").string(terminal);
    items.push_back(std::move(writer.end_object()).take());
  }
  return items;
}

void write_tool(JsonWriter& writer, const ToolUpserted& tool, Dialect dialect) {
  writer.key("toolCallId").string(tool.tool_call_id);
  write_text_if(writer, "title", tool.title);
  write_text_if(writer, "name", tool.tool_name);
  write_text_if(writer, "kind", tool.kind);
  write_text_if(writer, "status", tool.status);
  if (tool.content) {
    writer.key("content").begin_array();
    for (const std::string& item : print_tool_items(*tool.content, dialect)) writer.raw(item);
    writer.end_array();
  }
  if (tool.locations) write_locations(writer, *tool.locations);
  if (!tool.raw_input.text.empty()) writer.key("rawInput").raw(tool.raw_input.text);
  if (!tool.raw_output.text.empty()) writer.key("rawOutput").raw(tool.raw_output.text);
  if (tool.output_added.empty()) return;
  writer.key("_meta").begin_object().key("terminal_output_delta").begin_object();
  writer.key("data").string(tool.output_added).key("terminal_id").string(tool.tool_call_id);
  writer.end_object().end_object();
}

std::string print_tool(const ToolUpserted& tool, Dialect dialect) {
  JsonWriter writer;
  writer.begin_object();
  write_tool(writer, tool, dialect);
  return std::move(writer.end_object()).take();
}

std::string print_options(const std::vector<ConfigOption>& options, Dialect dialect) {
  JsonWriter writer;
  writer.begin_array();
  for (const ConfigOption& option : options) {
    writer.begin_object();
    writer.key(dialect == Dialect::v1 ? "id" : "configId").string(option.id);
    writer.key("name").string(option.name);
    if (!option.category.empty()) writer.key("category").string(option.category);
    write_value(writer, option);
    writer.end_object();
  }
  return std::move(writer.end_array()).take();
}

std::string print_choices(const std::vector<PermissionChoice>& choices) {
  JsonWriter writer;
  writer.begin_array();
  for (const PermissionChoice& choice : choices) {
    writer.begin_object().key("optionId").string(choice.option_id);
    writer.key("name").string(choice.name).key("kind").string(choice.kind).end_object();
  }
  return std::move(writer.end_array()).take();
}

}  // namespace perdure::acp
