// Maps fields of each update variant to journal events; see normalise.h for the rules.
#include "agentctl/supervisor/agent/normalise.h"

#include <utility>
#include <variant>

#include "base/bytes/crc32c.h"
#include "base/limits.h"
#include "base/text.h"

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

std::string files_text(const acp::ToolContent& content) {
  std::string text;
  for (const acp::FileDiff& diff : content.diffs) {
    text += (diff.old_text || !diff.patch.empty() ? "changed " : "new file ") + diff.path + '\n';
  }
  return text;
}

std::string tool_text(const acp::ToolUpserted& tool) {
  if (tool.content && !tool.content->text.empty()) return tool.content->text;
  if (tool.output) return *tool.output;
  return tool.content ? files_text(*tool.content) : std::string();
}

// The length without an incomplete character at the end.
std::size_t whole_bytes(std::string_view bytes) {
  for (std::size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;  // inside a character
    const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.size() - back : bytes.size();
  }
  return bytes.size();
}

constexpr std::size_t work_told_max = 8;
constexpr std::size_t work_name_chars_max = 80;

std::string subagent_key(const std::string& session) { return "subagent " + session; }

bool has_ended(const std::string& status) {
  return status == "completed" || status == "failed" || status == "cancelled";
}

// Separate output is for clients that show a terminal; if the whole text is reported, it already
// contains that output.
template <class Body>
FrameBody tool_frame(const acp::ToolUpserted& tool, RawJson update) {
  Body body{.tool_call_id = tool.tool_call_id,
            .title = std::string(utf8_prefix(tool.title.value_or(""), title_bytes_max)),
            .tool_kind = tool.kind.value_or(""),
            .status = tool.status.value_or(""),
            .input = tool.input,
            .text = tool_text(tool),
            .update = std::move(update)};
  if (!body.text.empty()) return body;
  if constexpr (requires { body.added; }) {
    body.added = tool.output_added;
  } else {
    body.text = tool.output_added;
  }
  return body;
}

}  // namespace

void Normaliser::note_tool(const acp::ToolUpserted& tool) {
  const bool is_new = !known_tools_.contains(tool.tool_call_id);
  known_tools_.set(tool.tool_call_id);
  if (has_ended(tool.status.value_or(""))) {
    open_tools_.erase(tool.tool_call_id);
    working_.erase(tool.tool_call_id);
  } else if (is_new) {
    open_tools_.set(tool.tool_call_id, tool.title.value_or(""));
  }
  if (!tool.content) return;
  for (const std::string& terminal : tool.content->terminals) {
    terminals_.set(terminal, tool.tool_call_id);
  }
}

// A state says whether it works or rests; without one, the last state holds.
void Normaliser::note_subagent(const acp::SubagentShown& shown) {
  if (shown.session_id.empty()) return;
  const std::string key = subagent_key(shown.session_id);
  if (shown.state && *shown.state != "running" && *shown.state != "requires_action") {
    working_.erase(key);
    return;
  }
  const std::string* const known = working_.find(key);
  if (!shown.state && !known) return;
  const std::string before = known ? *known : "subagent " + shown.session_id;
  working_.set(key, shown.title ? "subagent " + *shown.title : before);
}

