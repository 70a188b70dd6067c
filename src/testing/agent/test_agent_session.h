// A session as the test agent remembers it: known prompts, the history for a replay, and settings.
// Stored as one JSON text; a text that cannot be read counts as no session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/fields.h"
#include "demo/agent_updates.h"
#include "testing/agent/test_agent_switches.h"

namespace perdure::testagent {

struct HistoryItem {
  std::string kind;  // user, agent, thought, tool, usage
  std::string id;
  std::string text;

  FIELDS {
    visit("kind", self.kind);
    visit("id", self.id);
    visit("text", self.text);
  }
};

struct KeptSession {
  std::string id;
  std::string cwd;
  std::string title;
  std::string mode = "ask";
  std::string model = "small";
  std::int64_t created_ms = 0;
  std::int64_t prompt_count = 0;  // in total, including forgotten ones: numbers are never reused
  std::int64_t tokens_used = 0;
  std::vector<std::string> prompts;  // that it remembers
  std::vector<HistoryItem> history;

  FIELDS {
    visit("id", self.id);
    visit("cwd", self.cwd);
    visit("title", self.title);
    visit("mode", self.mode);
    visit("model", self.model);
    visit("created_ms", self.created_ms);
    visit("prompt_count", self.prompt_count);
    visit("tokens_used", self.tokens_used);
    visit("prompts", self.prompts);
    visit("history", self.history);
  }

  // Appends to the last item if it has the same kind and id. Long texts are cut, and the oldest
  // items are dropped when there are too many.
  void remember(HistoryItem item);
  void forget();     // as `/clear` does
  void summarise();  // as `/compact` does: one line instead of everything
};

std::string encode_session(const KeptSession& session);
std::optional<KeptSession> decode_session(std::string_view text);

std::vector<demo::OptionView> session_options(const KeptSession& session);

// The updates of a replay of this session.
std::vector<demo::Update> replay_updates(const KeptSession& session,
                                         const OpenFaults::Replay& replay, demo::Dialect dialect);
// Usage that was counted before, for agents that replay it.
demo::Update replayed_usage(const KeptSession& session);

}  // namespace perdure::testagent
