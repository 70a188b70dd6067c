// A daemon's data apart from its sessions: tasks, tokens, browser sessions, permission rules and
// tombstones of deleted sessions, in a separate journal (the node journal). Like a session it is a
// pure fold of records, and nothing is visible before it is durable.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/hash.h"
#include "base/id.h"
#include "base/json/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "core/auth/principal.h"
#include "core/rules/rule.h"
#include "env/env.h"
#include "store/store.h"

namespace perdure {

struct Task {
  TaskId id;
  std::string title;
  std::string description;  // the initial prompt
  Timestamp created;
  std::string by;
  bool operator==(const Task&) const = default;
  FIELDS {
    visit("task_id", self.id);
    visit("title", self.title);
    visit("description", self.description);
    visit("created", self.created);
    visit("by", self.by);
  }
};

// An API token. Its text is shown once and never stored, only its SHA-256.
struct TokenRow {
  std::string id;  // tok_<ulid>
  std::string name;
  Scope scope = Scope::operate;
  std::vector<SessionId> sessions;  // empty: all
  Hash text_hash;
  Timestamp created;
  std::optional<Timestamp> expires;
  std::string by;
  bool operator==(const TokenRow&) const = default;
  FIELDS {
    visit("id", self.id);
    visit("name", self.name);
    visit("scope", self.scope);
    visit("sessions", self.sessions);
    visit("text_hash", self.text_hash);
    visit("created", self.created);
    visit("expires", self.expires);
    visit("by", self.by);
  }
};

// A browser that exchanged a launch token. It needs cookie and key; only hashes are stored.
struct BrowserRow {
  std::string id;  // br_<ulid>
  Hash cookie_hash;
  Hash key_hash;
  Timestamp created;
  std::optional<Timestamp> expires;
  std::string by;
  bool operator==(const BrowserRow&) const = default;
  FIELDS {
    visit("id", self.id);
    visit("cookie_hash", self.cookie_hash);
    visit("key_hash", self.key_hash);
    visit("created", self.created);
    visit("expires", self.expires);
    visit("by", self.by);
  }
};

// An answer given in advance. Every field that is set must be equal, character by character; there
// are no patterns (GHSA-943q-mwmv-hhvh).
struct PermissionRule {
  std::string id;           // rule_<ulid>
  SessionId session;        // null: every session
  std::string agent;        // empty: every agent
  std::string title;        // of the question, exact; never empty
  std::string option_kind;  // which option to choose: allow_once, reject_once, …
  Timestamp created;
  std::string by;
  bool operator==(const PermissionRule&) const = default;
  FIELDS {
    visit("id", self.id);
    visit("session_id", self.session);
    visit("agent", self.agent);
    visit("title", self.title);
    visit("option_kind", self.option_kind);
    visit("created", self.created);
    visit("by", self.by);
  }
};

// The session is to be deleted in exactly this state. If it has changed since, it stays.
struct Tombstone {
  SessionId session;
  std::string title;
  Timestamp deleted;
  std::string by;
  Hash last_hash;  // of its last record; null if unreadable
  bool operator==(const Tombstone&) const = default;
  FIELDS {
    visit("session_id", self.session);
    visit("title", self.title);
    visit("deleted", self.deleted);
    visit("by", self.by);
    visit("last_hash", self.last_hash);
  }
};

struct NodeState {
  std::uint64_t head = 0;
  std::map<TaskId, Task> tasks;
  std::map<std::string, TokenRow> tokens;
  std::map<std::string, BrowserRow> browsers;
  std::map<std::string, PermissionRule> rules;
  std::map<std::string, TypedRule> typed_rules;
  std::map<SessionId, Tombstone> tombstones;
  bool operator==(const NodeState&) const = default;
  FIELDS {
    visit("head", self.head);
    visit("tasks", self.tasks);
    visit("tokens", self.tokens);
    visit("browsers", self.browsers);
    visit("rules", self.rules);
    visit("typed_rules", self.typed_rules);
    visit("tombstones", self.tombstones);
  }
};

// A repeated key with an equal body gets the first answer.
struct NodeRequest {
  std::string by;
  std::string key;
  Hash body_hash;
};

class Node {
 public:
  using OnTask = std::move_only_function<void(Result<Task>)>;
  using OnDone = std::move_only_function<void(Result<>)>;

  struct World {
    Clock& clock;
    Random& random;
    Loop& loop;
    Store& store;
  };
  // Reads the node journal. `damaged` if it is unreadable: the daemon then does not serve.
  static Result<std::unique_ptr<Node>> open(World world);
  virtual ~Node() = default;

  // Committed state only.
  virtual const NodeState& state() const = 0;

  virtual void create_task(NodeRequest request, std::string title, std::string description,
                           OnTask done) = 0;
  struct TaskChange {
    std::optional<std::string> title;
    std::optional<std::string> description;
  };
  virtual void change_task(NodeRequest request, TaskId task, TaskChange change, OnTask done) = 0;
  virtual void delete_task(NodeRequest request, TaskId task, OnDone done) = 0;

  // The rows are complete, with ids and hashes. The answer contains a secret that is not stored: a
  // repeated key fails with secret_already_shown, and shown_id() returns the id.
  virtual void add_token(NodeRequest request, TokenRow row, OnDone done) = 0;
  virtual void revoke_token(NodeRequest request, std::string id, OnDone done) = 0;
  virtual void add_browser(NodeRequest request, BrowserRow row, OnDone done) = 0;
  virtual void revoke_browser(NodeRequest request, std::string id, OnDone done) = 0;
  virtual void add_rule(NodeRequest request, PermissionRule rule, OnDone done) = 0;
  virtual void add_typed_rule(NodeRequest request, TypedRule rule, OnDone done) = 0;
  // Removes a rule of either kind.
  virtual void remove_rule(NodeRequest request, std::string id, OnDone done) = 0;
  virtual void add_tombstone(NodeRequest request, Tombstone tombstone, OnDone done) = 0;

  // Takes the texts of tasks, tokens and deleted sessions out of the state, and says so in the
  // journal; redact_node() then destroys them in the records. conflict for a rule that is there.
  virtual void redact(NodeRequest request, std::vector<std::string> ids, OnDone done) = 0;

  // The id of the token or browser that was made under this key. not_found when none was.
  virtual Result<std::string> shown_id(const std::string& key) = 0;

  // Called after each commit, until the returned number is passed to unwatch().
  virtual std::uint64_t watch(std::function<void()> changed) = 0;
  virtual void unwatch(std::uint64_t number) = 0;

  // Reads what other daemons of a shared store wrote; false if nothing.
  virtual Result<bool> catch_up() = 0;

  // The id of this journal in the store. It is not listed with the sessions.
  static SessionId journal_id();
};

}  // namespace perdure
