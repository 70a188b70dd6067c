// Reads tools and permissions. Agents differ most in the members of tools, so several places are
// searched for the same content.
#include <array>

#include "base/limits.h"
#include "base/text.h"
#include "core/acp/updates/content.h"
#include "core/acp/updates/slices.h"
#include "core/acp/updates/updates.h"

namespace perdure::acp {
namespace {

// The first of the members that is a non-empty text.
template <std::size_t Count>
std::optional<std::string> first_text(const Slices& members,
                                      const std::array<std::string_view, Count>& keys) {
  for (const std::string_view key : keys) {
    auto text = members.text_if(key);
    if (text && !text->empty()) return text;
  }
  return std::nullopt;
}

std::string shortened(std::string text) {
  text.resize(utf8_prefix(text, acp_tool_input_bytes_max).size());
  return text;
}

// The readable part of a tool's input: the command, or its target.
std::string readable_input(std::string_view raw) {
  if (raw.starts_with('"')) return shortened(json_string(raw).value_or(std::string()));
  const Slices input(raw);
  std::string words;
  for (const std::string_view word : input.elements("command")) {
    if (!words.empty()) words += ' ';
    words += json_string(word).value_or(std::string(word));
  }
  if (!words.empty()) return shortened(std::move(words));
  constexpr auto keys =
      std::to_array<std::string_view>({"command", "cmd", "file_path", "filePath", "path",
                                       "absolute_path", "url", "uri", "pattern", "query"});
  if (auto text = first_text(input, keys)) return shortened(*std::move(text));
  if (raw.empty() || raw == "{}") return {};
  return std::string(utf8_prefix(raw, acp_tool_input_bytes_max));
}

std::optional<std::string> readable_output(std::string_view raw) {
  if (raw.starts_with('"')) return json_string(raw).value_or(std::string());
  constexpr auto keys = std::to_array<std::string_view>(
      {"output", "formatted_output", "stdout", "content", "error", "message"});
  return first_text(Slices(raw), keys);
}

// Output that Codex and Claude attach to the update for clients that show terminals.
std::string output_beside(std::string_view meta) {
  const Slices members(meta);
  const std::string_view key =
      members.has("terminal_output_delta") ? "terminal_output_delta" : "terminal_output";
  return Slices(members.raw(key)).text("data");
}

void read_diff(const Slices& diff, ToolContent& content) {
  const std::vector<std::string_view> changes = diff.elements("changes");
  if (changes.empty()) {
    content.diffs.push_back({.path = diff.text("path"),
                             .old_text = diff.text_if("oldText"),
                             .new_text = diff.text("newText"),
                             .patch = Slices(diff.raw("patch")).text("text")});
    return;
  }
  // v2: many files, one patch; it belongs to the first.
  std::string patch = Slices(diff.raw("patch")).text("text");
  for (const std::string_view change : changes) {
    const Slices file(change);
    content.diffs.push_back({.path = file.text("path"),
                             .patch = std::move(patch),
                             .operation = file.text("operation"),
                             .old_path = file.text("oldPath")});
    patch.clear();
  }
}

void read_content(std::string_view raw, ToolContent& content) {
  const Slices item(raw);
  const std::string type = item.text("type");
  if (type == "content") append_paragraph(content.text, read_block(item.raw("content")).text);
  if (type == "diff") read_diff(item, content);
  if (type == "terminal") content.terminals.push_back(item.text("terminalId"));
}

std::vector<ToolLocation> read_locations(const Slices& tool) {
  std::vector<ToolLocation> locations;
  for (const std::string_view raw : tool.elements("locations")) {
    const Slices location(raw);
    locations.push_back({location.text("path"), location.number_if("line")});
  }
  return locations;
}

}  // namespace

ToolContent parse_tool_content(std::string_view raw) {
  ToolContent content;
  if (raw.starts_with('{')) read_content(raw, content);
  for (const std::string_view item : array_elements(raw)) read_content(item, content);
  return content;
}

ToolUpserted parse_tool(std::string_view raw) {
  const Slices members(raw);
  ToolUpserted tool{.tool_call_id = members.text("toolCallId"),
                    .title = members.text_if("title"),
                    .tool_name = members.text_if("name"),
                    .kind = members.text_if("kind"),
                    .status = members.text_if("status"),
                    .input = readable_input(members.raw("rawInput")),
                    .output = readable_output(members.raw("rawOutput")),
                    .raw_input = members.json("rawInput"),
                    .raw_output = members.json("rawOutput")};
  if (members.has("content")) tool.content = parse_tool_content(members.raw("content"));
  if (members.has("locations")) tool.locations = read_locations(members);
  if (members.has("_meta")) tool.output_added = output_beside(members.raw("_meta"));
  return tool;
}

std::vector<PermissionChoice> parse_choices(std::string_view raw) {
  std::vector<PermissionChoice> choices;
  for (const std::string_view item : array_elements(raw)) {
    const Slices choice(item);
    choices.push_back({choice.text("optionId"), choice.text("name"), choice.text("kind")});
  }
  return choices;
}

}  // namespace perdure::acp
