// What a record of the journal says to an editor, as updates of ACP. Pure. The agent's own update
// goes on as it came wherever an editor can read it; else the normalised fields are told in the
// nearest words, so that nothing that is printed breaks the published schema.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "acp/updates.h"
#include "client/json_view.h"

namespace perdure::face {

using client::JsonView;

class RecordTeller {
 public:
  // Appends the update of each thing that the record says, as JSON; often none. Records come in
  // order. `update` stands for the record's own where that was stored apart; else it is that.
  void tell(JsonView record, std::string_view update, std::vector<std::string>& updates);

  // As last told by the agent; empty before.
  const std::vector<acp::ConfigOption>& options() const { return options_; }
  const std::string& commands() const { return commands_; }  // the whole update
  bool has_history() const { return has_history_; }

  // How the runtime names the option that an editor knows by `config_id`; empty: there is none.
  std::string option_name(std::string_view config_id) const;
  // Whether the option can be that, as far as the agent has said what it can be.
  bool may_be(const acp::OptionValue& wanted) const;
  // The options with this value in place of the one that was observed.
  std::vector<acp::ConfigOption> options_with(const acp::OptionValue& set) const;

 private:
  void tell_message(JsonView record, std::string_view update, std::vector<std::string>& updates);
  void tell_user(JsonView record, std::vector<std::string>& updates);
  void tell_tool(JsonView record, std::string_view update, std::vector<std::string>& updates);
  void tell_plan(JsonView record, std::string_view update, std::vector<std::string>& updates);
  void tell_option(JsonView record, std::string_view update, std::vector<std::string>& updates);
  void tell_other(std::string_view update, std::vector<std::string>& updates);
  void tell_boundary(JsonView record, std::vector<std::string>& updates);

  acp::Dialect dialect_ = acp::Dialect::v1;  // of the agent behind
  std::vector<acp::ConfigOption> options_;
  std::string commands_;
  bool has_history_ = false;  // a prompt was sent
};

// Says of a tool only what v1 has words for, and nothing of terminals, which are the workspace's.
void make_plain(acp::ToolUpserted& tool);

// A sentence of Perdure's own, as a message of the agent that every editor shows. `_meta.perdure`
// tells programs that it is none of the agent's; `meta` is a JSON object, or empty.
struct Remark {
  std::uint64_t seq = 0;
  std::string_view text;
  std::string_view meta;
};
std::string print_remark(const Remark& remark);

}  // namespace perdure::face
