// An agent's session/update, typed: every variant of protocol v1, stable and published unstable,
// and of v2. Reading never fails: for an unknown variant, or a member of unexpected type, the typed
// part stays empty, and the whole update is kept unchanged beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json/json.h"
#include "core/acp/rpc.h"

namespace perdure::acp {

enum class Dialect { v1, v2 };

// The current value of a session's setting. `option` is "mode" or "model" if the agent declares the
// option as such, regardless of its id; otherwise it is the agent's id. A boolean option is "true"
// or "false".
struct OptionValue {
  std::string option;
  std::string value;
  bool operator==(const OptionValue&) const = default;
};

struct PermissionChoice {
  std::string option_id;
  std::string name;
  std::string kind;  // allow_once, allow_always, reject_once, reject_always, or another
  bool operator==(const PermissionChoice&) const = default;
};

enum class Speaker { user, agent, thought };

// A piece of a message. Pieces of one message are consecutive; `message_id` may be empty.
struct MessageChunk {
  Speaker speaker = Speaker::agent;
  std::string message_id;
  std::string block = "text";  // the kind of the content block: text, image, audio, resource …
  std::string text;            // of a text block, or of a resource that has text
  bool operator==(const MessageChunk&) const = default;
};
// v2: the whole message, which replaces what was shown of it before.
struct MessageWhole {
  Speaker speaker = Speaker::agent;
  std::string message_id;
  std::optional<std::string> text;  // absent: the content is unchanged
  bool operator==(const MessageWhole&) const = default;
};

struct ToolLocation {
  std::string path;
  std::optional<std::int64_t> line;
  bool operator==(const ToolLocation&) const = default;
};
struct FileDiff {
  std::string path;
  std::optional<std::string> old_text;  // absent: a new file, or see `patch`
  std::string new_text;
  std::string patch;      // v2: in git's form
  std::string operation;  // v2: add, delete, modify, move, copy, or another
  std::string old_path;   // v2: of a move or copy
  bool operator==(const FileDiff&) const = default;
};
// Content that a tool shows.
struct ToolContent {
  std::string text;  // of all text blocks, joined
  std::vector<FileDiff> diffs;
  std::vector<std::string> terminals;
  bool operator==(const ToolContent&) const = default;
};
// An upsert under either of its two names: the first mention of a tool may be an update or a
// permission request. Absent members are unchanged.
struct ToolUpserted {
  std::string tool_call_id;
  std::optional<std::string> title;
  std::optional<std::string> tool_name;
  std::optional<std::string> kind;    // read, edit, execute …
  std::optional<std::string> status;  // pending, in_progress, completed, failed
  std::optional<ToolContent> content;
  std::optional<std::vector<ToolLocation>> locations;
  std::string input;                  // the raw input in a short readable form: its command or path
  std::optional<std::string> output;  // text of the raw output, if it has one
  std::string output_added;           // separate output, piece by piece
  RawJson raw_input;
  RawJson raw_output;
  bool announced = false;  // it arrived as `tool_call`: the agent considers it the first mention
  bool operator==(const ToolUpserted&) const = default;
};
// v2: content that follows what the tool has shown so far.
struct ToolContentAdded {
  std::string tool_call_id;
  ToolContent content;
  bool operator==(const ToolContentAdded&) const = default;
};

struct PlanEntry {
  std::string content;
  std::string priority;  // high, medium, low
  std::string status;    // pending, in_progress, completed; v2: cancelled
  bool operator==(const PlanEntry&) const = default;
};
// Replaces the plan with the same id; v1's stable form has no ids.
struct PlanShown {
  std::string plan_id;
  std::vector<PlanEntry> entries;
  std::string text;  // a plan in Markdown
  std::string uri;   // a plan in a file
  bool operator==(const PlanShown&) const = default;
};
struct PlanRemoved {
  std::string plan_id;
  bool operator==(const PlanRemoved&) const = default;
};

struct CommandOffered {
  std::string name;
  std::string description;
  std::string hint;  // for its input; empty: it takes none
  bool operator==(const CommandOffered&) const = default;
};
struct CommandsOffered {
  std::vector<CommandOffered> commands;
  bool operator==(const CommandsOffered&) const = default;
};

struct OptionChoice {
  std::string value;
  std::string name;
  bool operator==(const OptionChoice&) const = default;
};
// An option and its possible values.
struct ConfigOption {
  std::string id;  // the agent's own
  std::string name;
  std::string category;  // mode, model, model_config, thought_level, or another
  std::string type;      // select, boolean
  std::string value;
  std::vector<OptionChoice> choices;  // of a select; groups are flattened
  bool operator==(const ConfigOption&) const = default;
};
// Replaces all options of the session.
struct OptionsShown {
  std::vector<ConfigOption> options;
  bool operator==(const OptionsShown&) const = default;
};
// v1: only the mode.
struct ModeShown {
  std::string mode;
  bool operator==(const ModeShown&) const = default;
};

struct TitleShown {
  std::optional<std::string> title;
  std::optional<std::string> updated_at;
  bool operator==(const TitleShown&) const = default;
};
struct UsageShown {
  std::int64_t used = 0;
  std::int64_t size = 0;
  std::string cost;  // the amount as its JSON text; empty: not reported
  std::string currency;
  bool operator==(const UsageShown&) const = default;
};
struct NoticeShown {
  std::string severity;  // info, warning, error
  std::string title;
  std::string description;
  bool operator==(const NoticeShown&) const = default;
};
struct CompactionShown {
  std::string compaction_id;
  std::string status;  // in_progress, completed, failed, cancelled
  std::string text;    // of the summary
  std::string error;
  bool operator==(const CompactionShown&) const = default;
};
struct CompactionChunk {
  std::string compaction_id;
  std::string text;
  bool operator==(const CompactionChunk&) const = default;
};

// v2: running, idle, requires_action, or another.
struct StateShown {
  std::string state;
  std::string stop_reason;  // of idle; empty: not reported
  std::optional<RpcError> error;
  RawJson usage;
  bool operator==(const StateShown&) const = default;
};
struct TerminalShown {
  std::string terminal_id;
  std::optional<std::string> command;
  std::optional<std::string> cwd;
  std::optional<std::string> output;  // complete and decoded: any bytes
  std::optional<std::int64_t> exit_code;
  std::optional<std::string> signal;
  bool ended = false;
  bool operator==(const TerminalShown&) const = default;
};
struct TerminalOutput {
  std::string terminal_id;
  std::string bytes;  // appended to the output so far
  bool operator==(const TerminalOutput&) const = default;
};

struct SubagentShown {
  std::string session_id;
  std::optional<std::string> title;
  std::optional<std::string> description;
  std::optional<std::string> state;
  bool operator==(const SubagentShown&) const = default;
};
// Between agents: a message from one session to another.
struct SessionMessage {
  std::string message_id;
  std::string sender_session_id;
  std::string recipient_session_id;
  std::optional<std::string> text;
  bool operator==(const SessionMessage&) const = default;
};
struct SessionMessageChunk {
  std::string message_id;
  std::string text;
  bool operator==(const SessionMessageChunk&) const = default;
};

// An unknown kind: `SessionUpdate::raw` has all of it.
struct UnknownUpdate {
  bool operator==(const UnknownUpdate&) const = default;
};

using UpdateBody =
    std::variant<UnknownUpdate, MessageChunk, MessageWhole, ToolUpserted, ToolContentAdded,
                 PlanShown, PlanRemoved, CommandsOffered, OptionsShown, ModeShown, TitleShown,
                 UsageShown, NoticeShown, CompactionShown, CompactionChunk, StateShown,
                 TerminalShown, TerminalOutput, SubagentShown, SessionMessage, SessionMessageChunk>;

struct SessionUpdate {
  std::string kind;  // the agent's word for it: "agent_message_chunk"; may be empty
  UpdateBody body;
  RawJson raw;  // the whole update
};

// Accepts any raw value that is part of valid JSON.
SessionUpdate parse_update(std::string_view raw);
// The same for the tool of a permission request.
ToolUpserted parse_tool(std::string_view raw);
// The content of a tool: an array of items, or one item.
ToolContent parse_tool_content(std::string_view raw);
// The options of a `configOptions` array.
std::vector<ConfigOption> parse_options(std::string_view raw);
std::vector<PermissionChoice> parse_choices(std::string_view raw);

// The options or modes in an answer to session/new and the like, with their possible values, in the
// form of an update; for modes it includes `availableModes`. Empty: there are none.
RawJson options_update(std::string_view result);
// The options in such an update: those of `configOptions`, or the modes as one option.
std::vector<ConfigOption> parse_options_update(std::string_view update);

// With the names that the rest of the runtime uses: see OptionValue.
std::vector<OptionValue> option_values(const std::vector<ConfigOption>& options);

// The update as JSON in an agent's dialect. If only the other dialect has it, the nearest form is
// used: a v1 plan becomes a v2 plan_update; a v2 state has no v1 form and is printed as in v2.
// Parsing it again gives the same body, except for UnknownUpdate, which has no form.
std::string print_update(const UpdateBody& body, Dialect dialect);
// A tool as in a permission request.
std::string print_tool(const ToolUpserted& tool, Dialect dialect);
std::string print_options(const std::vector<ConfigOption>& options, Dialect dialect);
std::string print_choices(const std::vector<PermissionChoice>& choices);

}  // namespace perdure::acp
