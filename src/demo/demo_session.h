// A session as the demo agent stores it: enough to replay the conversation and to remember prompts.
// Stored as one JSON text per session; a text that cannot be parsed counts as missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/fields.h"
#include "demo/agent_updates.h"

namespace perdure::demo {

struct KeptItem {
  std::string kind;  // user, agent, thought, tool
  std::string id;
  std::string text;  // for a tool: its title
  std::string tool_kind;
  std::string outcome;  // for a tool: completed, failed

  FIELDS {
    visit("kind", self.kind);
    visit("id", self.id);
    visit("text", self.text);
    visit("tool_kind", self.tool_kind);
    visit("outcome", self.outcome);
  }
};

struct KeptSession {
  std::string id;
  std::string cwd;
  std::string title;
  std::string mode = "ask";
  std::string model = "calm";
  bool may_always_write = false;
  std::int64_t turns = 0;  // total; ids derive from it
  std::int64_t chars = 0;  // sent and received: basis of the usage
  std::vector<KeptItem> items;

  FIELDS {
    visit("id", self.id);
    visit("cwd", self.cwd);
    visit("title", self.title);
    visit("mode", self.mode);
    visit("model", self.model);
    visit("may_always_write", self.may_always_write);
    visit("turns", self.turns);
    visit("chars", self.chars);
    visit("items", self.items);
  }

  // Extends the last item if it has the same id. Drops turns beyond demo_turns_kept.
  void remember(KeptItem item);
  // All prompts so far, oldest first.
  std::vector<std::string> prompts() const;
};

std::string encode_session(const KeptSession& session);
std::optional<KeptSession> decode_session(std::string_view text);

// mode (ask, auto, plan) first, then model.
std::vector<OptionView> session_options(const KeptSession& session);
std::vector<CommandView> session_commands();
std::vector<Update> replay_updates(const KeptSession& session);
UsageView session_usage(const KeptSession& session);

}  // namespace perdure::demo
