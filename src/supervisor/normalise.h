// An agent's updates in the words of the journal. What projections need is read out into fields;
// the agent's own update goes along whole, known or not (X25). Tools are upserts: the first mention
// of an id is the call, whatever the agent named it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "acp/client.h"
#include "acp/updates.h"
#include "base/limits.h"
#include "supervisor/bounded.h"
#include "wire/frame.h"

namespace perdure {

class Normaliser {
 public:
  // Appends the frames that an update becomes: mostly one, none for a setting that did not change.
  void update(acp::SessionUpdate update, std::vector<FrameBody>& frames);
  // The tool that a permission request shows; its first mention may be this.
  void tool(const acp::ToolUpserted& tool, const RawJson& update, std::vector<FrameBody>& frames);
  // Settings as an answer showed them; `update` goes with the first that is new. What is too long
  // for a setting is in the update alone.
  void options(const std::vector<acp::OptionValue>& options, const RawJson& update,
               std::vector<FrameBody>& frames);
  // Protocol v2: a message may come whole after its pieces; they are remembered for a turn.
  void expect_whole_messages() { whole_messages_ = true; }
  // Forgets what it has told of settings: the next answer is told whole.
  void forget_options() { told_options_.clear(); }

  // Tools that were begun and have not ended, as far as the agent said.
  std::size_t tools_in_flight() const { return open_tools_.size(); }
  // The turn is over: whatever the agent left open is closed by the journal.
  void end_turn();
  // What the agent said to be at work and not to have ended, turns apart: its subagents, and tools
  // that a turn left open, as a background shell is. Nothing of it lives longer than the agent.
  // Empty: nothing; else one line.
  std::string work_left() const;
  // The agent has ended.
  void forget_work() { working_.clear(); }

 private:
  // Its length and checksum are enough to know it again at the front of a longer text.
  struct ShownText {
    std::size_t bytes = 0;
    std::uint32_t checksum = 0;

    void add(std::string_view text);
    bool goes_on_as(std::string_view text) const;
  };

  ShownText& shown_of(const std::string& message_id);
  void whole_message(const acp::MessageWhole& message, RawJson raw, std::vector<FrameBody>& frames);
  void note_tool(const acp::ToolUpserted& tool);
  void note_subagent(const acp::SubagentShown& shown);
  // Output of a tool that may not have been mentioned; without an id it is kept as it came.
  void tool_output(ToolUpdate update, std::vector<FrameBody>& frames);
  std::string tool_of(const std::string& terminal) const;
  std::string terminal_text(const acp::TerminalOutput& output);

  BoundedTexts known_tools_{{tools_open_max, agent_ids_bytes_max}};
  BoundedTexts open_tools_{{tools_open_max, agent_ids_bytes_max}};
  BoundedTexts working_{{tools_open_max, agent_ids_bytes_max}};  // with what they are called
  BoundedTexts told_options_{{options_known_max, agent_ids_bytes_max}};
  // Which tool shows a terminal's output.
  RecentTexts terminals_{{agent_terminals_known_max, agent_ids_bytes_max}};
  std::string cut_terminal_;  // whose last bytes were the beginning of a character
  std::string cut_bytes_;
  bool whole_messages_ = false;
  // How much of a message was told already, to tell the rest of a whole one.
  std::map<std::string, ShownText> shown_;
  std::size_t shown_bytes_ = 0;  // of their ids
};

}  // namespace perdure
