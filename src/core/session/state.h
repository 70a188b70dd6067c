// A session's state as far as decisions need it: the fold of its journal. Bounded: it holds only
// the open parts of the conversation. Only evolve() changes it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/shared_value.h"
#include "core/session/events.h"

namespace perdure {

// A prompt that was accepted but not sent.
struct QueuedPrompt {
  MessageId message;
  RunId run;
  SharedValue<Prompt> prompt;  // up to 8 MiB each, and every event copies the state
  std::string key;
  std::string by;
  bool held = false;      // after failed, interrupted or stopped: until a person acts (C23, N11)
  bool steering = false;  // agentctl may still report that it reached the turn it was meant for
  bool operator==(const QueuedPrompt&) const = default;
  FIELDS {
    visit("message_id", self.message);
    visit("for_run", self.run);
    self.prompt.fields(visit);
    visit("key", self.key);
    visit("by", self.by);
    visit("held", self.held);
    visit("steering", self.steering);
  }
};

// A usable wait token and what it answers.
struct Wait {
  WaitTokenId token;
  Hash secret_hash;
  WaitKind kind = WaitKind::permission;
  RunId run;                // null: asked outside any run
  PermissionId permission;  // null for a plain input wait
  std::optional<Deadline> deadline;
  Timestamp since;
  std::uint64_t since_seq = 0;  // the record that opened it
  bool operator==(const Wait&) const = default;
  FIELDS {
    visit("token_id", self.token);
    visit("secret_hash", self.secret_hash);
    visit("wait_kind", self.kind);
    visit("run_id", self.run);
    visit("perm_id", self.permission);
    visit("deadline", self.deadline);
    visit("since", self.since);
    visit("since_seq", self.since_seq);
  }
};

// A closed token, kept for a while so that a late caller learns why.
struct ClosedWait {
  WaitTokenId token;
  PermissionId permission;
  RunId run;
  WaitKind kind = WaitKind::permission;
  Hash secret_hash;
  TokenStatus status = TokenStatus::revoked;
  PermissionOutcome outcome = PermissionOutcome::cancelled;
  std::string option_id;
  std::string by;
  std::string option_name = {};
  bool operator==(const ClosedWait&) const = default;
  FIELDS {
    visit("token_id", self.token);
    visit("perm_id", self.permission);
    visit("run_id", self.run);
    visit("wait_kind", self.kind);
    visit("secret_hash", self.secret_hash);
    visit("status", self.status);
    visit("outcome", self.outcome);
    visit("option_id", self.option_id);
    visit("option_name", self.option_name);
    visit("by", self.by);
  }
};

struct Permission {
  PermissionId permission;
  std::string request;
  ExecId exec;  // N7, X18: an answer is valid only for its own request, in the life that asked
  Gen gen = 0;
  std::string tool_call_id;
  std::string title;
  std::vector<PermissionOption> options;
  Timestamp asked;
  std::uint64_t options_left_out = 0;
  std::string digest = {};  // of the whole question; empty: read from an older snapshot
  bool operator==(const Permission&) const = default;
  FIELDS {
    visit("perm_id", self.permission);
    visit("request", self.request);
    visit("exec_id", self.exec);
    visit("gen", self.gen);
    visit("tool_call_id", self.tool_call_id);
    visit("title", self.title);
    visit("options", self.options);
    visit("asked", self.asked);
    visit("options_left_out", self.options_left_out);
    visit("digest", self.digest);
  }
};

struct Run {
  RunId id;
  MessageId message;
  BootId boot;
  ExecId exec;
  Gen gen = 0;
  Timestamp started;
  bool cancelling = false;
  std::string cancelled_by;
  bool operator==(const Run&) const = default;
  FIELDS {
    visit("run_id", self.id);
    visit("message_id", self.message);
    visit("boot_id", self.boot);
    visit("exec_id", self.exec);
    visit("gen", self.gen);
    visit("started", self.started);
    visit("cancelling", self.cancelling);
    visit("cancelled_by", self.cancelled_by);
  }
};

enum class RunEnd { completed, failed, cancelled, interrupted };
ENUM_TEXT(RunEnd, "completed", "failed", "cancelled", "interrupted");

struct EndedRun {
  RunId id;
  RunEnd end = RunEnd::completed;
  std::optional<InterruptReason> interrupted;
  std::string code;  // of a failure
  std::string message;
  Timestamp ended;
  bool operator==(const EndedRun&) const = default;
  FIELDS {
    visit("run_id", self.id);
    visit("end", self.end);
    visit("interrupted", self.interrupted);
    visit("code", self.code);
    visit("message", self.message);
    visit("ended", self.ended);
  }
};

// The provider limit that a session waits for, and how often it has continued automatically.
struct LimitWait {
  RunId run;  // the run that met it
  Timestamp reset_at;
  Deadline until;
  bool tools_open = false;
  bool operator==(const LimitWait&) const = default;
  FIELDS {
    visit("run_id", self.run);
    visit("reset_at", self.reset_at);
    visit("until", self.until);
    visit("tools_open", self.tools_open);
  }
};
struct LimitSeries {
  Timestamp since;  // the first limit of the series
  std::int64_t continued = 0;
  bool operator==(const LimitSeries&) const = default;
  FIELDS {
    visit("since", self.since);
    visit("continued", self.continued);
  }
};

// The agent's progress in an execution.
enum class AgentPhase { none, starting, opening, ready };
ENUM_TEXT(AgentPhase, "none", "starting", "opening", "ready");

// One life of an agentctl and its descendants.
struct Execution {
  ExecId id;
  Gen gen = 0;
  ExecutorStatus status = ExecutorStatus::none;
  AgentPhase agent = AgentPhase::none;
  AgentAbilities abilities;
  OpenMethod opening = OpenMethod::resume;  // while agent == opening
  std::vector<OpenAttempt> attempts;        // rungs that failed in this ladder
  bool stop_requested = false;
  bool gone = false;  // proved: no process of this life is left (PROC3)
  BootId boot;        // the daemon boot that started or last reattached it
  std::string host_boot;
  std::string home;  // which daemons can reach it, if there are several; empty: one
  Deadline ready_by;
  std::string runtime;
  std::string url;
  std::string instance;
  std::int64_t pid = 0;
  std::int64_t pid_started = 0;
  std::string container_id;
  bool supports_workspace_only = true;
  bool tells_steered = false;
  std::string confinement;  // full, partial, none; empty: unknown
  std::string confinement_reason;
  Timestamp last_seen;
  std::string error_code;
  std::string error_message;
  bool operator==(const Execution&) const = default;
  FIELDS {
    visit("exec_id", self.id);
    visit("gen", self.gen);
    visit("status", self.status);
    visit("agent", self.agent);
    visit("abilities", self.abilities);
    visit("opening", self.opening);
    visit("attempts", self.attempts);
    visit("stop_requested", self.stop_requested);
    visit("gone", self.gone);
    visit("boot_id", self.boot);
    visit("host_boot", self.host_boot);
    visit("home", self.home);
    visit("ready_by", self.ready_by);
    visit("runtime", self.runtime);
    visit("agentctl_url", self.url);
    visit("instance", self.instance);
    visit("pid", self.pid);
    visit("pid_started", self.pid_started);
    visit("container_id", self.container_id);
    visit("supports_workspace_only", self.supports_workspace_only);
    visit("tells_steered", self.tells_steered);
    visit("confinement", self.confinement);
    visit("confinement_reason", self.confinement_reason);
    visit("last_seen", self.last_seen);
    visit("error_code", self.error_code);
    visit("error_message", self.error_message);
  }
};

// The agent's knowledge of the session, and its id there.
struct Context {
  std::string agent_session_id;  // empty: none yet, or discarded by an explicit fresh start
  bool rejected = false;         // K37: the agent reported that it does not know the id
  std::string cwd;               // X13
  std::optional<BoundaryHow> how;
  Verified verified = Verified::none;
  std::uint64_t boundary = 0;  // seq of the last boundary
  std::uint64_t prompts = 0;   // sent under this id
  std::uint64_t turns = 0;     // completed under this id
  bool inject_armed = false;
  std::uint64_t history_from = 0;     // history counts after this seq: the last clear (X26)
  std::uint64_t history_prompts = 0;  // user prompts since then
  std::string last_agent_message_id;  // K42: the last message that the agent gave an id
  Timestamp opened;                   // when the agent last created or restored the session
  bool operator==(const Context&) const = default;
  FIELDS {
    visit("agent_session_id", self.agent_session_id);
    visit("rejected", self.rejected);
    visit("cwd", self.cwd);
    visit("how", self.how);
    visit("verified", self.verified);
    visit("boundary", self.boundary);
    visit("prompts", self.prompts);
    visit("turns", self.turns);
    visit("inject_armed", self.inject_armed);
    visit("history_from", self.history_from);
    visit("history_prompts", self.history_prompts);
    visit("last_agent_message_id", self.last_agent_message_id);
    visit("opened", self.opened);
  }
};

// An error that a person should see; cleared by the next success.
struct Failure {
  std::string state;  // the K/L state to show: ERROR or FAILED; empty: message only (C22)
  std::string code;
  std::string message;
  bool operator==(const Failure&) const = default;
  FIELDS {
    visit("state", self.state);
    visit("code", self.code);
    visit("message", self.message);
  }
};

struct State;
// The outcome of the limit in the state if its reset comes at this time.
LimitOutcome limit_outcome(const State& state, Timestamp at);

struct State {
  State();
  State(const State&);
  State(State&&) noexcept;
  State& operator=(const State&);
  State& operator=(State&&) noexcept;
  ~State();
  bool operator==(const State&) const;