std::string Normaliser::work_left() const {
  std::string line;
  std::size_t told = 0;
  for (const auto& [key, name] : working_) {
    if (told++ == work_told_max) break;
    line += line.empty() ? "" : "; ";
    for (const char letter : utf8_prefix_chars(name.empty() ? key : name, work_name_chars_max)) {
      line += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
    }
  }
  if (working_.size() > work_told_max) {
    line += "; and " + std::to_string(working_.size() - work_told_max) + " more";
  }
  return line;
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

void Normaliser::tool_output(ToolUpdate update, std::vector<FrameBody>& frames) {
  if (update.tool_call_id.empty()) {
    frames.emplace_back(AgentUpdate{std::move(update.update)});
    return;
  }
  if (known_tools_.contains(update.tool_call_id)) {
    frames.emplace_back(std::move(update));
    return;
  }
  note_tool({.tool_call_id = update.tool_call_id});
  frames.emplace_back(ToolCall{.tool_call_id = std::move(update.tool_call_id),
                               .text = update.text + update.added,
                               .update = std::move(update.update)});
}

// Agents that do not show a terminal as tool content name it by its tool call.
std::string Normaliser::tool_of(const std::string& terminal) const {
  if (const std::string* const tool = terminals_.find(terminal)) return *tool;
  return known_tools_.contains(terminal) ? terminal : std::string();
}

// Bytes may be cut inside a character: its rest comes with the next piece.
std::string Normaliser::terminal_text(const acp::TerminalOutput& output) {
  std::string bytes;
  if (cut_terminal_ == output.terminal_id) bytes = std::move(cut_bytes_);
  bytes += output.bytes;
  const std::size_t whole = whole_bytes(bytes);
  cut_terminal_ = output.terminal_id;
  cut_bytes_ = bytes.substr(whole);
  return utf8_scrub(std::string_view(bytes).substr(0, whole));
}

void Normaliser::options(const std::vector<acp::OptionValue>& options, const RawJson& update,
                         std::vector<FrameBody>& frames) {
  bool first = true;
  bool left_out = false;
  for (const acp::OptionValue& one : options) {
    if (!option_fits(one.option, one.value)) {
      left_out = true;
      continue;
    }
    const std::string* const told = told_options_.find(one.option);
    if ((told ? *told : std::string()) == one.value) continue;
    if (!told_options_.set(one.option, one.value)) {
      told_options_.clear();
      told_options_.set(one.option, one.value);
    }
    frames.emplace_back(Mode{one.option, one.value, first ? update : RawJson{}});
    first = false;
  }
  if (left_out && first && !update.text.empty()) frames.emplace_back(AgentUpdate{update});
}

void Normaliser::ShownText::add(std::string_view text) {
  bytes += text.size();
  checksum = crc32c(text, checksum);
}

bool Normaliser::ShownText::goes_on_as(std::string_view text) const {
  return text.size() > bytes && crc32c(text.substr(0, bytes)) == checksum;
}

Normaliser::ShownText& Normaliser::shown_of(const std::string& message_id) {
  if (const auto found = shown_.find(message_id); found != shown_.end()) return found->second;
  shown_bytes_ += message_id.size();
  if (shown_.size() >= messages_known_max || shown_bytes_ > agent_ids_bytes_max) {
    shown_.clear();
    shown_bytes_ = message_id.size();
  }
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
          [&](acp::ToolContentAdded& one) {
            tool_output({.tool_call_id = std::move(one.tool_call_id),
                         .added = one.content.text + files_text(one.content),
                         .update = std::move(raw)},
                        frames);
          },
          [&](acp::TerminalShown& one) {
            const std::string id = one.output ? tool_of(one.terminal_id) : std::string();
            tool_output({.tool_call_id = id,
                         .text = utf8_scrub(one.output.value_or(std::string())),
                         .update = std::move(raw)},
                        frames);
          },
          [&](acp::TerminalOutput& one) {
            const std::string id = tool_of(one.terminal_id);
            tool_output({.tool_call_id = id,
                         .added = id.empty() ? std::string() : terminal_text(one),
                         .update = std::move(raw)},
                        frames);
          },
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
          [&](acp::SubagentShown& shown) {
            note_subagent(shown);
            frames.emplace_back(AgentUpdate{std::move(raw)});
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
  for (const auto& [id, title] : open_tools_) working_.set(id, "tool " + title);
  open_tools_.clear();
  // An update of an earlier turn's tool must still be recognised, as long as there is room.
  if (known_tools_.has_refused()) known_tools_.clear();
  shown_.clear();
  shown_bytes_ = 0;
}

}  // namespace perdure
