#include "daemon/registry/node_events.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/json/fields_json.h"
#include "base/limits.h"
#include "core/session/redacted.h"

namespace perdure {
namespace {

template <class Event>
Result<NodeEvent> decode_as(const RawJson& fields) {
  return NodeEvent(TRY(decode_fields<Event>(fields.text)).value);
}

struct KnownKind {
  std::string_view kind;
  Result<NodeEvent> (*decode)(const RawJson&);
};

template <std::size_t... I>
constexpr auto make_kinds(std::index_sequence<I...>) {
  return std::array{KnownKind{std::variant_alternative_t<I, NodeEvent>::kind,
                              &decode_as<std::variant_alternative_t<I, NodeEvent>>}...};
}
// All but the last, which is the unknown kind.
constexpr auto kinds = make_kinds(std::make_index_sequence<std::variant_size_v<NodeEvent> - 1>());

void apply(NodeState& state, const TaskCreated& event) { state.tasks[event.task.id] = event.task; }
void apply(NodeState& state, const TaskChanged& event) {
  const auto at = state.tasks.find(event.task);
  if (at == state.tasks.end()) return;
  if (event.title) at->second.title = *event.title;
  if (event.description) at->second.description = *event.description;
}
void apply(NodeState& state, const TaskDeleted& event) { state.tasks.erase(event.task); }
void apply(NodeState& state, const ApiTokenCreated& event) {
  state.tokens[event.row.id] = event.row;
}
void apply(NodeState& state, const ApiTokenRevoked& event) { state.tokens.erase(event.id); }
void apply(NodeState& state, const BrowserAdded& event) {
  state.browsers[event.row.id] = event.row;
}
void apply(NodeState& state, const BrowserRevoked& event) { state.browsers.erase(event.id); }
void apply(NodeState& state, const RuleAdded& event) { state.rules[event.rule.id] = event.rule; }
void apply(NodeState& state, const TypedRuleAdded& event) {
  state.typed_rules[event.rule.id] = event.rule;
}
void apply(NodeState& state, const RuleRemoved& event) {
  state.rules.erase(event.id);
  state.typed_rules.erase(event.id);
}
void apply(NodeState& state, const SessionDeleted& event) {
  state.tombstones[event.tombstone.session] = event.tombstone;
  if (state.tombstones.size() <= tombstones_max) return;
  state.tombstones.erase(std::ranges::min_element(
      state.tombstones, {}, [](const auto& entry) { return entry.second.deleted; }));
}
void blank(std::string& text) {
  if (!text.empty()) text = redacted_text;
}
void blank(std::optional<std::string>& text) {
  if (text) blank(*text);
}

struct Scrub {
  void operator()(TaskCreated& e) const {
    blank(e.task.title);
    blank(e.task.description);
  }
  void operator()(TaskChanged& e) const {
    blank(e.title);
    blank(e.description);
  }
  void operator()(ApiTokenCreated& e) const { blank(e.row.name); }
  void operator()(RuleAdded& e) const {
    e.rule = {.id = e.rule.id,
              .title = std::string(redacted_text),
              .created = e.rule.created,
              .by = e.rule.by};
  }
  void operator()(TypedRuleAdded& e) const {
    e.rule = {.id = e.rule.id, .effect = "ask", .created = e.rule.created, .by = e.rule.by};
  }
  void operator()(SessionDeleted& e) const { blank(e.tombstone.title); }
  void operator()(auto&) const {}
};

struct TextId {
  std::string operator()(const TaskCreated& e) const { return e.task.id.text(); }
  std::string operator()(const TaskChanged& e) const { return e.task.text(); }
  std::string operator()(const ApiTokenCreated& e) const { return e.row.id; }
  std::string operator()(const RuleAdded& e) const { return e.rule.id; }
  std::string operator()(const TypedRuleAdded& e) const { return e.rule.id; }
  std::string operator()(const SessionDeleted& e) const { return e.tombstone.session.text(); }
  std::string operator()(const auto&) const { return ""; }
};

void apply(NodeState& state, const NodeRedacted& event) {
  const std::set<std::string> ids(event.ids.begin(), event.ids.end());
  for (auto& [id, task] : state.tasks) {
    if (!ids.contains(id.text())) continue;
    blank(task.title);
    blank(task.description);
  }
  for (auto& [id, token] : state.tokens) {
    if (ids.contains(id)) blank(token.name);
  }
  for (auto& [id, tombstone] : state.tombstones) {
    if (ids.contains(id.text())) blank(tombstone.title);
  }
}
void apply(NodeState&, const UnknownNodeEvent&) {}

}  // namespace

std::string text_id(const NodeEvent& event) { return std::visit(TextId{}, event); }

NodeEvent without_text(NodeEvent event) {
  std::visit(Scrub{}, event);
  return event;
}

std::string_view node_event_kind(const NodeEvent& event) {
  return std::visit([](const auto& body) { return std::string_view(body.kind); }, event);
}

std::string encode_node_event(const NodeEvent& event) {
  if (const auto* unknown = std::get_if<UnknownNodeEvent>(&event)) return unknown->fields.text;
  return std::visit(
      [](const auto& body) -> std::string {
        if constexpr (HasFields<decltype(body)>) {
          return encode_fields(body);
        } else {
          return "{}";
        }
      },
      event);
}

Result<NodeEvent> decode_node_event(std::string_view kind, const RawJson& fields) {
  const auto at = std::ranges::find(kinds, kind, &KnownKind::kind);
  if (at == kinds.end()) return NodeEvent(UnknownNodeEvent{std::string(kind), fields});
  return at->decode(fields);
}

void evolve(NodeState& state, const NodeEvent& event) {
  state.head += 1;
  std::visit([&](const auto& body) { apply(state, body); }, event);
}

}  // namespace perdure