  std::uint64_t head = 0;  // seq of the last folded record
  SessionId id;
  TaskId task;
  std::string title;
  AgentProfile agent;
  Workspace workspace;
  Policy policy;
  std::string runtime;
  std::string image;    // of its containers, if the runtime uses them
  std::string remote;   // the host of its executions, if remote
  SessionId parent;     // the session whose process created this one; null: none
  RawJson mcp_servers;  // an array; absent: none
  Timestamp created;
  Timestamp updated;
  bool archived = false;
  std::string stop_reason;  // of the last stop or crash, until new work starts (C3, A26)

  std::map<std::string, std::string> options;    // last observed: mode, model, others (R9)
  std::map<std::string, std::string> requested;  // requested by a person and not yet observed

  Execution exec;
  Context context;
  std::optional<ResumeRequested> resume;  // the ladder's current request, until it ends
  std::optional<Failure> failure;

  std::optional<Run> run;
  std::optional<EndedRun> last_run;
  std::uint64_t runs = 0;
  std::deque<QueuedPrompt> queue;
  bool queue_held = false;                  // some of the queue is held
  bool auto_continued = false;              // C11: once per interruption
  std::optional<LimitWait> limit;           // until its reset, or until a run starts
  std::optional<LimitSeries> limit_series;  // since a run ended well or a person prompted

