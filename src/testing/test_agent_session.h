// A session as the test agent remembers it: what it knows (prompts), what it would replay
// (history), and what is set. Stored as one JSON text; a text that does not read back counts as no
// session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "demo/agent_updates.h"
#include "testing/test_agent_switches.h"

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
  std::int64_t prompt_count = 0;  // ever, forgotten ones too: numbers are never used twice
  std::int64_t tokens_used = 0;
  std::vector<std::string> prompts;  // that it still knows
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

  // Appends to the last item when it is of the same kind and id; long texts are cut there, and the
  // oldest items leave when there are too many.
  void remember(HistoryItem item);
  void forget();     // as `/clear` does
  void summarise();  // as `/compact` does: one line instead of everything
};

std::string encode_session(const KeptSession& session);
std::optional<KeptSession> decode_session(std::string_view text);

std::vector<demo::OptionView> session_options(const KeptSession& session);

// The updates that a replay of this session consists of.
std::vector<demo::Update> replay_updates(const KeptSession& session,
                                         const OpenFaults::Replay& replay, demo::Dialect dialect);
// Usage as it was counted once already, for agents that replay it.
demo::Update replayed_usage(const KeptSession& session);

}  // namespace perdure::testagent
