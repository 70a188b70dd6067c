// Reads session/update. One table maps the agent's word for a variant to its reader; a reader takes
// the members that it finds and leaves the rest empty.
#include "core/acp/updates/updates.h"

#include <array>

#include "base/bytes/base64.h"
#include "core/acp/updates/content.h"
#include "core/acp/updates/slices.h"

namespace perdure::acp {
namespace {

UpdateBody read_chunk(const Slices& update, Speaker speaker) {
  BlockShown block = read_block(update.raw("content"));
  return MessageChunk{.speaker = speaker,
                      .message_id = update.text("messageId"),
                      .block = std::move(block.kind),
                      .text = std::move(block.text)};
}
UpdateBody read_user_chunk(const Slices& update) { return read_chunk(update, Speaker::user); }
UpdateBody read_agent_chunk(const Slices& update) { return read_chunk(update, Speaker::agent); }
UpdateBody read_thought_chunk(const Slices& update) { return read_chunk(update, Speaker::thought); }

std::optional<std::string> content_if(const Slices& update) {
  if (!update.has("content")) return std::nullopt;
  return blocks_text(update.raw("content"));
}

UpdateBody read_whole(const Slices& update, Speaker speaker) {
  return MessageWhole{
      .speaker = speaker, .message_id = update.text("messageId"), .text = content_if(update)};
}
UpdateBody read_user(const Slices& update) { return read_whole(update, Speaker::user); }
UpdateBody read_agent(const Slices& update) { return read_whole(update, Speaker::agent); }
UpdateBody read_thought(const Slices& update) { return read_whole(update, Speaker::thought); }

std::vector<PlanEntry> read_entries(const Slices& plan) {
  std::vector<PlanEntry> entries;
  for (const std::string_view raw : plan.elements("entries")) {
    const Slices entry(raw);
    entries.push_back({entry.text("content"), entry.text("priority"), entry.text("status")});
  }
  return entries;
}

UpdateBody read_plan(const Slices& update) { return PlanShown{.entries = read_entries(update)}; }

UpdateBody read_plan_update(const Slices& update) {
  const Slices plan(update.raw("plan"));
  return PlanShown{.plan_id = plan.text("planId"),
                   .entries = read_entries(plan),
                   .text = plan.text("content"),
                   .uri = plan.text("uri")};
}

UpdateBody read_plan_removed(const Slices& update) { return PlanRemoved{update.text("planId")}; }

UpdateBody read_commands(const Slices& update) {
  CommandsOffered offered;
  for (const std::string_view raw : update.elements("availableCommands")) {
    const Slices command(raw);
    offered.commands.push_back({command.text("name"), command.text("description"),
                                Slices(command.raw("input")).text("hint")});
  }
  return offered;
}

UpdateBody read_options(const Slices& update) {
  return OptionsShown{parse_options(update.raw("configOptions"))};
}

UpdateBody read_mode(const Slices& update) {
  // The protocol's page on modes uses modeId; its schema does not.
  return ModeShown{update.text(update.has("currentModeId") ? "currentModeId" : "modeId")};
}

UpdateBody read_title(const Slices& update) {
  return TitleShown{update.text_if("title"), update.text_if("updatedAt")};
}

UpdateBody read_usage(const Slices& update) {
  const Slices cost(update.raw("cost"));
  return UsageShown{.used = update.number_if("used").value_or(0),
                    .size = update.number_if("size").value_or(0),
                    .cost = std::string(cost.raw("amount")),
                    .currency = cost.text("currency")};
}

UpdateBody read_notice(const Slices& update) {
  return NoticeShown{update.text("severity"), update.text("title"), update.text("description")};
}

UpdateBody read_compaction(const Slices& update) {
  return CompactionShown{.compaction_id = update.text("compactionId"),
                         .status = update.text("status"),
                         .text = blocks_text(update.raw("summary")),
                         .error = update.text("error")};
}

UpdateBody read_compaction_chunk(const Slices& update) {
  return CompactionChunk{update.text("compactionId"), read_block(update.raw("content")).text};
}

UpdateBody read_state(const Slices& update) {
  StateShown shown{.state = update.text("state"),
                   .stop_reason = update.text("stopReason"),
                   .usage = update.json("usage")};
  if (update.has("error")) shown.error = parse_rpc_error(update.raw("error"));
  return shown;
}

// Some agents omit the padding.
std::optional<std::string> read_bytes(std::string base64) {
  while (base64.size() % 4 != 0) base64 += '=';
  Result<std::string> bytes = base64_decode(base64);
  return bytes ? std::optional(std::move(*bytes)) : std::nullopt;
}

UpdateBody read_terminal(const Slices& update) {
  const Slices status(update.raw("exitStatus"));
  TerminalShown shown{.terminal_id = update.text("terminalId"),
                      .command = update.text_if("command"),
                      .cwd = update.text_if("cwd"),
                      .exit_code = status.number_if("exitCode"),
                      .signal = status.text_if("signal"),
                      .ended = update.has("exitStatus")};
  if (update.has("output")) shown.output = read_bytes(Slices(update.raw("output")).text("data"));
  return shown;
}

UpdateBody read_terminal_chunk(const Slices& update) {
  return TerminalOutput{update.text("terminalId"),
                        read_bytes(update.text("data")).value_or(std::string())};
}

UpdateBody read_subagent(const Slices& update) {
  return SubagentShown{.session_id = update.text("sessionId"),
                       .title = update.text_if("title"),
                       .description = update.text_if("description"),
                       .state = Slices(update.raw("state")).text_if("state")};
}

UpdateBody read_session_message(const Slices& update) {
  return SessionMessage{.message_id = update.text("messageId"),
                        .sender_session_id = update.text("senderSessionId"),
                        .recipient_session_id = update.text("recipientSessionId"),
                        .text = content_if(update)};
}

UpdateBody read_session_message_chunk(const Slices& update) {
  return SessionMessageChunk{update.text("messageId"), read_block(update.raw("content")).text};
}

struct Variant {
  std::string_view kind;
  UpdateBody (*read)(const Slices&);
};

// The most frequent first. parse_update() handles the two tool variants, which need the raw text.
constexpr auto variants = std::to_array<Variant>({
    {"agent_message_chunk", read_agent_chunk},
    {"agent_thought_chunk", read_thought_chunk},
    {"terminal_output_chunk", read_terminal_chunk},
    {"usage_update", read_usage},
    {"user_message_chunk", read_user_chunk},
    {"state_update", read_state},
    {"terminal_update", read_terminal},
    {"agent_message", read_agent},
    {"agent_thought", read_thought},
    {"user_message", read_user},
    {"plan", read_plan},
    {"plan_update", read_plan_update},
    {"plan_removed", read_plan_removed},
    {"available_commands_update", read_commands},
    {"config_option_update", read_options},
    {"current_mode_update", read_mode},
    {"session_info_update", read_title},
    {"notice", read_notice},
    {"compaction_update", read_compaction},
    {"compaction_summary_chunk", read_compaction_chunk},
    {"subagent_update", read_subagent},
    {"session_message", read_session_message},
    {"session_message_chunk", read_session_message_chunk},
});

UpdateBody read_body(std::string_view kind, std::string_view raw, const Slices& update) {
  if (kind == "tool_call" || kind == "tool_call_update") {
    ToolUpserted tool = parse_tool(raw);
    tool.announced = kind == "tool_call";
    return tool;
  }
  if (kind == "tool_call_content_chunk") {
    return ToolContentAdded{update.text("toolCallId"), parse_tool_content(update.raw("content"))};
  }
  for (const Variant& variant : variants) {
    if (variant.kind == kind) return variant.read(update);
  }
  return UnknownUpdate{};
}

}  // namespace

SessionUpdate parse_update(std::string_view raw) {
  const Slices update(raw);
  SessionUpdate parsed;
  parsed.kind = update.text("sessionUpdate");
  parsed.body = read_body(parsed.kind, raw, update);
  parsed.raw.text = raw;
  return parsed;
}

}  // namespace perdure::acp
