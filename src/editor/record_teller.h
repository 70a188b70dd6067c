// Translates a journal record into ACP updates for an editor. Pure. The agent's own update is
// passed on unchanged if an editor can read it; otherwise the normalised fields are sent in the
// closest form, so that all output conforms to the published schema.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/json_view.h"
#include "core/acp/updates/updates.h"

namespace perdure::face {

using client::JsonView;

class RecordTeller {
 public:
  // Appends the record's updates as JSON; often none. Records come in order. `update` replaces the
  // record's own update if that was stored separately; otherwise it is the same.
  void tell(JsonView record, std::string_view update, std::vector<std::string>& updates);

  // As last reported by the agent; empty before.
  const std::vector<acp::ConfigOption>& options() const { return options_; }
  const std::string& commands() const { return commands_; }  // the whole update
  bool has_history() const { return has_history_; }

  // The runtime's name for the option that an editor knows as `config_id`; empty: there is none.
  std::string option_name(std::string_view config_id) const;
  // Whether the option can have this value, as far as the agent has declared its values.
  bool may_be(const acp::OptionValue& wanted) const;
  // The options with this value in place of the observed one.
  std::vector<acp::ConfigOption> options_with(const acp::OptionValue& set) const;

 private:
  void tell_message(JsonView record, std::string_view update, std::vector<std::string>& updates);
  void tell_user(JsonView record, std::vector<std::string>& updates);
  void tell_tool(JsonView record, std::string_view update, std::vector<std::string>& updates);
  void tell_plan(JsonView record, std::string_view update, std::vector<std::string>& updates);
  void tell_option(JsonView record, std::string_view update, std::vector<std::string>& updates);
  void tell_other(std::string_view update, std::vector<std::string>& updates);
  void tell_boundary(JsonView record, std::vector<std::string>& updates);

  acp::Dialect dialect_ = acp::Dialect::v1;  // of the agent
  std::vector<acp::ConfigOption> options_;
  std::string commands_;
  bool has_history_ = false;  // a prompt was sent
};

// Keeps only what v1 can express, and drops terminals, which belong to the workspace.
void make_plain(acp::ToolUpserted& tool);

// A sentence from Perdure, as a message of the agent, which every editor shows. `_meta.perdure`
// marks it as not from the agent; `meta` is a JSON object, or empty.
struct Remark {
  std::uint64_t seq = 0;
  std::string_view text;
  std::string_view meta;
};
std::string print_remark(const Remark& remark);

}  // namespace perdure::face
