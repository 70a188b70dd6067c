#include "editor/record_teller.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/acp/updates/content.h"
#include "core/acp/updates/slices.h"
#include "editor/boundary_text.h"

namespace perdure::face {
namespace {

using acp::Slices;

template <std::size_t Count>
bool is_one_of(const std::array<std::string_view, Count>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

constexpr auto tool_kinds =
    std::to_array<std::string_view>({"read", "edit", "delete", "move", "search", "execute", "think",
                                     "fetch", "switch_mode", "other"});
constexpr auto tool_statuses =
    std::to_array<std::string_view>({"pending", "in_progress", "completed", "failed"});
// Updates that every client may receive, in addition to messages, tools, plans and options.
constexpr auto other_updates = std::to_array<std::string_view>(
    {"session_info_update", "notice", "compaction_update", "compaction_summary_chunk"});
constexpr auto priorities = std::to_array<std::string_view>({"high", "medium", "low"});
constexpr auto plan_statuses =
    std::to_array<std::string_view>({"pending", "in_progress", "completed"});

std::string kind_of(std::string_view update) { return Slices(update).text("sessionUpdate"); }

// Whether a content block has the members that the schema requires.
bool is_block(std::string_view raw) {
  const Slices block(raw);
  const auto has_text = [&](std::string_view key) { return block.raw(key).starts_with('"'); };
  const std::string type = block.text("type");
  if (type == "text") return has_text("text");
  if (type == "image" || type == "audio") return has_text("data") && has_text("mimeType");
  if (type == "resource_link") return has_text("uri") && has_text("name");
  return type == "resource" && block.raw("resource").starts_with('{');
}

// A terminal belongs to the agent's workspace: an editor cannot show it.
bool is_tool_item(std::string_view raw) {
  const Slices item(raw);
  const std::string type = item.text("type");
  if (type == "content") return is_block(item.raw("content"));
  return type == "diff" && item.raw("path").starts_with('"') &&
         item.raw("newText").starts_with('"');
}

bool is_absent_or(std::string_view raw, auto&& holds) {
  return raw.empty() || (raw.starts_with('"') && holds(json_string(raw).value_or("")));
}

// Whether a v1 agent's tool update can be sent unchanged.
bool is_plain_tool(std::string_view update) {
  const Slices tool(update);
  const auto items = tool.elements("content");
  return tool.raw("toolCallId").starts_with('"') &&
         (kind_of(update) != "tool_call" || tool.raw("title").starts_with('"')) &&
         is_absent_or(tool.raw("title"), [](const std::string&) { return true; }) &&
         is_absent_or(tool.raw("kind"),
                      [](const auto& kind) { return is_one_of(tool_kinds, kind); }) &&
         is_absent_or(tool.raw("status"),
                      [](const auto& status) { return is_one_of(tool_statuses, status); }) &&
         std::ranges::all_of(items, is_tool_item);
}

std::string print_chunk(acp::MessageChunk chunk) {
  return acp::print_update(std::move(chunk), acp::Dialect::v1);
}

}  // namespace

void make_plain(acp::ToolUpserted& tool) {
  if (tool.kind && !is_one_of(tool_kinds, *tool.kind)) tool.kind = "other";
  if (tool.status && !is_one_of(tool_statuses, *tool.status)) tool.status = "failed";
  tool.tool_name.reset();
  if (!tool.content) return;
  tool.content->terminals.clear();
  // v2 shows a change as a patch, which v1 cannot express.
  std::erase_if(tool.content->diffs, [&](const acp::FileDiff& diff) {
    if (diff.patch.empty()) return false;
    acp::append_paragraph(tool.content->text, diff.patch);
    return true;
  });
}

void RecordTeller::tell(JsonView record, std::string_view update,
                        std::vector<std::string>& updates) {
  const std::string kind = record["kind"].text();
  if (kind == "message.agent" || kind == "message.thought") {
    return tell_message(record, update, updates);
  }
  if (kind == "message.user") return tell_user(record, updates);
  if (kind == "tool.call" || kind == "tool.update") return tell_tool(record, update, updates);
  if (kind == "plan") return tell_plan(record, update, updates);
  if (kind == "mode") return tell_option(record, update, updates);
  if (kind == "context.boundary") return tell_boundary(record, updates);
  if (kind == "agent.update") return tell_other(update, updates);
  if (kind == "usage") {
    const acp::UsageShown usage{.used = record["used"].signed_number(),
                                .size = record["size"].signed_number()};
    const bool is_whole = dialect_ == acp::Dialect::v1 && kind_of(update) == "usage_update";
    updates.push_back(is_whole ? std::string(update) : acp::print_update(usage, acp::Dialect::v1));
  } else if (kind == "commands") {
    const acp::SessionUpdate parsed = acp::parse_update(update);
    if (!std::holds_alternative<acp::CommandsOffered>(parsed.body)) return;
    commands_ = dialect_ == acp::Dialect::v1 ? std::string(update)
                                             : acp::print_update(parsed.body, acp::Dialect::v1);
    updates.push_back(commands_);
  } else if (kind == "agent.started") {
    const bool is_v2 = record["initialize"]["protocolVersion"].number() >= 2;
    dialect_ = is_v2 ? acp::Dialect::v2 : acp::Dialect::v1;
  } else if (kind == "session.renamed") {
    updates.push_back(
        acp::print_update(acp::TitleShown{.title = record["title"].text()}, acp::Dialect::v1));
  } else if (kind == "repair.closed_tool") {
    acp::ToolUpserted closed{.tool_call_id = record["tool_call_id"].text(), .status = "failed"};
    updates.push_back(acp::print_update(closed, acp::Dialect::v1));
  }
}

void RecordTeller::tell_message(JsonView record, std::string_view update,
                                std::vector<std::string>& updates) {
  const bool is_thought = record["kind"].text() == "message.thought";
  const std::string kind = kind_of(update);
  const bool is_chunk = kind == (is_thought ? "agent_thought_chunk" : "agent_message_chunk");
  if (is_chunk && is_block(Slices(update).raw("content"))) {
    updates.emplace_back(update);
    return;
  }
  updates.push_back(
      print_chunk({.speaker = is_thought ? acp::Speaker::thought : acp::Speaker::agent,
                   .message_id = record["agent_message_id"].text(),
                   .text = record["text"].text()}));
}

void RecordTeller::tell_user(JsonView record, std::vector<std::string>& updates) {
  has_history_ = true;
  const std::string id = record["message_id"].text();
  const std::vector<JsonView> blocks = record["blocks"].items();
  for (const JsonView block : blocks) {
    if (!is_block(block.raw())) continue;
    JsonWriter out;
    out.begin_object().key("sessionUpdate").string("user_message_chunk");
    out.key("messageId").string(id).key("content").raw(block.raw()).end_object();
    updates.push_back(std::move(out).take());
  }
  if (blocks.empty()) {
    updates.push_back(print_chunk(
        {.speaker = acp::Speaker::user, .message_id = id, .text = record["content"].text()}));
  }
}

void RecordTeller::tell_tool(JsonView record, std::string_view update,
                             std::vector<std::string>& updates) {
  const std::string said = kind_of(update);
  const bool is_first = record["kind"].text() == "tool.call";
  // An editor must receive a tool's `tool_call` before any other update of it.
  const bool fits = is_first ? said == "tool_call" : said == "tool_call_update";
  if (dialect_ == acp::Dialect::v1 && fits && is_plain_tool(update)) {
    updates.emplace_back(update);
    return;
  }
  acp::ToolUpserted tool;
  acp::SessionUpdate parsed = acp::parse_update(update.empty() ? "{}" : update);
  if (auto* const known = std::get_if<acp::ToolUpserted>(&parsed.body)) tool = std::move(*known);
  const auto fill = [&](std::optional<std::string>& field, std::string_view key) {
    std::string text = record[key].text();
    if (!text.empty()) field = std::move(text);
  };
  tool.tool_call_id = record["tool_call_id"].text();
  fill(tool.title, "title");
  fill(tool.kind, "tool_kind");
  fill(tool.status, "status");
  const bool shows_little =
      !tool.content || (tool.content->text.empty() && tool.content->diffs.empty());
  if (std::string text = record["text"].text(); !text.empty() && shows_little) {
    tool.content = acp::ToolContent{.text = std::move(text)};
  }
  if (std::string added = record["added"].text(); !added.empty()) tool.output_added = added;
  tool.announced = is_first || said == "tool_call";
  if (tool.announced && tool.title.value_or("").empty()) tool.title = "tool";
  make_plain(tool);
  updates.push_back(acp::print_update(tool, acp::Dialect::v1));
}

void RecordTeller::tell_plan(JsonView record, std::string_view update,
                             std::vector<std::string>& updates) {
  acp::PlanShown plan;
  acp::SessionUpdate parsed = acp::parse_update(update.empty() ? "{}" : update);
  if (auto* const known = std::get_if<acp::PlanShown>(&parsed.body)) plan.entries = known->entries;
  const auto is_plain = [](const acp::PlanEntry& entry) {
    return is_one_of(priorities, entry.priority) && is_one_of(plan_statuses, entry.status);
  };
  if (kind_of(update) == "plan" && std::ranges::all_of(plan.entries, is_plain)) {
    updates.emplace_back(update);
    return;
  }
  if (plan.entries.empty() && !record["text"].text().empty()) {
    plan.entries.push_back({record["text"].text(), "medium", "pending"});
  }
  for (acp::PlanEntry& entry : plan.entries) {
    if (!is_one_of(priorities, entry.priority)) entry.priority = "medium";
    if (!is_one_of(plan_statuses, entry.status)) entry.status = "completed";
  }
  updates.push_back(acp::print_update(plan, acp::Dialect::v1));
}

void RecordTeller::tell_option(JsonView record, std::string_view update,
                               std::vector<std::string>& updates) {
  if (auto told = acp::parse_options_update(update.empty() ? "{}" : update); !told.empty()) {
    options_ = std::move(told);
  }
  const acp::OptionValue now{record["option"].text(), record["value"].text()};
  options_ = options_with(now);
  if (!options_.empty()) {
    updates.push_back(acp::print_update(acp::OptionsShown{options_}, acp::Dialect::v1));
  }
  // Editors without support for options show the mode.
  if (now.option == "mode") {
    updates.push_back(acp::print_update(acp::ModeShown{now.value}, acp::Dialect::v1));
  }
}

void RecordTeller::tell_other(std::string_view update, std::vector<std::string>& updates) {
  if (dialect_ != acp::Dialect::v1 || !is_one_of(other_updates, kind_of(update))) return;
  const acp::SessionUpdate parsed = acp::parse_update(update);
  if (!std::holds_alternative<acp::UnknownUpdate>(parsed.body)) updates.emplace_back(update);
}

// A loss is stated in words, which every editor shows. A complete restore appears only in `_meta`,
// because a sentence after each restart would train people to ignore it.
void RecordTeller::tell_boundary(JsonView record, std::vector<std::string>& updates) {
  if (!has_history_) return;
  const std::string meta = boundary_meta(record);
  if (const std::string text = boundary_text(record); !text.empty()) {
    updates.push_back(print_remark({record["seq"].number(), text, meta}));
    return;
  }
  JsonWriter out;
  out.begin_object().key("sessionUpdate").string("session_info_update");
  out.key("_meta").begin_object().key("perdure").raw(meta).end_object().end_object();
  updates.push_back(std::move(out).take());
}

std::string RecordTeller::option_name(std::string_view config_id) const {
  const std::vector<acp::OptionValue> values = acp::option_values(options_);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (options_[i].id == config_id || values[i].option == config_id) return values[i].option;
  }
  return {};
}

bool RecordTeller::may_be(const acp::OptionValue& wanted) const {
  const std::vector<acp::OptionValue> values = acp::option_values(options_);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].option != wanted.option || options_[i].choices.empty()) continue;
    return std::ranges::find(options_[i].choices, wanted.value, &acp::OptionChoice::value) !=
           options_[i].choices.end();
  }
  return true;
}

std::vector<acp::ConfigOption> RecordTeller::options_with(const acp::OptionValue& set) const {
  std::vector<acp::ConfigOption> options = options_;
  const std::vector<acp::OptionValue> values = acp::option_values(options_);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].option == set.option) options[i].value = set.value;
  }
  return options;
}

std::string print_remark(const Remark& remark) {
  JsonWriter out;
  out.begin_object().key("sessionUpdate").string("agent_message_chunk");
  out.key("messageId").string("perdure-" + std::to_string(remark.seq));
  out.key("content").raw(acp::print_text_block("[Perdure] " + std::string(remark.text) + "\n\n"));
  out.key("_meta").begin_object().key("perdure").raw(remark.meta.empty() ? "{}" : remark.meta);
  return std::move(out.end_object().end_object()).take();
}

}  // namespace perdure::face
