// Everything that can happen to a session: one struct per kind of journal record, with the
// contract's names. A struct's field list is its record format. Kinds and fields are only added.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/hash.h"
#include "base/json/one_of.h"
#include "core/session/values.h"

namespace perdure {

#define RECORD_KIND(Event, text)                      \
  static constexpr std::string_view kind_text = text; \
  bool operator==(const Event&) const = default

// Session.
struct SessionCreated {
  SessionId session;
  TaskId task;
  std::string title;
  AgentProfile agent;
  Workspace workspace;
  Policy policy;
  std::string runtime = "standalone";
  std::vector<std::string> env_names;  // K19: values never enter the journal
  std::string by;
  RawJson mcp_servers;  // an array as in ACP; absent: none
  std::string image;    // of its containers, if the runtime uses them
  std::string remote;   // the host of its executions, by its configured name
  SessionId parent;     // the session whose process created this one; null: none
  RECORD_KIND(SessionCreated, "session.created");
  FIELDS {
    visit("session_id", self.session);
    visit("task_id", self.task);
    visit("title", self.title);
    visit("agent", self.agent);
    visit("workspace", self.workspace);
    visit("policy", self.policy);
    visit("runtime", self.runtime);
    visit("env_names", self.env_names);
    visit("by", self.by);
    visit("mcp_servers", self.mcp_servers);
    visit("image", self.image);
    visit("remote", self.remote);
    visit("parent", self.parent);
  }
};
struct SessionRenamed {
  std::string title;
  RECORD_KIND(SessionRenamed, "session.renamed");
  FIELDS { visit("title", self.title); }
};
// Only fields that are present change.
struct SessionConfigured {
  std::optional<Policy> policy;
  std::optional<Workspace> workspace;          // C13: rebound after the old one went missing
  std::map<std::string, std::string> options;  // requested: mode, model, others
  std::optional<TaskId> task;                  // a null id: remove it from its task
  RawJson mcp_servers;                         // an array; used by the next execution
  RECORD_KIND(SessionConfigured, "session.config");
  FIELDS {
    visit("policy", self.policy);
    visit("workspace", self.workspace);
    visit("options", self.options);
    visit("task_id", self.task);
    visit("mcp_servers", self.mcp_servers);
  }
};
struct SessionStopped {
  std::string reason;  // completed, cancelled, stopped_by_user, agent_crashed, error …
  std::string by;
  RECORD_KIND(SessionStopped, "session.stopped");
  FIELDS {
    visit("reason", self.reason);
    visit("by", self.by);
  }
};
struct SessionArchived {
  std::string by;
  RECORD_KIND(SessionArchived, "session.archived");
  FIELDS { visit("by", self.by); }
};
struct SessionUnarchived {
  std::string by;
  RECORD_KIND(SessionUnarchived, "session.unarchived");
  FIELDS { visit("by", self.by); }
};

// The source of an adopted session: another program's own file (docs/adopt.md). The records before
// this one were read from that file.
struct SessionAdopted {
  std::string agent;
  std::string agent_session_id;  // that program's session id
  std::string file;
  std::uint64_t turns = 0;
  std::uint64_t bytes = 0;       // of the file when it was read
  std::uint64_t lines_lost = 0;  // lines that could not be read
  RECORD_KIND(SessionAdopted, "session.adopted");
  FIELDS {
    visit("agent", self.agent);
    visit("agent_session_id", self.agent_session_id);
    visit("file", self.file);
    visit("turns", self.turns);
    visit("bytes", self.bytes);
    visit("lines_lost", self.lines_lost);
  }
};

// Executor and agent. Origin names their execution.
struct ExecutorStarting {
  BootId boot;
  std::string host_boot;
  std::string runtime;
  Deadline ready_by;
  std::string home = {};  // which daemons can reach it, if there are several; empty: one
  RECORD_KIND(ExecutorStarting, "executor.starting");
  FIELDS {
    visit("boot_id", self.boot);
    visit("host_boot", self.host_boot);
    visit("runtime", self.runtime);
    visit("ready_by", self.ready_by);
    visit("home", self.home);
  }
};
struct ExecutorReady {
  std::string url;
  std::string instance;  // agentctl's own id for this life
  std::int64_t pid = 0;
  std::int64_t pid_started = 0;  // with pid and host boot, identifies one process forever (C19)
  std::string container_id;
  bool supports_workspace_only = true;
  bool tells_steered = false;  // reports which steered prompts reached the agent
  // How far agents are isolated from their daemon: full, partial, none; empty: an older agentctl
  // that does not report it.
  std::string confinement;
  std::string confinement_reason;
  RECORD_KIND(ExecutorReady, "executor.ready");
  FIELDS {
    visit("agentctl_url", self.url);
    visit("instance", self.instance);
    visit("pid", self.pid);
    visit("pid_started", self.pid_started);
    visit("container_id", self.container_id);
    visit("supports_workspace_only", self.supports_workspace_only);
    visit("tells_steered", self.tells_steered);
    visit("confinement", self.confinement);
    visit("confinement_reason", self.confinement_reason);
  }
};
struct ExecutorReattached {
  BootId boot;
  RECORD_KIND(ExecutorReattached, "executor.reattached");
  FIELDS { visit("boot_id", self.boot); }
};
struct ExecutorError {
  std::string code;
  std::string message;
  RECORD_KIND(ExecutorError, "executor.error");
  FIELDS {
    visit("code", self.code);
    visit("message", self.message);
  }
};
// Written only with proof that no process of the tree is left.
struct ExecutorStopped {
  std::string reason;  // stopped, lost, declared_dead, start_failed
  std::string proof;   // exit, pidfd, host_boot, declared by <principal>
  std::string code;    // of base/result.h, if the cause of the loss has a code
  RECORD_KIND(ExecutorStopped, "executor.stopped");
  FIELDS {
    visit("reason", self.reason);
    visit("proof", self.proof);
    visit("code", self.code);
  }
};
struct AgentStarted {
  AgentAbilities abilities;
  std::string version;
  RawJson initialize;  // the agent's complete reply
  RECORD_KIND(AgentStarted, "agent.started");
  FIELDS {
    visit("abilities", self.abilities);
    visit("version", self.version);
    visit("initialize", self.initialize);
  }
};
struct AgentExited {
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> signal;
  std::string why;  // exited, crashed, out_of_memory, killed, stopped
  std::string stderr_tail;
  RECORD_KIND(AgentExited, "agent.exited");
  FIELDS {
    visit("exit_code", self.exit_code);
    visit("signal", self.signal);
    visit("why", self.why);
    visit("stderr_tail", self.stderr_tail);
  }
};

// Context.
struct ContextBoundary {
  BoundaryHow how = BoundaryHow::fresh;
  std::string agent_session_id;
  std::string previous_agent_session_id;  // replaced by this one (C5)
  std::string agent;                      // handover: the agent that continues
  std::string reason;                     // why the better rung failed; empty if it succeeded
  std::vector<OpenAttempt> attempts;
  Verified verified = Verified::none;
  std::uint64_t replayed_prompts = 0;
  std::uint64_t replayed_updates = 0;
  Hash replay_sha256;   // of those updates; absent: no replay, or an older agentctl
  bool inject = false;  // the next prompt carries the history
  std::string cwd;      // X13: the id belongs to this folder
  RECORD_KIND(ContextBoundary, "context.boundary");
  FIELDS {
    visit("how", self.how);
    visit("agent_session_id", self.agent_session_id);
    visit("previous_agent_session_id", self.previous_agent_session_id);
    visit("agent", self.agent);
    visit("reason", self.reason);
    visit("attempts", self.attempts);
    visit("verified", self.verified);
    visit("replayed_prompts", self.replayed_prompts);
    visit("replayed_updates", self.replayed_updates);
    visit("replay_sha256", self.replay_sha256);
    visit("inject", self.inject);
    visit("cwd", self.cwd);
  }
};
// History sent to the agent with a prompt, apart from what the person typed (C12).
struct ContextInjected {
  MessageId message;
  std::uint64_t boundary = 0;  // seq of the boundary it belongs to
  std::string text;
  std::uint64_t turns = 0;
  std::uint64_t turns_of = 0;
  std::uint64_t chars = 0;
  RECORD_KIND(ContextInjected, "context.injected");
  FIELDS {
    visit("message_id", self.message);
    visit("boundary", self.boundary);
    visit("text", self.text);
    visit("turns", self.turns);
    visit("turns_of", self.turns_of);
    visit("chars", self.chars);
  }
};
// A rung of the ladder that failed; the next one is tried.
struct ContextAttempt {
  OpenAttempt attempt;
  RECORD_KIND(ContextAttempt, "context.attempt");
  FIELDS { self.attempt.fields(visit); }
};
// The ladder ended without an agent session. The id is kept (X7); nothing was lost.
struct ResumeFailed {
  OpenFailure failure = OpenFailure::other;
  std::string message;
  std::vector<OpenAttempt> attempts;
  bool at_boot = false;         // C22: ERROR instead of FAILED
  std::string code;             // of base/result.h, if more specific than `failure`
  bool executor_stops = false;  // it was started for an agent that is not the session's
  RECORD_KIND(ResumeFailed, "resume.failed");
  FIELDS {
    visit("failure", self.failure);
    visit("message", self.message);
    visit("attempts", self.attempts);
    visit("at_boot", self.at_boot);
    visit("code", self.code);
    visit("executor_stops", self.executor_stops);
  }
};
// A request for the agent: the ladder starts or continues for it.
struct ResumeRequested {
  ResumeHow how = ResumeHow::automatic;
  bool strict = false;
  std::optional<AgentProfile> with;  // handover
  bool at_boot = false;
  std::string by;
  RECORD_KIND(ResumeRequested, "resume.requested");
  FIELDS {
    visit("how", self.how);
    visit("strict", self.strict);
    visit("with", self.with);
    visit("at_boot", self.at_boot);
    visit("by", self.by);
  }
};

// Runs. Origin names the run.
struct RunStarted {
  BootId boot;
  MessageId message;
  std::string trigger;         // prompt, auto_continue, continue_at_reset
  std::uint64_t ahead_of = 0;  // held prompts that this one overtook
  RECORD_KIND(RunStarted, "run.started");
  FIELDS {
    visit("boot_id", self.boot);
    visit("message_id", self.message);
    visit("trigger", self.trigger);
    visit("ahead_of", self.ahead_of);
  }
};
struct RunRetried {
  RunId of;
  RECORD_KIND(RunRetried, "run.retried");
  FIELDS { visit("of", self.of); }
};
struct RunWaiting {
  WaitKind wait = WaitKind::permission;
  WaitTokenId token;
  std::optional<Deadline> deadline;
  RECORD_KIND(RunWaiting, "run.waiting");
  FIELDS {
    visit("wait_kind", self.wait);
    visit("resume_token_id", self.token);
    visit("deadline", self.deadline);
  }
};
struct RunResumed {
  WaitTokenId token;
  RECORD_KIND(RunResumed, "run.resumed");
  FIELDS { visit("resume_token_id", self.token); }
};
// A cancel was accepted; the run ends with one of the four events below.
struct RunCancelling {
  std::string by;
  RECORD_KIND(RunCancelling, "run.cancelling");
  FIELDS { visit("by", self.by); }
};
// The agent has been silent for a long time with no known work in progress (P6). The run continues.
struct RunStalled {
  std::int64_t quiet_ms = 0;
  RECORD_KIND(RunStalled, "run.stalled");
  FIELDS { visit("quiet_ms", self.quiet_ms); }
};
struct RunCompleted {
  std::string stop_reason;
  RECORD_KIND(RunCompleted, "run.completed");
  FIELDS { visit("stop_reason", self.stop_reason); }
};
struct RunFailed {
  std::string code;  // agent_error, agent_exited, auth_needed, rate_limited …
  std::string message;
  std::optional<Timestamp> reset_at;
  RECORD_KIND(RunFailed, "run.failed");
  FIELDS {
    visit("code", self.code);
    visit("message", self.message);
    visit("reset_at", self.reset_at);
  }
};
struct RunCancelled {
  std::string by;
  bool frames_pending = false;  // ended before the agent's last frames, which arrive late
  RECORD_KIND(RunCancelled, "run.cancelled");
  FIELDS {
    visit("by", self.by);
    visit("frames_pending", self.frames_pending);
  }
};
struct RunInterrupted {
  InterruptReason reason = InterruptReason::process_exit;
  RECORD_KIND(RunInterrupted, "run.interrupted");
  FIELDS { visit("reason", self.reason); }
};

// The agent's provider accepts no work until the reset (P13). The run that met the limit has ended.
struct LimitWaiting {
  RunId of;
  Timestamp reset_at;       // as reported
  Deadline until;           // the same time, immune to clock jumps
  bool tools_open = false;  // a tool call was cut off: no automatic continuation
  RECORD_KIND(LimitWaiting, "limit.waiting");
  FIELDS {
    visit("of", self.of);
    visit("reset_at", self.reset_at);
    visit("until", self.until);
    visit("tools_open", self.tools_open);
  }
};
// The limit was reset. `continued`: this decision queued a prompt; otherwise the reason for none.
struct LimitOver {
  RunId of;
  LimitOutcome outcome = LimitOutcome::not_asked;
  RECORD_KIND(LimitOver, "limit.over");
  FIELDS {
    visit("of", self.of);
    visit("outcome", self.outcome);
  }
};

// Conversation. `update` is the agent's complete ACP update.
struct MessageUser {
  MessageId message;
  Prompt prompt;
  std::string key;  // the client's idempotency key
  std::string by;
  bool steered = false;
  RECORD_KIND(MessageUser, "message.user");
  FIELDS {
    visit("message_id", self.message);
    self.prompt.fields(visit);
    visit("key", self.key);
    visit("by", self.by);
    visit("steered", self.steered);
  }
};
struct MessageAgent {
  std::string message;  // the agent's own id for it, if any
  std::string text;
  RawJson update;
  RECORD_KIND(MessageAgent, "message.agent");
  FIELDS {
    visit("agent_message_id", self.message);
    visit("text", self.text);
    visit("update", self.update);
  }
};
struct MessageThought {
  std::string message;
  std::string text;
  RawJson update;
  RECORD_KIND(MessageThought, "message.thought");
  FIELDS {
    visit("agent_message_id", self.message);
    visit("text", self.text);
    visit("update", self.update);
  }
};
struct ToolCall {
  std::string tool_call_id;
  std::string title;
  std::string tool_kind;
  std::string status;
  std::string input;  // a short readable form
  std::string text;   // output so far
  RawJson update;
  RECORD_KIND(ToolCall, "tool.call");
  FIELDS {
    visit("tool_call_id", self.tool_call_id);
    visit("title", self.title);
    visit("tool_kind", self.tool_kind);
    visit("status", self.status);
    visit("input", self.input);
    visit("text", self.text);
    visit("update", self.update);
  }
};
// An upsert: empty fields keep their value (an agent may never have sent the call itself).
struct ToolUpdate {
  std::string tool_call_id;
  std::string title;
  std::string tool_kind;
  std::string status;
  std::string input;
  std::string text;   // replaces the output so far
  std::string added;  // appended to the output so far
  RawJson update;
  RECORD_KIND(ToolUpdate, "tool.update");
  FIELDS {
    visit("tool_call_id", self.tool_call_id);
    visit("title", self.title);
    visit("tool_kind", self.tool_kind);
    visit("status", self.status);
    visit("input", self.input);
    visit("text", self.text);
    visit("added", self.added);
    visit("update", self.update);
  }
};
struct Plan {
  std::string text;
  RawJson update;
  RECORD_KIND(Plan, "plan");
  FIELDS {
    visit("text", self.text);
    visit("update", self.update);
  }
};
struct Usage {
  std::int64_t used = 0;
  std::int64_t size = 0;
  RawJson update;
  RECORD_KIND(Usage, "usage");
  FIELDS {
    visit("used", self.used);
    visit("size", self.size);
    visit("update", self.update);
  }
};
// An observed value of the agent's settings: mode, model or another option (R9).
struct Mode {
  std::string option = "mode";
  std::string value;
  RawJson update;
  bool imported = false;  // from a file: describes the past and sets nothing here (C13)
  RECORD_KIND(Mode, "mode");
  FIELDS {
    visit("option", self.option);
    visit("value", self.value);
    visit("update", self.update);
    visit("imported", self.imported);
  }
};
struct Commands {
  RawJson update;
  RECORD_KIND(Commands, "commands");
  FIELDS { visit("update", self.update); }
};
struct AgentUpdate {
  RawJson update;
  RECORD_KIND(AgentUpdate, "agent.update");
  FIELDS { visit("update", self.update); }
};

// Waits.
struct PermissionRequested {
  PermissionId permission;
  std::string request;  // agentctl's own name for the open request
  std::string tool_call_id;
  std::string title;
  std::vector<PermissionOption> options;
  RawJson update;
  std::uint64_t options_left_out = 0;  // omitted for lack of room
  RECORD_KIND(PermissionRequested, "permission.requested");
  FIELDS {
    visit("perm_id", self.permission);
    visit("request", self.request);
    visit("tool_call_id", self.tool_call_id);
    visit("title", self.title);
    visit("options", self.options);
    visit("options_left_out", self.options_left_out);
    visit("update", self.update);
  }
};
struct PermissionResolved {
  PermissionId permission;
  PermissionOutcome outcome = PermissionOutcome::cancelled;
  std::string option_id;
  std::string by;
  std::string option_name = {};  // the agent's name for it; empty in records of older versions
  RECORD_KIND(PermissionResolved, "permission.resolved");
  FIELDS {
    visit("perm_id", self.permission);
    visit("outcome", self.outcome);
    visit("option_id", self.option_id);
    visit("option_name", self.option_name);
    visit("by", self.by);
  }
};
struct TokenMinted {
  WaitTokenId token;
  Hash secret_hash;
  WaitKind wait = WaitKind::permission;
  PermissionId permission;
  std::optional<Deadline> expires;
  RECORD_KIND(TokenMinted, "token.minted");
  FIELDS {
    visit("token_id", self.token);
    visit("secret_hash", self.secret_hash);
    visit("wait_kind", self.wait);
    visit("perm_id", self.permission);
    visit("expires", self.expires);
  }
};
struct TokenConsumed {
  WaitTokenId token;
  std::string by;
  RECORD_KIND(TokenConsumed, "token.consumed");
  FIELDS {
    visit("token_id", self.token);
    visit("by", self.by);
  }
};
struct TokenRevoked {
  WaitTokenId token;
  std::string reason;
  RECORD_KIND(TokenRevoked, "token.revoked");
  FIELDS {
    visit("token_id", self.token);
    visit("reason", self.reason);
  }
};
struct TokenExpired {
  WaitTokenId token;
  RECORD_KIND(TokenExpired, "token.expired");
  FIELDS { visit("token_id", self.token); }
};

// Queue. An item is named by the message it will become.
struct QueueAdded {
  MessageId message;
  RunId run;  // the run that it will start
  Prompt prompt;
  std::string key;
  std::string by;
  bool front = false;
  bool steer = false;  // on its way into the open run; queued here in case that run is over (C23)
  RECORD_KIND(QueueAdded, "queue.added");
  FIELDS {
    visit("message_id", self.message);
    visit("for_run", self.run);
    self.prompt.fields(visit);
    visit("key", self.key);
    visit("by", self.by);
    visit("front", self.front);
    visit("steer", self.steer);
  }
};
struct QueueEdited {
  MessageId message;
  Prompt prompt;
  std::string by;
  RECORD_KIND(QueueEdited, "queue.edited");
  FIELDS {
    visit("message_id", self.message);
    self.prompt.fields(visit);
    visit("by", self.by);
  }
};
struct QueueRemoved {
  MessageId message;
  std::string by;
  RECORD_KIND(QueueRemoved, "queue.removed");
  FIELDS {
    visit("message_id", self.message);
    visit("by", self.by);
  }
};
struct QueueDelivered {
  MessageId message;
  RECORD_KIND(QueueDelivered, "queue.delivered");
  FIELDS { visit("message_id", self.message); }
};
// A person released the held queue (N11).
struct QueueReleased {
  std::string by;
  RECORD_KIND(QueueReleased, "queue.released");
  FIELDS { visit("by", self.by); }
};
// The prompt did not reach its turn and waits for one of its own (C23). Written only if no end of
// the turn, the agent or the execution implies it.
struct QueueKept {
  MessageId message;
  RECORD_KIND(QueueKept, "queue.kept");
  FIELDS { visit("message_id", self.message); }
};

// Repair: appended once, before the end of the run that the records belong to.
struct RepairClosedMessage {
  RECORD_KIND(RepairClosedMessage, "repair.closed_message");
  FIELDS {}
};
struct RepairClosedTool {
  std::string tool_call_id;
  std::string outcome;  // unknown: it may or may not have acted (R6)
  RECORD_KIND(RepairClosedTool, "repair.closed_tool");
  FIELDS {
    visit("tool_call_id", self.tool_call_id);
    visit("outcome", self.outcome);
  }
};
struct RepairTruncated {
  std::uint64_t records_lost = 0;
  std::string why;
  RECORD_KIND(RepairTruncated, "repair.truncated");
  FIELDS {
    visit("records_lost", self.records_lost);
    visit("why", self.why);
  }
};

struct StatusDerived {
  std::string status;
  RECORD_KIND(StatusDerived, "status.derived");
  FIELDS { visit("status", self.status); }
};

// The kind of a tombstone: a record whose content was redacted. Reads as an UnknownEvent.
inline constexpr std::string_view redacted_kind = "redacted";

// A kind that this version does not know: kept unchanged, ignored by the fold (X25).
struct UnknownEvent {
  std::string kind;
  RawJson members;  // an object with the kind's own fields
  bool operator==(const UnknownEvent&) const = default;
};

using EventKinds =
    Kinds<SessionCreated, SessionRenamed, SessionConfigured, SessionStopped, SessionArchived,
          SessionUnarchived, SessionAdopted, ExecutorStarting, ExecutorReady, ExecutorReattached,
          ExecutorError, ExecutorStopped, AgentStarted, AgentExited, ContextBoundary,
          ContextInjected, ContextAttempt, ResumeFailed, ResumeRequested, RunStarted, RunRetried,
          RunWaiting, RunResumed, RunCancelling, RunStalled, RunCompleted, RunFailed, RunCancelled,
          RunInterrupted, LimitWaiting, LimitOver, MessageUser, MessageAgent, MessageThought,
          ToolCall, ToolUpdate, Plan, Usage, Mode, Commands, AgentUpdate, PermissionRequested,
          PermissionResolved, TokenMinted, TokenConsumed, TokenRevoked, TokenExpired, QueueAdded,
          QueueEdited, QueueRemoved, QueueDelivered, QueueReleased, QueueKept, RepairClosedMessage,
          RepairClosedTool, RepairTruncated, StatusDerived, UnknownEvent>;
using EventBody = OneOf<EventKinds>;

// The owner of an event, for fencing and grouping. Null ids and zero numbers are absent.
struct Origin {
  RunId run;
  ExecId exec;
  Gen gen = 0;
  FrameNo frame = 0;
  RunId after_run;          // a late frame: the run that had ended before it arrived
  std::string copied_from;  // `<session>/<seq>` of the record that a fork or import copied
  bool operator==(const Origin&) const = default;
  FIELDS {
    visit("run_id", self.run);
    visit("exec_id", self.exec);
    visit("gen", self.gen);
    visit("frame", self.frame);
    visit("after_run", self.after_run);
    visit("origin", self.copied_from);
  }
};

struct Event {
  Timestamp at;
  Origin origin;
  EventBody body;
  bool operator==(const Event&) const = default;
};

// An event at its position in the journal: the input of projections.
struct Record {
  std::uint64_t seq = 0;
  Event event;
  bool operator==(const Record&) const = default;
};

// The contract's name of the kind.
std::string_view event_kind(const Event& event);

}  // namespace perdure
