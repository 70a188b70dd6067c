#include "testing/agent/test_agent_session.h"

#include <algorithm>
#include <utility>

#include "base/json/fields_json.h"
#include "base/text.h"

namespace perdure::testagent {
namespace {

constexpr std::size_t history_items_max = 20'000;
constexpr std::size_t item_bytes_max = 256UL << 10;

demo::Update message(const HistoryItem& item, const OpenFaults::Replay& replay) {
  const demo::Speaker speaker = item.kind == "user"      ? demo::Speaker::user
                                : item.kind == "thought" ? demo::Speaker::thought
                                                         : demo::Speaker::agent;
  return demo::chunk_update({speaker, item.text, replay.without_ids ? "" : item.id});
}

void append_item(std::vector<demo::Update>& updates, const HistoryItem& item,
                 const OpenFaults::Replay& replay, demo::Dialect dialect) {
  if (item.kind != "tool") {
    updates.push_back(message(item, replay));
    return;
  }
  demo::ToolView tool{.id = item.id, .title = item.text, .kind = "execute", .status = "completed"};
  tool.text = "ok " + item.text;
  for (int times = replay.tools_twice ? 2 : 1; times > 0; --times) {
    updates.push_back(demo::tool_update(tool, demo::Mention::first, dialect));
  }
}

}  // namespace

void KeptSession::remember(HistoryItem item) {
  const bool extends = !history.empty() && history.back().kind == item.kind &&
                       history.back().id == item.id && item.kind != "tool";
  if (extends) {
    std::string& text = history.back().text;
    if (text.size() < item_bytes_max) text += utf8_prefix(item.text, item_bytes_max - text.size());
    return;
  }
  item.text = utf8_prefix(item.text, item_bytes_max);
  history.push_back(std::move(item));
  if (history.size() > history_items_max) history.erase(history.begin());
}

void KeptSession::forget() {
  prompts.clear();
  history.clear();
}

void KeptSession::summarise() {
  const std::string summary = "summary of " + std::to_string(prompts.size()) + " prompts";
  forget();
  prompts.push_back(summary);
  history.push_back({"agent", "summary-" + std::to_string(prompt_count), summary});
}

std::string encode_session(const KeptSession& session) { return encode_fields(session); }

std::optional<KeptSession> decode_session(std::string_view text) {
  auto decoded = decode_fields<KeptSession>(text);
  if (!decoded) return std::nullopt;
  return std::move(decoded->value);
}

std::vector<demo::OptionView> session_options(const KeptSession& session) {
  return {{"mode",
           "Mode",
           "mode",
           session.mode,
           {{"ask", "Ask", "Asks before it acts"},
            {"auto", "Auto", "Acts without asking"},
            {"plan", "Plan", "Only plans"}}},
          {"model",
           "Model",
           "model",
           session.model,
           {{"small", "Small", "Answers at once"}, {"large", "Large", "Answers at once, too"}}}};
}

std::vector<demo::Update> replay_updates(const KeptSession& session,
                                         const OpenFaults::Replay& replay, demo::Dialect dialect) {
  std::vector<demo::Update> updates;
  if (replay.merged) {
    HistoryItem blob{"agent", "blob", {}};
    for (const HistoryItem& item : session.history) blob.text += item.text + "\n";
    if (!blob.text.empty()) updates.push_back(message(blob, replay));
  } else {
    for (const HistoryItem& item : session.history) append_item(updates, item, replay, dialect);
  }
  if (replay.frames < 0) return updates;
  const auto wanted = static_cast<std::size_t>(replay.frames);
  if (updates.size() > wanted) {
    updates.erase(updates.begin(), updates.end() - static_cast<std::ptrdiff_t>(wanted));
  }
  std::vector<demo::Update> made_up;
  while (made_up.size() + updates.size() < wanted) {
    const std::string number = std::to_string(made_up.size() + 1);
    made_up.push_back(message({"agent", "made-up-" + number, "made up " + number + "\n"}, replay));
  }
  std::ranges::move(updates, std::back_inserter(made_up));
  return made_up;
}

demo::Update replayed_usage(const KeptSession& session) {
  return demo::usage_update({.used = session.tokens_used});
}

}  // namespace perdure::testagent
