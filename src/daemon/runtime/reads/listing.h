// A session's row in the list of sessions, made only from its state. It holds everything that a
// list, the inbox and the table of executors need, so that they load no session (U15).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/session/state.h"
#include "core/views/inbox.h"
#include "core/views/read_model.h"
#include "daemon/runtime/shared.h"
#include "store/store.h"

namespace perdure {

// A session's execution in the table of executors (L8).
struct ExecutorSummary {
  ExecId exec;
  std::uint64_t gen = 0;
  ExecutorStatus status = ExecutorStatus::none;
  std::string runtime;
  std::string url;
  std::string container_id;
  std::string confinement;  // as in Execution
  std::string confinement_reason;
  std::int64_t pid = 0;
  bool supports_session_resume = false;
  bool supports_workspace_only = false;
  std::string resume_token;
  Workspace workspace;
  Timestamp last_seen;
  std::string error_message;
  bool operator==(const ExecutorSummary&) const = default;
  FIELDS {
    visit("id", self.exec);
    visit("gen", self.gen);
    visit("status", self.status);
    visit("runtime", self.runtime);
    visit("url", self.url);
    visit("container_id", self.container_id);
    visit("confinement", self.confinement);
    visit("confinement_reason", self.confinement_reason);
    visit("pid", self.pid);
    visit("supports_session_resume", self.supports_session_resume);
    visit("supports_workspace_only", self.supports_workspace_only);
    visit("resume_token", self.resume_token);
    visit("workspace", self.workspace);
    visit("last_seen_at", self.last_seen);
    visit("error_message", self.error_message);
  }
};

// The summary in a listing. A projection: members that an older version did not write read as the
// defaults here.
struct SessionSummary {
  std::string title;
  std::string agent;
  Status status = Status::idle;
  SessionState state = SessionState::waiting_for_input;
  std::string stop_reason;
  std::string cwd;
  TaskId task;
  Timestamp created;
  std::uint64_t pending = 0;
  Timestamp pending_since;  // of the oldest open question
  std::uint64_t queue = 0;
  bool queue_held = false;
  bool needs_resume = false;
  bool is_resumable = false;
  std::string error;
  std::string error_code;
  std::optional<LimitView> limit;
  std::vector<InboxItem> inbox;  // without ages
  std::optional<ExecutorSummary> executor;
  bool copying = false;  // an incomplete fork: not a session yet
  SessionId parent;      // the session whose process created this one
  bool operator==(const SessionSummary&) const = default;
  FIELDS {
    visit("title", self.title);
    visit("agent", self.agent);
    visit("status", self.status);
    visit("state", self.state);
    visit("stop_reason", self.stop_reason);
    visit("cwd", self.cwd);
    visit("task_id", self.task);
    visit("created", self.created);
    visit("pending", self.pending);
    visit("pending_since", self.pending_since);
    visit("queue_length", self.queue);
    visit("queue_held", self.queue_held);
    visit("needs_resume", self.needs_resume);
    visit("is_resumable", self.is_resumable);
    visit("error_message", self.error);
    visit("inbox", self.inbox);
    visit("executor", self.executor);
    visit("copying", self.copying);
    visit("error_code", self.error_code);
    visit("limit", self.limit);
    visit("parent", self.parent);
  }
};

SessionSummary summarize(const State& state, const World& world);
// Never fails: unreadable parts (another version's, damaged) get their defaults.
SessionSummary read_summary(const std::string& json);

// Whether reconcile has to examine the session after a restart. `has_effects`: its outbox has rows.
bool is_open(const State& state, bool has_effects);

Listing make_listing(const ActorShared& shared, const State& state, bool has_effects);

}  // namespace perdure
