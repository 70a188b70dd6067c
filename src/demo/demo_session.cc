#include "demo/demo_session.h"

#include <algorithm>
#include <utility>

#include "base/json/fields_json.h"
#include "base/limits.h"

namespace perdure::demo {

void KeptSession::remember(KeptItem item) {
  chars += static_cast<std::int64_t>(item.text.size());
  if (!items.empty() && items.back().id == item.id && items.back().kind == item.kind) {
    if (item.kind == "tool") {
      items.back().outcome = item.outcome;
    } else {
      items.back().text += item.text;
    }
    return;
  }
  items.push_back(std::move(item));
  const auto is_prompt = [](const KeptItem& one) { return one.kind == "user"; };
  if (static_cast<std::size_t>(std::ranges::count_if(items, is_prompt)) <= demo_turns_kept) return;
  const auto second = std::find_if(items.begin() + 1, items.end(), is_prompt);
  items.erase(items.begin(), second);
}

std::vector<std::string> KeptSession::prompts() const {
  std::vector<std::string> found;
  for (const KeptItem& item : items) {
    if (item.kind == "user") found.push_back(item.text);
  }
  return found;
}

std::string encode_session(const KeptSession& session) { return encode_fields(session); }

std::optional<KeptSession> decode_session(std::string_view text) {
  auto decoded = decode_fields<KeptSession>(text);
  if (!decoded) return std::nullopt;
  return std::move(decoded->value);
}

std::vector<OptionView> session_options(const KeptSession& session) {
  return {{"mode",
           "Mode",
           "mode",
           session.mode,
           {{"ask", "Ask first", "Asks before it writes a file"},
            {"auto", "Auto", "Writes its demo files without asking"},
            {"plan", "Plan only", "Says what it would do and touches nothing"}}},
          {"model",
           "Model",
           "model",
           session.model,
           {{"calm", "Calm", "Streams at reading pace"},
            {"brisk", "Brisk", "The same answers, about twice as fast"}}}};
}

std::vector<CommandView> session_commands() {
  return {{"help", "What this demo can do", ""},
          {"tour", "Everything in one turn: plan, files, a command, a question", ""},
          {"plan", "Make a plan and work through it", "what for"},
          {"long", "A turn of a minute and a half, to close the tab or kill the daemon in", ""},
          {"ask", "Ask for a permission and wait, for days if need be", ""},
          {"fail", "Run a command that fails, and say so", ""}};
}

std::vector<Update> replay_updates(const KeptSession& session) {
  std::vector<Update> updates;
  for (const KeptItem& item : session.items) {
    if (item.kind == "tool") {
      const ToolView tool{.id = item.id,
                          .title = item.text,
                          .kind = item.tool_kind,
                          .status = item.outcome.empty() ? "failed" : item.outcome};
      updates.push_back(tool_update(tool, Mention::first, Dialect::v1));
      continue;
    }
    const Speaker speaker = item.kind == "user"      ? Speaker::user
                            : item.kind == "thought" ? Speaker::thought
                                                     : Speaker::agent;
    updates.push_back(chunk_update({speaker, item.text, item.id}));
  }
  return updates;
}

UsageView session_usage(const KeptSession& session) {
  // A token is about four characters; the constant stands for an agent's instructions.
  return {.used = 1800 + session.chars / 4, .size = 200'000};
}

}  // namespace perdure::demo