  std::map<WaitTokenId, Wait> waits;
  std::map<PermissionId, Permission> permissions;  // open ones
  std::deque<ClosedWait> closed_waits;             // the newest waits_closed_kept

  bool message_open = false;                      // an agent message streams
  std::map<std::string, std::string> open_tools;  // tool call id -> title
  BootId last_boot;                               // the last daemon boot that wrote here
  std::string status;                             // the last status.derived
  FIELDS {
    visit("head", self.head);
    visit("session_id", self.id);
    visit("task_id", self.task);
    visit("title", self.title);
    visit("agent", self.agent);
    visit("workspace", self.workspace);
    visit("policy", self.policy);
    visit("runtime", self.runtime);
    visit("image", self.image);
    visit("remote", self.remote);
    visit("created", self.created);
    visit("updated", self.updated);
    visit("archived", self.archived);
    visit("stop_reason", self.stop_reason);
    visit("options", self.options);
    visit("requested", self.requested);
    visit("exec", self.exec);
    visit("context", self.context);
    visit("resume", self.resume);
    visit("failure", self.failure);
    visit("run", self.run);
    visit("last_run", self.last_run);
    visit("runs", self.runs);
    visit("queue", self.queue);
    visit("queue_held", self.queue_held);
    visit("auto_continued", self.auto_continued);
    visit("waits", self.waits);
    visit("permissions", self.permissions);
    visit("closed_waits", self.closed_waits);
    visit("message_open", self.message_open);
    visit("open_tools", self.open_tools);
    visit("last_boot", self.last_boot);
    visit("status", self.status);
    visit("mcp_servers", self.mcp_servers);
    visit("limit", self.limit);
    visit("limit_series", self.limit_series);
    visit("parent", self.parent);
  }
};

}  // namespace perdure
