// Prints session/update in both dialects, for our own agents. An empty member is omitted unless the
// protocol requires it.
#include "base/bytes/base64.h"
#include "core/acp/updates/content.h"
#include "core/acp/updates/updates.h"
#include "core/acp/updates/updates_print_parts.h"

namespace perdure::acp {
namespace {

std::string_view speaker_name(Speaker speaker) {
  switch (speaker) {
    case Speaker::user: return "user_message";
    case Speaker::agent: return "agent_message";
    case Speaker::thought: return "agent_thought";
  }
  return "";
}

// Writes the members of one update into an open object.
class UpdatePrinter {
 public:
  UpdatePrinter(JsonWriter& writer, Dialect dialect) : writer_(writer), dialect_(dialect) {}

  void operator()(const UnknownUpdate&) { kind("_unknown"); }
  void operator()(const MessageChunk& chunk) {
    kind(std::string(speaker_name(chunk.speaker)) + "_chunk");
    if (dialect_ == Dialect::v2 || !chunk.message_id.empty()) text("messageId", chunk.message_id);
    writer_.key("content").raw(print_text_block(chunk.text));
  }
  void operator()(const MessageWhole& message) {
    kind(speaker_name(message.speaker));
    text("messageId", message.message_id);
    if (message.text) writer_.key("content").raw(print_text_blocks(*message.text));
  }
  void operator()(const ToolUpserted& tool) {
    const bool announces = tool.announced && dialect_ == Dialect::v1;
    kind(announces ? "tool_call" : "tool_call_update");
    if (announces && !tool.title) {  // a new tool must have one
      ToolUpserted titled = tool;
      titled.title.emplace();
      return write_tool(writer_, titled, dialect_);
    }
    write_tool(writer_, tool, dialect_);
  }
  void operator()(const ToolContentAdded& added) {
    const std::vector<std::string> items = print_tool_items(added.content, dialect_);
    kind("tool_call_content_chunk");
    text("toolCallId", added.tool_call_id);
    writer_.key("content").raw(items.empty() ? R"({"type":"_none"})" : items.front());
  }
  void operator()(const PlanShown& plan) {
    const bool is_plain = plan.plan_id.empty() && plan.text.empty() && plan.uri.empty();
    if (dialect_ == Dialect::v1 && is_plain) {
      kind("plan");
      return entries(plan);
    }
    kind("plan_update");
    writer_.key("plan").begin_object();
    const bool is_file = !plan.uri.empty();
    text("type", !plan.text.empty() ? "markdown" : is_file ? "file" : "items");
    text("planId", plan.plan_id);
    if (!plan.text.empty()) {
      text("content", plan.text);
    } else if (is_file) {
      text("uri", plan.uri);
    } else {
      entries(plan);
    }
    writer_.end_object();
  }
  void operator()(const PlanRemoved& plan) {
    kind("plan_removed");
    text("planId", plan.plan_id);
  }
  void operator()(const CommandsOffered& offered) {
    kind("available_commands_update");
    writer_.key("availableCommands").begin_array();
    for (const CommandOffered& command : offered.commands) write_command(command);
    writer_.end_array();
  }
  void operator()(const OptionsShown& shown) {
    kind("config_option_update");
    writer_.key("configOptions").raw(print_options(shown.options, dialect_));
  }
  void operator()(const ModeShown& shown) {
    kind("current_mode_update");
    text("currentModeId", shown.mode);
  }
  void operator()(const TitleShown& shown) {
    kind("session_info_update");
    text_if("title", shown.title);
    text_if("updatedAt", shown.updated_at);
  }
  void operator()(const UsageShown& usage) {
    kind("usage_update");
    writer_.key("used").number(usage.used).key("size").number(usage.size);
    if (usage.cost.empty()) return;
    writer_.key("cost").begin_object().key("amount").raw(usage.cost);
    text("currency", usage.currency);
    writer_.end_object();
  }
  void operator()(const NoticeShown& notice) {
    kind("notice");
    text("severity", notice.severity);
    text("title", notice.title);
    text_unless_empty("description", notice.description);
  }
  void operator()(const CompactionShown& compaction) {
    kind("compaction_update");
    text("compactionId", compaction.compaction_id);
    text("status", compaction.status);
    if (!compaction.text.empty()) {
      writer_.key("summary").raw(print_text_blocks(compaction.text));
    }
    text_unless_empty("error", compaction.error);
  }
  void operator()(const CompactionChunk& chunk) {
    kind("compaction_summary_chunk");
    text("compactionId", chunk.compaction_id);
    writer_.key("content").raw(print_text_block(chunk.text));
  }
  void operator()(const StateShown& shown) {
    kind("state_update");
    text("state", shown.state);
    text_unless_empty("stopReason", shown.stop_reason);
    if (shown.error) writer_.key("error").raw(print_rpc_error(*shown.error));
    if (!shown.usage.text.empty()) writer_.key("usage").raw(shown.usage.text);
  }
  void operator()(const TerminalShown& terminal) {
    kind("terminal_update");
    text("terminalId", terminal.terminal_id);
    text_if("command", terminal.command);
    text_if("cwd", terminal.cwd);
    if (terminal.output) {
      writer_.key("output").begin_object();
      text("data", base64_encode(*terminal.output));
      writer_.end_object();
    }
    if (!terminal.ended) return;
    writer_.key("exitStatus").begin_object();
    if (terminal.exit_code) writer_.key("exitCode").number(*terminal.exit_code);
    text_if("signal", terminal.signal);
    writer_.end_object();
  }
  void operator()(const TerminalOutput& output) {
    kind("terminal_output_chunk");
    text("terminalId", output.terminal_id);
    text("data", base64_encode(output.bytes));
  }
  void operator()(const SubagentShown& shown) {
    kind("subagent_update");
    text("sessionId", shown.session_id);
    text_if("title", shown.title);
    text_if("description", shown.description);
    if (!shown.state) return;
    writer_.key("state").begin_object();
    text("state", *shown.state);
    writer_.end_object();
  }
  void operator()(const SessionMessage& message) {
    kind("session_message");
    text("messageId", message.message_id);
    text_unless_empty("senderSessionId", message.sender_session_id);
    text_unless_empty("recipientSessionId", message.recipient_session_id);
    if (message.text) writer_.key("content").raw(print_text_blocks(*message.text));
  }
  void operator()(const SessionMessageChunk& chunk) {
    kind("session_message_chunk");
    text("messageId", chunk.message_id);
    writer_.key("content").raw(print_text_block(chunk.text));
  }

