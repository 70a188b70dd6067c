// A session as clients read it (L28, L7, O30): every field is derived from the state and from what
// is currently known of the world. Nothing here is stored; nothing is a secret or its hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/session/state.h"
#include "core/session/status.h"

namespace perdure {

// The states of K and L.
enum class SessionState {
  starting,
  running,
  waiting_for_input,
  completed,
  failed,
  cancelled,
  error
};
ENUM_TEXT(SessionState, "STARTING", "RUNNING", "WAITING_FOR_INPUT", "COMPLETED", "FAILED",
          "CANCELLED", "ERROR");

// K12: in these states, an open page resumes the session automatically.
bool is_active(SessionState state);

enum class ResumeReason {
  none,
  agent_not_running,
  agent_not_running_fresh_start,
  not_resumable,
  missing_resume_token
};
ENUM_TEXT(ResumeReason, "", "agent_not_running", "agent_not_running_fresh_start", "not_resumable",
          "missing_resume_token");

struct ResumeVerdict {
  bool needs_resume = false;
  bool is_resumable = false;
  ResumeReason reason = ResumeReason::none;
  bool operator==(const ResumeVerdict&) const = default;
};

// A question that waits for a person. It names the token, never its secret or hash.
struct PendingItem {
  WaitTokenId token;  // null: only for a permission that has none
  WaitKind kind = WaitKind::permission;
  RunId run;
  PermissionId permission;
  std::string tool_call_id;
  std::string title;
  std::vector<PermissionOption> options;
  std::string digest;  // an answer that names it is rejected for any other question
  Timestamp since;
  std::optional<Deadline> deadline;
  bool answerable = true;  // false: its deadline passed, or its agent is gone
  bool operator==(const PendingItem&) const = default;
  FIELDS {
    visit("resume_token_id", self.token);
    visit("wait_kind", self.kind);
    visit("run_id", self.run);
    visit("perm_id", self.permission);
    visit("tool_call_id", self.tool_call_id);
    visit("title", self.title);
    visit("options", self.options);
    visit("digest", self.digest);
    visit("since", self.since);
    visit("deadline", self.deadline);
    visit("answerable", self.answerable);
  }
};

struct QueueItem {
  std::uint64_t position = 0;  // 1 is next
  MessageId message;
  RunId run;
  Prompt prompt;
  std::string by;
  bool held = false;      // until a person acts (N11)
  bool steering = false;  // on its way into the running turn, which may have ended (C23)
  bool operator==(const QueueItem&) const = default;
  FIELDS {
    visit("position", self.position);
    visit("message_id", self.message);
    visit("for_run", self.run);
    self.prompt.fields(visit);
    visit("by", self.by);
    visit("held", self.held);
    visit("steering", self.steering);
  }
};

// The limit that the session waits for. `at_reset`: whether it will then continue, or why not.
struct LimitView {
  Timestamp reset_at;
  LimitOutcome at_reset = LimitOutcome::not_asked;
  bool operator==(const LimitView&) const = default;
  FIELDS {
    visit("reset_at", self.reset_at);
    visit("at_reset", self.at_reset);
  }
};

// The server adds fields that the pure machine cannot know (connections).
struct SessionView {
  std::uint64_t seq = 0;  // the record that this view reflects (C8)
  SessionId session;
  TaskId task;  // null without a task
  std::string title;
  std::string agent;
  Timestamp created;
  Timestamp updated;
  bool archived = false;

  Status status = Status::idle;
  SessionState state = SessionState::waiting_for_input;
  ExecutorStatus executor_status = ExecutorStatus::none;
  Liveness liveness = Liveness::dead;
  std::optional<BoundaryHow> context;
  Verified context_verified = Verified::none;
  std::string stop_reason;
  ResumeVerdict resume;
  std::string error_code;
  std::string error_message;

  std::vector<PendingItem> pending;  // oldest question first
  std::vector<QueueItem> queue;
  bool queue_held = false;

  bool active = false;  // a live agent; equals `is_agent_running`, L28's name
  std::uint64_t active_runs = 0;
  std::uint64_t runs = 0;  // started so far
  std::optional<Run> run;
  std::optional<EndedRun> last_run;

  std::string runtime;
  std::string image;         // of its containers
  std::string remote;        // the host of its executions
  std::string container_id;  // of the current execution
  std::string confinement;   // of the current execution: full, partial, none; empty: unknown
  std::string confinement_reason;
  ExecId agent_execution_id;
  std::optional<std::string> agent_session_id;  // absent: never had one, or the agent rejected it
  std::optional<std::string> resume_token;      // the same, if the agent can use it (K41)
  AgentAbilities acp_caps;                      // A15: as reported by this execution's agent
  bool supports_session_resume = false;
  bool supports_workspace_only = false;
  bool requires_new_session = false;  // L23: derived alias
  Workspace workspace;
  std::map<std::string, std::string> options;

  std::optional<LimitView> limit;  // P13

  bool history_enabled = false;  // K32
  bool needs_resume_context = false;
  bool resume_context_injected = false;
  bool operator==(const SessionView&) const = default;
};

SessionView project_session(const State& state, const World& world);

struct ShownError {
  std::string code;
  std::string message;
};

// The most important error: a failed resume, else an execution that was lost or never started, else
// the last run, else that the session cannot be resumed. Empty if there is none.
ShownError derive_error(const State& state);

// The individual parts of the view.
SessionState derive_state(const State& state, const World& world);
ResumeVerdict derive_resume(const State& state, const World& world);
std::vector<PendingItem> derive_pending(const State& state, const World& world);

std::optional<LimitView> derive_limit(const State& state);

// Whether the execution is alive. Without an execution, nothing is.
Liveness derive_liveness(const State& state, const World& world);

// The agent's id for the session, if it can still resume or load it: assigned, not rejected, of an
// agent that keeps sessions, created for the session's current folder (K41, X13).
std::optional<std::string> usable_agent_session_id(const State& state);

}  // namespace perdure
