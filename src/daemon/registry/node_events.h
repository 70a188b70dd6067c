// The events of a node and how commands become events: pure like a session's machine. evolve()
// never rejects an event, because the journal is true; an unknown kind only advances the head.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json/fields.h"
#include "base/json/json.h"
#include "base/result.h"
#include "daemon/registry/node.h"

namespace perdure {

struct TaskCreated {
  static constexpr std::string_view kind = "task.created";
  Task task;
  bool operator==(const TaskCreated&) const = default;
  FIELDS { self.task.fields(visit); }
};

// Only fields that are present change.
struct TaskChanged {
  static constexpr std::string_view kind = "task.changed";
  TaskId task;
  std::optional<std::string> title;
  std::optional<std::string> description;
  std::string by;
  bool operator==(const TaskChanged&) const = default;
  FIELDS {
    visit("task_id", self.task);
    visit("title", self.title);
    visit("description", self.description);
    visit("by", self.by);
  }
};

struct TaskDeleted {
  static constexpr std::string_view kind = "task.deleted";
  TaskId task;
  std::string by;
  bool operator==(const TaskDeleted&) const = default;
  FIELDS {
    visit("task_id", self.task);
    visit("by", self.by);
  }
};

struct ApiTokenCreated {
  static constexpr std::string_view kind = "token.created";
  TokenRow row;
  bool operator==(const ApiTokenCreated&) const = default;
  FIELDS { self.row.fields(visit); }
};

struct BrowserAdded {
  static constexpr std::string_view kind = "browser.added";
  BrowserRow row;
  bool operator==(const BrowserAdded&) const = default;
  FIELDS { self.row.fields(visit); }
};

struct RuleAdded {
  static constexpr std::string_view kind = "rule.added";
  PermissionRule rule;
  bool operator==(const RuleAdded&) const = default;
  FIELDS { self.rule.fields(visit); }
};

struct TypedRuleAdded {
  static constexpr std::string_view kind = "typed_rule.added";
  TypedRule rule;
  bool operator==(const TypedRuleAdded&) const = default;
  FIELDS { self.rule.fields(visit); }
};

// A token, a browser session or a rule has ended.
struct RowEnded {
  std::string id;
  std::string by;
  bool operator==(const RowEnded&) const = default;
  FIELDS {
    visit("id", self.id);
    visit("by", self.by);
  }
};
struct ApiTokenRevoked : RowEnded {
  static constexpr std::string_view kind = "token.revoked";
};
struct BrowserRevoked : RowEnded {
  static constexpr std::string_view kind = "browser.revoked";
};
struct RuleRemoved : RowEnded {
  static constexpr std::string_view kind = "rule.removed";
};

struct SessionDeleted {
  static constexpr std::string_view kind = "session.deleted";
  Tombstone tombstone;
  bool operator==(const SessionDeleted&) const = default;
  FIELDS { self.tombstone.fields(visit); }
};

// The texts of these tasks, tokens, rules and deleted sessions are no more; tombstones take the
// place of the records that held them.
struct NodeRedacted {
  static constexpr std::string_view kind = "node.redacted";
  std::vector<std::string> ids;
  std::string by;
  bool operator==(const NodeRedacted&) const = default;
  FIELDS {
    visit("ids", self.ids);
    visit("by", self.by);
  }
};

// Of a later version; it changes nothing but the head.
struct UnknownNodeEvent {
  std::string kind;
  RawJson fields;
  bool operator==(const UnknownNodeEvent&) const = default;
};

using NodeEvent =
    std::variant<TaskCreated, TaskChanged, TaskDeleted, ApiTokenCreated, ApiTokenRevoked,
                 BrowserAdded, BrowserRevoked, RuleAdded, TypedRuleAdded, RuleRemoved,
                 SessionDeleted, NodeRedacted, UnknownNodeEvent>;

std::string_view node_event_kind(const NodeEvent& event);
// The kind's own fields as a JSON object.
std::string encode_node_event(const NodeEvent& event);
// invalid_argument names the field.
Result<NodeEvent> decode_node_event(std::string_view kind, const RawJson& fields);

void evolve(NodeState& state, const NodeEvent& event);

// What the event is about, if it is of a kind that holds text: the id of a task, a token, a rule or
// a deleted session; otherwise empty.
std::string text_id(const NodeEvent& event);
// The event as a tombstone keeps it. Of a rule, which was removed before, nothing that answers.
NodeEvent without_text(NodeEvent event);

struct CreateTask {
  std::string title;
  std::string description;
};
struct ChangeTask {
  TaskId task;
  Node::TaskChange change;
};
struct DeleteTask { TaskId task; };
struct AddToken { TokenRow row; };
struct RevokeToken { std::string id; };
struct AddBrowser { BrowserRow row; };
struct RevokeBrowser { std::string id; };
struct AddRule { PermissionRule rule; };
struct AddTypedRule { TypedRule rule; };
struct RemoveRule { std::string id; };
struct AddTombstone { Tombstone tombstone; };
struct RedactNode { std::vector<std::string> ids; };

using NodeCommand =
    std::variant<CreateTask, ChangeTask, DeleteTask, AddToken, RevokeToken, AddBrowser,
                 RevokeBrowser, AddRule, AddTypedRule, RemoveRule, AddTombstone, RedactNode>;

// What AddRule would be refused for, whatever else is there.
Result<> check_exact_rule(const PermissionRule& rule);

// It revokes a right or a promise, and must also be possible on a full disk.
bool is_essential(const NodeCommand& command);
// Its answer contains a secret that is not stored.
bool shows_secret(const NodeCommand& command);

struct NodeInput {
  Timestamp now;
  std::uint64_t id_seed = 0;
  std::string by;
  NodeCommand command;
};

struct NodeDecision {
  std::vector<NodeEvent> events;
  std::string answer = "{}";  // {"id":…} of what was made: kept for repeats, so without its text
};

// not_found, conflict, invalid_argument or limit_reached; after an error nothing has changed.
Result<NodeDecision> decide(const NodeState& state, const NodeInput& input);

}  // namespace perdure