 private:
  void text(std::string_view key, std::string_view value) { writer_.key(key).string(value); }
  void text_if(std::string_view key, const std::optional<std::string>& value) {
    if (value) text(key, *value);
  }
  void text_unless_empty(std::string_view key, std::string_view value) {
    if (!value.empty()) text(key, value);
  }
  void kind(std::string_view name) { text("sessionUpdate", name); }

  void entries(const PlanShown& plan) {
    writer_.key("entries").begin_array();
    for (const PlanEntry& entry : plan.entries) {
      writer_.begin_object();
      text("content", entry.content);
      text("priority", entry.priority);
      text("status", entry.status);
      writer_.end_object();
    }
    writer_.end_array();
  }
  void write_command(const CommandOffered& command) {
    writer_.begin_object();
    if (dialect_ == Dialect::v2) text("type", "command");
    text("name", command.name);
    text("description", command.description);
    if (!command.hint.empty()) {
      writer_.key("input").begin_object();
      if (dialect_ == Dialect::v2) text("type", "text");
      text("hint", command.hint);
      writer_.end_object();
    }
    writer_.end_object();
  }

  JsonWriter& writer_;
  Dialect dialect_;
};

}  // namespace

std::string print_update(const UpdateBody& body, Dialect dialect) {
  JsonWriter writer;
  writer.begin_object();
  std::visit(UpdatePrinter(writer, dialect), body);
  return std::move(writer.end_object()).take();
}

}  // namespace perdure::acp
