// Which field of which variant means what; see normalise.h for the rules.
#include "supervisor/normalise.h"

#include <utility>
#include <variant>

#include "base/crc32c.h"
#include "base/limits.h"

namespace perdure {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

std::string plan_text(const acp::PlanShown& plan) {
  if (!plan.text.empty()) return plan.text;
  std::string text;
  for (const acp::PlanEntry& entry : plan.entries) {
    const bool done = entry.status == "completed";
    const bool doing = entry.status == "in_progress";
    text += done ? "[x] " : doing ? "[>] " : "[ ] ";
    text += entry.content;
    text += '\n';
  }
  return text;
}

std::string tool_text(const acp::ToolUpserted& tool) {
  if (tool.content && !tool.content->text.empty()) return tool.content->text;
  if (tool.output) return *tool.output;
  if (!tool.content) return {};
  std::string text;
  for (const acp::FileDiff& diff : tool.content->diffs) {
    text += (diff.old_text || !diff.patch.empty() ? "changed " : "new file ") + diff.path + '\n';
  }
  return text;
}

bool has_ended(const std::string& status) {
  return status == "completed" || status == "failed" || status == "cancelled";
}

template <class Body>
FrameBody tool_frame(const acp::ToolUpserted& tool, RawJson update) {
  return Body{.tool_call_id = tool.tool_call_id,
              .title = tool.title.value_or(""),
              .tool_kind = tool.kind.value_or(""),
              .status = tool.status.value_or(""),
              .input = tool.input,
              .text = tool_text(tool),
              .update = std::move(update)};
}

}  // namespace

void Normaliser::note_tool(const acp::ToolUpserted& tool) {
  const bool is_new = !known_tools_.contains(tool.tool_call_id);
  if (known_tools_.size() < tools_open_max) known_tools_.insert(tool.tool_call_id);
  if (has_ended(tool.status.value_or(""))) {
    open_tools_.erase(tool.tool_call_id);
  } else if (is_new && open_tools_.size() < tools_open_max) {
    open_tools_.insert(tool.tool_call_id);
  }
}

void Normaliser::tool(const acp::ToolUpserted& tool, const RawJson& update,
                      std::vector<FrameBody>& frames) {
  if (tool.tool_call_id.empty()) {
    frames.emplace_back(AgentUpdate{update});
    return;
  }
  const bool is_new = !known_tools_.contains(tool.tool_call_id);
  note_tool(tool);
  frames.push_back(is_new ? tool_frame<ToolCall>(tool, update)
                          : tool_frame<ToolUpdate>(tool, update));
}

void Normaliser::options(const std::vector<acp::OptionValue>& options, const RawJson& update,
                         std::vector<FrameBody>& frames) {
  bool first = true;
  for (const acp::OptionValue& one : options) {
    if (told_options_.size() >= options_known_max) told_options_.clear();
    std::string& told = told_options_[one.option];
    if (told == one.value) continue;
    told = one.value;
    frames.emplace_back(Mode{one.option, one.value, first ? update : RawJson{}});
    first = false;
  }
}

void Normaliser::ShownText::add(std::string_view text) {
  bytes += text.size();
  checksum = crc32c(text, checksum);
}

bool Normaliser::ShownText::goes_on_as(std::string_view text) const {
  return text.size() > bytes && crc32c(text.substr(0, bytes)) == checksum;
}

Normaliser::ShownText& Normaliser::shown_of(const std::string& message_id) {
  if (shown_.size() >= messages_known_max && !shown_.contains(message_id)) shown_.clear();
  return shown_[message_id];
}

void Normaliser::whole_message(const acp::MessageWhole& message, RawJson raw,
                               std::vector<FrameBody>& frames) {
  ShownText& shown = shown_of(message.message_id);
  if (message.speaker == acp::Speaker::user || !message.text || !shown.goes_on_as(*message.text)) {
    frames.emplace_back(AgentUpdate{std::move(raw)});
    return;
  }
  std::string rest = message.text->substr(shown.bytes);
  shown.add(rest);
  if (message.speaker == acp::Speaker::thought) {
    frames.emplace_back(MessageThought{message.message_id, std::move(rest), std::move(raw)});
  } else {
    frames.emplace_back(MessageAgent{message.message_id, std::move(rest), std::move(raw)});
  }
}

void Normaliser::update(acp::SessionUpdate update, std::vector<FrameBody>& frames) {
  RawJson& raw = update.raw;
  std::visit(
      Overloaded{
          [&](acp::MessageChunk& chunk) {
            if (whole_messages_ && !chunk.message_id.empty()) {
              shown_of(chunk.message_id).add(chunk.text);
            }
            if (chunk.speaker == acp::Speaker::agent) {
              frames.emplace_back(
                  MessageAgent{std::move(chunk.message_id), std::move(chunk.text), std::move(raw)});
            } else if (chunk.speaker == acp::Speaker::thought) {
              frames.emplace_back(MessageThought{std::move(chunk.message_id), std::move(chunk.text),
                                                 std::move(raw)});
            } else {
              frames.emplace_back(AgentUpdate{std::move(raw)});  // our own prompt, echoed
            }
          },
          [&](acp::MessageWhole& message) { whole_message(message, std::move(raw), frames); },
          [&](acp::ToolUpserted& one) { tool(one, raw, frames); },
          [&](acp::PlanShown& plan) { frames.emplace_back(Plan{plan_text(plan), std::move(raw)}); },
          [&](acp::PlanRemoved&) { frames.emplace_back(Plan{"", std::move(raw)}); },
          [&](acp::CommandsOffered&) { frames.emplace_back(Commands{std::move(raw)}); },
          [&](acp::OptionsShown& shown) {
            options(acp::option_values(shown.options), raw, frames);
          },
          [&](acp::ModeShown& shown) { options({{"mode", shown.mode}}, raw, frames); },
          [&](acp::UsageShown& usage) {
            frames.emplace_back(Usage{usage.used, usage.size, std::move(raw)});
          },
          [&](acp::CompactionShown& compaction) {
            frames.emplace_back(AgentUpdate{std::move(raw)});
            if (compaction.status == "completed") {
              frames.emplace_back(FrameContextChanged{BoundaryHow::compacted});
            }
          },
          [&](auto&) { frames.emplace_back(AgentUpdate{std::move(raw)}); },
      },
      update.body);
}

void Normaliser::end_turn() {
  open_tools_.clear();
  // An update of an earlier turn's tool is still an update, as long as there is room to know it.
  if (known_tools_.size() >= tools_open_max) known_tools_.clear();
  shown_.clear();
}

}  // namespace perdure
