// Commands of a node: which are rejected, and which events follow from the others.
#include <algorithm>
#include <array>
#include <utility>

#include "base/json/fields_json.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/session/values.h"
#include "daemon/registry/node_events.h"

namespace perdure {
namespace {

struct TaskTexts {
  std::string_view title;
  std::string_view description;
  // The bytes of all other tasks.
  std::size_t others = 0;
};

Result<> check_texts(const TaskTexts& texts) {
  if (texts.title.empty()) return fail(Code::invalid_argument, "title: a task needs one");
  if (texts.description.size() > task_description_bytes_max) {
    return fail(Code::limit_reached,
                "description: at most " + std::to_string(task_description_bytes_max) + " bytes");
  }
  if (texts.others + texts.title.size() + texts.description.size() > tasks_bytes_max) {
    return fail(Code::limit_reached,
                "all tasks together hold at most " + std::to_string(tasks_bytes_max) + " bytes");
  }
  return {};
}

std::size_t bytes_without(const NodeState& state, TaskId task) {
  std::size_t bytes = 0;
  for (const auto& [id, other] : state.tasks) {
    if (id != task) bytes += other.title.size() + other.description.size();
  }
  return bytes;
}

// The title, or the first line of the description.
std::string title_of(const CreateTask& command) {
  std::string_view title = command.title;
  if (title.empty()) {
    title = command.description;
    title = title.substr(0, title.find('\n'));
  }
  return std::string(utf8_prefix(title, title_bytes_max));
}

std::string id_answer(const std::string& id) {
  return JsonWriter().begin_object().key("id").string(id).end_object().text();
}

template <class Row>
bool is_expired(const Row& row, Timestamp now) {
  return row.expires && *row.expires <= now;
}

// The expired row that expired first, if there is one.
template <class Row>
const Row* first_expired(const std::map<std::string, Row>& rows, Timestamp now) {
  const Row* first = nullptr;
  for (const auto& [id, row] : rows) {
    if (is_expired(row, now) && (!first || row.expires < first->expires)) first = &row;
  }
  return first;
}

Result<> check_name(std::string_view field, std::string_view text) {
  if (text.size() <= node_name_bytes_max) return {};
  return fail(Code::invalid_argument,
              std::string(field) + ": at most " + std::to_string(node_name_bytes_max) + " bytes");
}

Result<NodeDecision> on(const NodeState& state, const NodeInput& input, const CreateTask& command) {
  if (state.tasks.size() >= tasks_max) {
    return fail(Code::limit_reached, "there are " + std::to_string(tasks_max) + " tasks already");
  }
  IdSource ids(input.now, input.id_seed);
  Task task{.id = ids.next<TaskId>(),
            .title = title_of(command),
            .description = command.description,
            .created = input.now,
            .by = input.by};
  TRY_VOID(check_texts({task.title, task.description, bytes_without(state, task.id)}));
  std::string answer = id_answer(task.id.text());
  return NodeDecision{{TaskCreated{std::move(task)}}, std::move(answer)};
}

Result<NodeDecision> on(const NodeState& state, const NodeInput& input, const ChangeTask& command) {
  const auto at = state.tasks.find(command.task);
  if (at == state.tasks.end()) return fail(Code::not_found, "no task " + command.task.text());
  Task task = at->second;
  TaskChanged event{.task = task.id, .by = input.by};
  if (command.change.title && *command.change.title != task.title) {
    task.title = utf8_prefix(*command.change.title, title_bytes_max);
    event.title = task.title;
  }
  if (command.change.description && *command.change.description != task.description) {
    task.description = *command.change.description;
    event.description = task.description;
  }
  TRY_VOID(check_texts({task.title, task.description, bytes_without(state, task.id)}));
  NodeDecision decision{{}, id_answer(task.id.text())};
  if (event.title || event.description) decision.events.push_back(std::move(event));
  return decision;
}

Result<NodeDecision> on(const NodeState& state, const NodeInput& input, const DeleteTask& command) {
  if (!state.tasks.contains(command.task)) {
    return fail(Code::not_found, "no task " + command.task.text());
  }
  return NodeDecision{{TaskDeleted{command.task, input.by}}};
}

Result<NodeDecision> on(const NodeState& state, const NodeInput& input, const AddToken& command) {
  const TokenRow& row = command.row;
  TRY_VOID(check_name("name", row.name));
  if (row.id.empty() || state.tokens.contains(row.id)) {
    return fail(Code::conflict, "there is a token " + row.id + " already");
  }
  if (row.sessions.size() > token_sessions_max) {
    return fail(Code::limit_reached,
                "a token names at most " + std::to_string(token_sessions_max) + " sessions");
  }
  if (is_expired(row, input.now)) return fail(Code::invalid_argument, "expires: it has passed");
  NodeDecision decision{{}, id_answer(row.id)};
  if (state.tokens.size() >= tokens_max) {
    const TokenRow* gone = first_expired(state.tokens, input.now);
    if (!gone) {
      return fail(Code::limit_reached,
                  "there are " + std::to_string(tokens_max) + " tokens already: revoke some");
    }
    decision.events.push_back(ApiTokenRevoked{{gone->id, "system"}});
  }
  decision.events.push_back(ApiTokenCreated{row});
  return decision;
}

Result<NodeDecision> on(const NodeState& state, const NodeInput& input, const AddBrowser& command) {
  const BrowserRow& row = command.row;
  if (row.id.empty() || state.browsers.contains(row.id)) {
    return fail(Code::conflict, "there is a browser " + row.id + " already");
  }
  NodeDecision decision{{}, id_answer(row.id)};
  if (state.browsers.size() >= browsers_max) {
    const BrowserRow* gone = first_expired(state.browsers, input.now);
    if (!gone) {
      gone = &std::ranges::min_element(state.browsers, {}, [](const auto& entry) {
                return entry.second.created;
              })->second;
    }
    decision.events.push_back(BrowserRevoked{{gone->id, "system"}});
  }
  decision.events.push_back(BrowserAdded{row});
  return decision;
}

// For one more rule of this id.
Result<> check_room(const NodeState& state, const std::string& id) {
  if (id.empty() || state.rules.contains(id) || state.typed_rules.contains(id)) {
    return fail(Code::conflict, "there is a rule " + id + " already");
  }
  if (state.rules.size() + state.typed_rules.size() >= rules_max) {
    return fail(Code::limit_reached, "there are " + std::to_string(rules_max) + " rules already");
  }
  return {};
}

Result<NodeDecision> on(const NodeState& state, const NodeInput&, const AddRule& command) {
  const PermissionRule& rule = command.rule;
  TRY_VOID(check_exact_rule(rule));
  TRY_VOID(check_room(state, rule.id));
  return NodeDecision{{RuleAdded{rule}}, id_answer(rule.id)};
}

Result<NodeDecision> on(const NodeState& state, const NodeInput&, const AddTypedRule& command) {
  TRY_VOID(check_typed_rule(command.rule));
  TRY_VOID(check_room(state, command.rule.id));
  return NodeDecision{{TypedRuleAdded{command.rule}}, id_answer(command.rule.id)};
}

template <class Ended, class Rows>
Result<NodeDecision> end_row(const Rows& rows, const std::string& id, const std::string& by) {
  if (!rows.contains(id)) return fail(Code::not_found, "there is none with the id '" + id + "'");
  return NodeDecision{{Ended{{id, by}}}};
}

Result<NodeDecision> on(const NodeState& state, const NodeInput& input, const RevokeToken& c) {
  return end_row<ApiTokenRevoked>(state.tokens, c.id, input.by);
}
Result<NodeDecision> on(const NodeState& state, const NodeInput& input, const RevokeBrowser& c) {
  return end_row<BrowserRevoked>(state.browsers, c.id, input.by);
}
Result<NodeDecision> on(const NodeState& state, const NodeInput& input, const RemoveRule& c) {
  if (state.typed_rules.contains(c.id)) {
    return end_row<RuleRemoved>(state.typed_rules, c.id, input.by);
  }
  return end_row<RuleRemoved>(state.rules, c.id, input.by);
}

// A repeated deletion counts once. If the session has continued since, it is a different one.
Result<NodeDecision> on(const NodeState& state, const NodeInput&, const AddTombstone& command) {
  if (!command.tombstone.session) return fail(Code::invalid_argument, "session_id: it is missing");
  const auto known = state.tombstones.find(command.tombstone.session);
  if (known != state.tombstones.end() && known->second.last_hash == command.tombstone.last_hash) {
    return NodeDecision{};
  }
  Tombstone tombstone = command.tombstone;
  tombstone.title = utf8_prefix(tombstone.title, title_bytes_max);
  return NodeDecision{{SessionDeleted{std::move(tombstone)}}};
}

// Rules that answer by a text which nobody can read any more are no rules for people.
Result<NodeDecision> on(const NodeState& state, const NodeInput& input, const RedactNode& command) {
  for (const std::string& id : command.ids) {
    if (!state.rules.contains(id) && !state.typed_rules.contains(id)) continue;
    return fail(Code::conflict,
                id + " still answers questions. Remove the rule first: perdure rules rm " + id);
  }
  return NodeDecision{{NodeRedacted{command.ids, input.by}}};
}

}  // namespace

Result<> check_exact_rule(const PermissionRule& rule) {
  constexpr std::array kinds{"allow_once", "allow_always", "reject_once", "reject_always"};
  if (rule.title.empty()) {
    return fail(Code::invalid_argument, "title: a rule names the question exactly");
  }
  if (std::ranges::find(kinds, rule.option_kind) == kinds.end()) {
    return fail(Code::invalid_argument,
                "option_kind: expected allow_once, allow_always, reject_once or reject_always");
  }
  if (may_be_cut(rule.title)) {
    return fail(
        Code::invalid_argument,
        "title: of a question that long only the beginning may be shown, so no rule answers "
        "it: a person does");
  }
  return check_name("agent", rule.agent);
}

bool is_essential(const NodeCommand& command) {
  return std::holds_alternative<RevokeToken>(command) ||
         std::holds_alternative<RevokeBrowser>(command) ||
         std::holds_alternative<RemoveRule>(command) ||
         std::holds_alternative<DeleteTask>(command) || std::holds_alternative<RedactNode>(command);
}

bool shows_secret(const NodeCommand& command) {
  return std::holds_alternative<AddToken>(command) || std::holds_alternative<AddBrowser>(command);
}

Result<NodeDecision> decide(const NodeState& state, const NodeInput& input) {
  return std::visit([&](const auto& command) { return on(state, input, command); }, input.command);
}

}  // namespace perdure
