// Builds the bodies of session/update and of the answers that describe sessions. Supports both
// dialects: every difference of v2 depends on `Dialect` here and nowhere else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "demo/agent_lines.h"

namespace perdure::demo {

enum class Dialect { v1, v2 };

enum class Speaker { user, agent, thought };
struct Chunk {
  Speaker speaker = Speaker::agent;
  std::string_view text;
  std::string_view message_id;  // may be empty
};
Update chunk_update(const Chunk& chunk);

struct FileDiff {
  std::string path;
  std::optional<std::string> old_text;  // not set: the file is new
  std::string new_text;
};
// Empty members are omitted.
struct ToolView {
  std::string id;
  std::string title;
  std::string kind;    // read, edit, execute, …
  std::string status;  // pending, in_progress, completed, failed
  std::string text;    // shown as its content
  std::optional<FileDiff> diff;
  std::string path;  // shown as its location
  RawJson raw_input;
  RawJson raw_output;
};
enum class Mention { first, later };
// In v2 every mention is an update.
Update tool_update(const ToolView& tool, Mention mention, Dialect dialect);
// The object alone, as in a permission request.
RawJson tool_object(const ToolView& tool);

struct PlanItem {
  std::string content;
  std::string status = "pending";  // in_progress, completed
  std::string priority = "medium";
};
Update plan_update(const std::vector<PlanItem>& items, Dialect dialect);

struct UsageView {
  std::int64_t used = 0;
  std::int64_t size = 200'000;
};
Update usage_update(const UsageView& usage);
Update title_update(std::string_view title);
Update mode_update(std::string_view mode);

struct CommandView {
  std::string name;
  std::string description;
  std::string hint;  // empty: it takes no arguments
};
Update commands_update(const std::vector<CommandView>& commands, Dialect dialect);

struct OptionChoice {
  std::string value;
  std::string name;
  std::string description;
};
struct OptionView {
  std::string id;
  std::string name;
  std::string category;  // mode, model
  std::string current;
  std::vector<OptionChoice> choices;

  bool has(std::string_view value) const;
};
// A JSON array of config options.
RawJson options_array(const std::vector<OptionView>& options, Dialect dialect);
Update options_update(const std::vector<OptionView>& options, Dialect dialect);
// The older format of the mode: {"currentModeId":…,"availableModes":[…]}.
RawJson modes_object(const OptionView& mode);

struct PermissionView {
  std::string session_id;
  ToolView tool;
  // {optionId, name, kind}
  struct Choice {
    std::string id;
    std::string name;
    std::string kind;
  };
  std::vector<Choice> choices;
};
RawJson permission_params(const PermissionView& ask, Dialect dialect);

}  // namespace perdure::demo
