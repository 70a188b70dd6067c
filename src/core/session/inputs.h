// Every possible input of a session: a client's command, a frame from its agentctl, a timer, the
// boot. Inputs carry the time and the seed of new ids, so that deciding needs neither a clock nor
// randomness.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/session/events.h"

namespace perdure {

// Commands of clients. A command's field list is its format between daemons
// (core/wire/agentctl/command.h).
struct CreateSession {
  SessionCreated what;
  std::optional<Prompt> prompt;
  std::string key;
};
struct RenameSession {
  std::string title;
  RECORD_KIND(RenameSession, "rename");
  FIELDS { visit("title", self.title); }
};
struct ConfigureSession {
  SessionConfigured what;
  RECORD_KIND(ConfigureSession, "configure");
  FIELDS { self.what.fields(visit); }
};
struct SubmitPrompt {
  Prompt prompt;
  PromptWhen when = PromptWhen::automatic;
  std::string key;
  RECORD_KIND(SubmitPrompt, "prompt");
  FIELDS {
    visit("prompt", self.prompt);
    visit("when", self.when);
    visit("key", self.key);
  }
};
struct EditQueued {
  MessageId message;
  Prompt prompt;
  RECORD_KIND(EditQueued, "edit_queued");
  FIELDS {
    visit("message_id", self.message);
    visit("prompt", self.prompt);
  }
};
struct RemoveQueued {
  MessageId message;
  RECORD_KIND(RemoveQueued, "remove_queued");
  FIELDS { visit("message_id", self.message); }
};
struct ReleaseQueue {
  RECORD_KIND(ReleaseQueue, "release_queue");
  FIELDS {}
};
// `force` ends the run at once, before the agent's frames: the disk is full, or a person insists.
struct CancelRun {
  bool force = false;
  RECORD_KIND(CancelRun, "cancel");
  FIELDS { visit("force", self.force); }
};
struct StopSession {
  std::string reason;
  RECORD_KIND(StopSession, "stop");
  FIELDS { visit("reason", self.reason); }
};
struct ArchiveSession {
  RECORD_KIND(ArchiveSession, "archive");
  FIELDS {}
};
struct UnarchiveSession {
  RECORD_KIND(UnarchiveSession, "unarchive");
  FIELDS {}
};
struct ResumeSession {
  ResumeHow how = ResumeHow::automatic;
  bool strict = false;
  std::optional<AgentProfile> with;
  bool at_boot = false;
  bool workspace_exists = true;  // checked by the caller for this command (C13)
  RECORD_KIND(ResumeSession, "resume");
  FIELDS {
    visit("how", self.how);
    visit("strict", self.strict);
    visit("with", self.with);
    visit("at_boot", self.at_boot);
    visit("workspace_exists", self.workspace_exists);
  }
};
// Starts only the executor: files, git and shells need no agent (C1 phase 2, L24).
struct StartWorkspace {
  bool workspace_exists = true;  // checked by the caller for this command (C13)
  RECORD_KIND(StartWorkspace, "start_workspace");
  FIELDS { visit("workspace_exists", self.workspace_exists); }
};
// A person declares an unreachable execution gone (C19).
struct DeclareDead {
  bool reachable = false;  // checked by the caller: its link is up
  RECORD_KIND(DeclareDead, "declare_dead");
  FIELDS { visit("reachable", self.reachable); }
};
struct AnswerPermission {
  PermissionId permission;
  std::string option_id;         // empty: cancel
  std::string if_question = {};  // the digest of the question shown; empty: not checked
  RECORD_KIND(AnswerPermission, "answer_permission");
  FIELDS {
    visit("permission_id", self.permission);
    visit("option_id", self.option_id);
    visit("if_question", self.if_question);
  }
};
// The caller hashed the secret; the machine compares the hash.
struct AnswerWait {
  WaitTokenId token;
  Hash secret_hash;
  RunId run;                     // null: not checked
  std::optional<WaitKind> kind;  // absent: not checked
  std::string option_id;
  std::string if_question = {};  // as in AnswerPermission
  RECORD_KIND(AnswerWait, "answer_wait");
  FIELDS {
    visit("token_id", self.token);
    visit("secret_hash", self.secret_hash);
    visit("run_id", self.run);
    visit("wait", self.kind);
    visit("option_id", self.option_id);
    visit("if_question", self.if_question);
  }
};
struct RepairSession {
  RECORD_KIND(RepairSession, "repair");
  FIELDS {}
};
// Records the id that a fork of this session will have, as the answer to the client's key, so that
// a repeated request finds the first copy.
struct NameFork {
  SessionId to;
  RECORD_KIND(NameFork, "name_fork");
  FIELDS { visit("to", self.to); }
};

// Commands that require an existing session.
using ClientCommands =
    Kinds<RenameSession, ConfigureSession, SubmitPrompt, EditQueued, RemoveQueued, ReleaseQueue,
          CancelRun, StopSession, ArchiveSession, UnarchiveSession, ResumeSession, StartWorkspace,
          DeclareDead, AnswerPermission, AnswerWait, RepairSession, NameFork>;

// Frames of the execution (exec, gen). Conversation frames are the events that they become. A
// frame's field list is its format in the spool and on the link.
struct FrameExecutorReady {
  ExecutorReady ready;
  RECORD_KIND(FrameExecutorReady, "executor.ready");
  FIELDS { self.ready.fields(visit); }
};
struct FrameExecutorFailed {
  std::string code;
  std::string message;
  RECORD_KIND(FrameExecutorFailed, "executor.failed");
  FIELDS {
    visit("code", self.code);
    visit("message", self.message);
  }
};
struct FrameAgentStarted {
  AgentStarted agent;
  RECORD_KIND(FrameAgentStarted, "agent.started");
  FIELDS { self.agent.fields(visit); }
};
struct FrameSessionOpened {
  OpenMethod method = OpenMethod::fresh;
  std::string agent_session_id;  // as the agent reported it; empty: not reported
  std::uint64_t replayed_prompts = 0;
  std::uint64_t replayed_updates = 0;
  Hash replay_sha256;  // of each replayed update as received and a line feed; absent: no replay
  RECORD_KIND(FrameSessionOpened, "session.opened");
  FIELDS {
    visit("method", self.method);
    visit("agent_session_id", self.agent_session_id);
    visit("replayed_prompts", self.replayed_prompts);
    visit("replayed_updates", self.replayed_updates);
    visit("replay_sha256", self.replay_sha256);
  }
};
struct FrameOpenFailed {
  OpenMethod method = OpenMethod::resume;
  OpenFailure failure = OpenFailure::other;
  std::string message;
  RECORD_KIND(FrameOpenFailed, "session.open_failed");
  FIELDS {
    visit("method", self.method);
    visit("failure", self.failure);
    visit("message", self.message);
  }
};
struct FramePermission {
  std::string request;
  std::string tool_call_id;
  std::string title;
  std::vector<PermissionOption> options;
  std::uint64_t options_left_out = 0;  // omitted for lack of room
  RawJson update;
  WaitTokenId token;  // filled in by the runtime, which holds the key that makes secrets
  Hash secret_hash;
  RECORD_KIND(FramePermission, "permission.asked");
  FIELDS {
    visit("request", self.request);
    visit("tool_call_id", self.tool_call_id);
    visit("title", self.title);
    visit("options", self.options);
    visit("options_left_out", self.options_left_out);
    visit("update", self.update);
  }
};
// The agent withdrew its question.
struct FramePermissionGone {
  std::string request;
  RECORD_KIND(FramePermissionGone, "permission.gone");
  FIELDS { visit("request", self.request); }
};
struct FrameRunFinished {
  RunId run;
  std::string stop_reason;
  RECORD_KIND(FrameRunFinished, "run.finished");
  FIELDS {
    visit("of_run", self.run);
    visit("stop_reason", self.stop_reason);
  }
};
struct FrameRunFailed {
  RunId run;
  RunFailed failure;
  RECORD_KIND(FrameRunFailed, "run.failed");
  FIELDS {
    visit("of_run", self.run);
    self.failure.fields(visit);
  }
};
struct FrameRunStalled {
  RunId run;
  std::int64_t quiet_ms = 0;
  RECORD_KIND(FrameRunStalled, "run.stalled");
  FIELDS {
    visit("of_run", self.run);
    visit("quiet_ms", self.quiet_ms);
  }
};
// A steered prompt reached the agent during the turn that the frame belongs to.
struct FrameSteerTaken {
  MessageId message;
  RECORD_KIND(FrameSteerTaken, "steer.taken");
  FIELDS { visit("message_id", self.message); }
};
struct FrameContextChanged {
  BoundaryHow how = BoundaryHow::cleared;  // cleared or compacted
  RECORD_KIND(FrameContextChanged, "context.changed");
  FIELDS { visit("how", self.how); }
};
struct FrameAgentExited {
  AgentExited exit;
  RECORD_KIND(FrameAgentExited, "agent.exited");
  FIELDS { self.exit.fields(visit); }
};

using FrameKinds =
    Kinds<FrameExecutorReady, FrameExecutorFailed, FrameAgentStarted, FrameSessionOpened,
          FrameOpenFailed, FramePermission, FramePermissionGone, FrameRunFinished, FrameRunFailed,
          FrameRunStalled, FrameSteerTaken, FrameContextChanged, FrameAgentExited, MessageAgent,
          MessageThought, ToolCall, ToolUpdate, Plan, Usage, Mode, Commands, AgentUpdate>;
using FrameBody = OneOf<FrameKinds>;

struct Frame {
  ExecId exec;
  Gen gen = 0;
  FrameNo number = 0;
  RunId run;  // its run, according to agentctl; null outside any run
  FrameBody body;
};

// From the runtime itself.
struct ExecutorAttached {
  ExecId exec;
  Gen gen = 0;
};
struct ExecutorGone {
  ExecId exec;
  Gen gen = 0;
  std::string proof;
  std::string code = {};  // the reason, if it has a code
};
struct InjectionReady {
  std::uint64_t boundary = 0;
  std::string text;
  std::uint64_t turns = 0;
  std::uint64_t turns_of = 0;
  std::uint64_t chars = 0;
};
struct WaitDeadlinePassed {
  WaitTokenId token;
};
struct ReadyDeadlinePassed {
  ExecId exec;
  Gen gen = 0;
};
// The limit that this run met should now be over.
struct LimitResetPassed {
  RunId run;
};
// The daemon started (reconcile): derive the status again, start what the policy requires.
struct DaemonBooted {};

using InputKinds =
    Kinds<CreateSession, RenameSession, ConfigureSession, SubmitPrompt, EditQueued, RemoveQueued,
          ReleaseQueue, CancelRun, StopSession, ArchiveSession, UnarchiveSession, ResumeSession,
          StartWorkspace, DeclareDead, AnswerPermission, AnswerWait, RepairSession, NameFork, Frame,
          ExecutorAttached, ExecutorGone, InjectionReady, WaitDeadlinePassed, ReadyDeadlinePassed,
          LimitResetPassed, DaemonBooted>;
using InputBody = OneOf<InputKinds>;

struct Input {
  Moment now;
  BootId boot;       // this daemon's life
  std::string home;  // which daemons can reach its agents; empty: there is one daemon
  std::uint64_t id_seed = 0;
  std::string by;  // the principal: uid:1000, token:…, session:…, system
  InputBody body;
};

}  // namespace perdure
