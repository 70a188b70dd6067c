#include "core/session/redacted.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

namespace perdure {
namespace {

void blank(std::string& text) {
  if (!text.empty()) text = redacted_text;
}

// A prompt is never empty: one with attachments only also gets the fixed word.
void blank(Prompt& prompt) {
  if (prompt.text.empty() && prompt.blocks.text.empty()) return;
  prompt = {.text = std::string(redacted_text), .blocks = {}};
}

void blank(std::vector<OpenAttempt>& attempts) {
  for (OpenAttempt& attempt : attempts) blank(attempt.message);
}

void blank(std::vector<PermissionOption>& options) {
  for (PermissionOption& option : options) blank(option.name);
}

// A client may give its own reason for a stop; these are ours.
bool is_known_reason(std::string_view reason) {
  constexpr std::array known{"",      "completed", "cancelled",  "stopped_by_user", "agent_crashed",
                             "error", "deleted",   "interrupted"};
  return std::ranges::find(known, reason) != known.end();
}

// One overload per kind that holds text not written by Perdure. Folders, agent names, ids and
// principals stay: without them the session could not continue.
struct Scrub {
  void operator()(SessionCreated& e) const {
    blank(e.title);
    e.mcp_servers = {};
  }
  void operator()(SessionRenamed& e) const { blank(e.title); }
  void operator()(SessionConfigured& e) const {
    e.options.clear();
    e.mcp_servers = {};
  }
  void operator()(SessionStopped& e) const {
    if (!is_known_reason(e.reason)) blank(e.reason);
  }
  void operator()(ExecutorError& e) const { blank(e.message); }
  void operator()(AgentStarted& e) const { e.initialize = {}; }
  void operator()(AgentExited& e) const { blank(e.stderr_tail); }
  void operator()(ContextBoundary& e) const {
    blank(e.reason);
    blank(e.attempts);
  }
  void operator()(ContextInjected& e) const { blank(e.text); }
  void operator()(ContextAttempt& e) const { blank(e.attempt.message); }
  void operator()(ResumeFailed& e) const {
    blank(e.message);
    blank(e.attempts);
  }
  void operator()(RunFailed& e) const { blank(e.message); }
  void operator()(MessageUser& e) const { blank(e.prompt); }
  void operator()(MessageAgent& e) const { stream(e); }
  void operator()(MessageThought& e) const { stream(e); }
  void operator()(ToolCall& e) const { tool(e); }
  void operator()(ToolUpdate& e) const {
    tool(e);
    blank(e.added);
  }
  void operator()(Mode& e) const { e.update = {}; }
  void operator()(PermissionRequested& e) const {
    blank(e.title);
    blank(e.options);
    e.update = {};
  }
  void operator()(PermissionResolved& e) const { blank(e.option_name); }
  void operator()(QueueAdded& e) const { blank(e.prompt); }
  void operator()(QueueEdited& e) const { blank(e.prompt); }
  void operator()(const auto&) const {}

  static void stream(auto& event) {
    blank(event.text);
    event.update = {};
  }
  static void tool(auto& event) {
    blank(event.title);
    blank(event.input);
    blank(event.text);
    event.update = {};
  }
};

bool is_text_name(std::string_view name) {
  return name == "title" || name == "content" || name == "text" || name == "added" ||
         name == "input" || name == "message" || name == "reason" || name == "stderr_tail";
}

// Of an attachment or of an MCP server: what a person or a program put there.
bool is_text_member(std::string_view name) {
  return name == "text" || name == "data" || name == "blob" || name == "uri" || name == "value";
}

// Collects the texts of an event.
class TextTaker {
 public:
  explicit TextTaker(std::vector<std::string>& texts) : texts_(texts) {}

  template <class T>
  void operator()(std::string_view name, const T& field) {
    if constexpr (std::same_as<T, std::string>) {
      if (is_text_name(name)) take(field);
      if (name == "option_name") take_answer(field);
    } else if constexpr (std::same_as<T, RawJson>) {
      if (name == "blocks" || name == "mcp_servers") take_members(field);
    } else if constexpr (std::same_as<T, std::vector<OpenAttempt>>) {
      for (const OpenAttempt& attempt : field) take(attempt.message);
    } else if constexpr (std::same_as<T, std::vector<PermissionOption>>) {
      for (const PermissionOption& option : field) take_answer(option.name);
    }
  }

 private:
  void take(const std::string& text) {
    if (!text.empty() && text != redacted_text) texts_.push_back(text);
  }
  void take_answer(const std::string& name) {
    if (name.size() >= answer_name_to_find_min) take(name);
  }
  void take_members(const RawJson& json) {
    for_each_json_string(json.text, [&](std::string_view name, std::string_view raw) {
      if (is_text_member(name)) take(json_string(raw).value_or(""));
    });
  }

  std::vector<std::string>& texts_;
};

// The fold passes over these: their place in the journal is all that counts.
template <class Body>
constexpr bool is_needed_v =
    !(std::is_same_v<Body, SessionAdopted> || std::is_same_v<Body, Plan> ||
      std::is_same_v<Body, Usage> || std::is_same_v<Body, Commands> ||
      std::is_same_v<Body, AgentUpdate> || std::is_same_v<Body, RepairTruncated> ||
      std::is_same_v<Body, UnknownEvent>);

}  // namespace

std::optional<EventBody> without_text(const EventBody& body) {
  const bool is_needed = visit(
      [](const auto& event) { return is_needed_v<std::remove_cvref_t<decltype(event)>>; }, body);
  if (!is_needed) return std::nullopt;
  EventBody kept = body;
  visit(Scrub{}, kept);
  return kept;
}

bool holds_text(const EventBody& body) {
  const std::optional<EventBody> kept = without_text(body);
  return !kept || *kept != body;
}

std::vector<std::string> texts_of(const EventBody& body) {
  std::vector<std::string> texts;
  TextTaker take(texts);
  visit(
      [&](const auto& event) {
        if constexpr (HasFields<std::remove_reference_t<decltype(event)>>) event.fields(take);
      },
      body);
  return texts;
}

State without_text(State state) {
  state.title.clear();
  if (!is_known_reason(state.stop_reason)) state.stop_reason = redacted_text;
  state.mcp_servers = {};
  state.requested.clear();
  state.exec.error_message.clear();
  for (OpenAttempt& attempt : state.exec.attempts) attempt.message.clear();
  if (state.failure) state.failure->message.clear();
  if (state.last_run) state.last_run->message.clear();
  for (QueuedPrompt& item : state.queue) item.prompt = Prompt{};
  for (auto& [id, permission] : state.permissions) {
    permission.title.clear();
    for (PermissionOption& option : permission.options) option.name.clear();
  }
  for (ClosedWait& closed : state.closed_waits) closed.option_name.clear();
  for (auto& [id, title] : state.open_tools) title.clear();
  return state;
}

}  // namespace perdure
