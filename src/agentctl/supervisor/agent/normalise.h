// Converts an agent's updates to journal events. Fields hold what projections need; the agent's own
// update is always attached whole, known or not (X25). Tools are upserts: the first mention of an
// id is the call, whichever update type the agent used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agentctl/supervisor/agent/bounded.h"
#include "base/limits.h"
#include "core/acp/client/client.h"
#include "core/acp/updates/updates.h"
#include "core/wire/agentctl/frame.h"

namespace perdure {

class Normaliser {
 public:
  // Appends the frames for an update: usually one, none if a setting did not change.
  void update(acp::SessionUpdate update, std::vector<FrameBody>& frames);
  // The tool shown in a permission request, which may be its first mention.
  void tool(const acp::ToolUpserted& tool, const RawJson& update, std::vector<FrameBody>& frames);
  // Settings from an answer; `update` goes with the first new one. A value too long for a setting
  // is only in the update.
  void options(const std::vector<acp::OptionValue>& options, const RawJson& update,
               std::vector<FrameBody>& frames);
  // Protocol v2: a complete message may follow its pieces; they are kept until the turn ends.
  void expect_whole_messages() { whole_messages_ = true; }
  // Forgets which settings were reported: the next answer is reported in full.
  void forget_options() { told_options_.clear(); }

  // Tools that began and, as far as the agent reported, have not ended.
  std::size_t tools_in_flight() const { return open_tools_.size(); }
  // Call at the end of a turn: the journal closes what the agent left open.
  void end_turn();
  // One line about work outside of turns that the agent reported and has not ended: subagents, and
  // tools that outlive their turn, such as a background shell. It ends with the agent. Empty: none.
  std::string work_left() const;
  // Call when the agent has ended.
  void forget_work() { working_.clear(); }

 private:
  // The length and checksum suffice to recognise this text at the front of a longer one.
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
  // Output of a tool that may not have been mentioned; without an id it is kept unchanged.
  void tool_output(ToolUpdate update, std::vector<FrameBody>& frames);
  std::string tool_of(const std::string& terminal) const;
  std::string terminal_text(const acp::TerminalOutput& output);

  BoundedTexts known_tools_{{tools_open_max, agent_ids_bytes_max}};
  BoundedTexts open_tools_{{tools_open_max, agent_ids_bytes_max}};
  BoundedTexts working_{{tools_open_max, agent_ids_bytes_max}};  // with their names
  BoundedTexts told_options_{{options_known_max, agent_ids_bytes_max}};
  // The tool that shows a terminal's output.
  RecentTexts terminals_{{agent_terminals_known_max, agent_ids_bytes_max}};
  std::string cut_terminal_;  // its last bytes began a character
  std::string cut_bytes_;
  bool whole_messages_ = false;
  // How much of a message was reported, so that only the rest of a whole one is.
  std::map<std::string, ShownText> shown_;
  std::size_t shown_bytes_ = 0;  // of their ids
};

}  // namespace perdure
