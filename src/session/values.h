// The small values that events, state and inputs share. All plain data: equality, a field list, and
// nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace perdure {

// The number of a life of a session's agent execution: 1, 2, 3 …; 0 is "none yet".
using Gen = std::uint64_t;
// The number of a frame in an execution's spool.
using FrameNo = std::uint64_t;

enum class Inject { automatic, ask, off };
ENUM_TEXT(Inject, "auto", "ask", "off");

enum class ResumePolicy { on_demand, on_boot, manual };
ENUM_TEXT(ResumePolicy, "on_demand", "on_boot", "manual");

// What is known of an agent when a session is made; measured values win over advertised ones.
struct AgentProfile {
  std::string name;
  bool supports_session_resume = true;     // L11: false: nothing survives the agent's end
  bool native_session_resume = true;       // K3: its own session/resume or session/load can be used
  bool history_context_injection = false;  // K4
  bool steer = false;                      // takes a prompt into a running turn (C23)
  bool operator==(const AgentProfile&) const = default;
  FIELDS {
    visit("name", self.name);
    visit("supports_session_resume", self.supports_session_resume);
    visit("native_session_resume", self.native_session_resume);
    visit("history_context_injection", self.history_context_injection);
    visit("steer", self.steer);
  }
};

// The session that a process belongs to which acts as `by`; null: it is in none.
SessionId session_behind(std::string_view by);

struct Workspace {
  std::string cwd;
  std::string worktree_id;
  std::string worktree_path;
  std::string worktree_branch;
  // The `.git` folder that the worktree belongs to, as it was when the worktree was made. Empty: it
  // is not known, or was found by a file that a session can write.
  std::string worktree_repository;
  bool operator==(const Workspace&) const = default;
  FIELDS {
    visit("cwd", self.cwd);
    visit("worktree_id", self.worktree_id);
    visit("worktree_path", self.worktree_path);
    visit("worktree_branch", self.worktree_branch);
    visit("worktree_repository", self.worktree_repository);
  }
};

// What a session's agent, and all that it starts, may use together. 0: no limit.
struct AgentLimits {
  std::int64_t memory_bytes = 0;
  std::int64_t processes = 0;
  std::int64_t cpu_percent = 0;  // 100: one whole CPU
  std::int64_t run_ms = 0;       // a turn, without the time that it waits for a person
  bool operator==(const AgentLimits&) const = default;
  FIELDS {
    visit("memory_bytes", self.memory_bytes);
    visit("processes", self.processes);
    visit("cpu_percent", self.cpu_percent);
    visit("run_ms", self.run_ms);
  }
};

// invalid_argument for a limit that cannot be, or that no agent could live with.
Result<> check_limits(const AgentLimits& limits);

// P13: whether a session goes on by itself when a limit of its agent's provider is over, and how
// often and for how long it may, counted from the first limit since a run ended well or a person
// prompted.
struct ContinueAtReset {
  bool on = false;
  std::int64_t times = 5;
  std::int64_t hours = 24;
  bool operator==(const ContinueAtReset&) const = default;
  FIELDS {
    visit("on", self.on);
    visit("times", self.times);
    visit("hours", self.hours);
  }
};

// invalid_argument for a cap that cannot be.
Result<> check_continue(const ContinueAtReset& terms);

// What came of a limit's end.
enum class LimitOutcome { continued, not_asked, too_often, too_late, tool_open, queue_full };
ENUM_TEXT(LimitOutcome, "continued", "not_asked", "too_often", "too_late", "tool_open",
          "queue_full");

struct Policy {
  ResumePolicy resume = ResumePolicy::on_demand;
  Inject inject = Inject::automatic;
  bool survive = true;                // C9: false: the agent ends with the daemon
  bool auto_continue = false;         // C11
  std::int64_t wait_ms = 0;           // C15: 0: a question waits for ever
  std::optional<AgentLimits> limits;  // nothing: those of the daemon
  std::optional<ContinueAtReset> continue_at_reset;
  bool operator==(const Policy&) const = default;
  FIELDS {
    visit("resume", self.resume);
    visit("inject", self.inject);
    visit("survive", self.survive);
    visit("auto_continue", self.auto_continue);
    visit("wait_ms", self.wait_ms);
    visit("limits", self.limits);
    visit("continue_at_reset", self.continue_at_reset);
  }
};

// Whether what a client gave can be kept and passed on: invalid_argument when it nests too deep.
Result<> check_given(std::string_view name, const RawJson& value);

// A prompt as typed. `blocks` holds ACP content blocks where there is more than text.
struct Prompt {
  std::string text;
  RawJson blocks;
  bool operator==(const Prompt&) const = default;
  FIELDS {
    visit("content", self.text);
    visit("blocks", self.blocks);
  }
};

// Why the agent knows what it knows.
enum class BoundaryHow {
  fresh,
  native_resume,
  native_load,
  injected,
  cleared,
  compacted,
  handover
};
ENUM_TEXT(BoundaryHow, "fresh", "native_resume", "native_load", "injected", "cleared", "compacted",
          "handover");

// How far a restored context was checked (C4).
enum class Verified { none, id_only, partial, full };
ENUM_TEXT(Verified, "none", "id_only", "partial", "full");

// The calls that can give an agent its session, best first.
enum class OpenMethod { resume, load, fresh };
ENUM_TEXT(OpenMethod, "resume", "load", "new");

// Why such a call did not serve. Everything before `transport` says that the session cannot be had
// that way and allows the next rung; the rest keeps the id and fails the resume (C4).
enum class OpenFailure {
  capability_missing,
  session_unknown,
  never_prompted,
  not_restored,
  other_session,
  cwd_changed,
  transport,
  timeout,
  cancelled,
  auth,
  startup,
  other
};
ENUM_TEXT(OpenFailure, "capability_missing", "session_unknown", "never_prompted", "not_restored",
          "other_session", "cwd_changed", "transport", "timeout", "cancelled", "auth", "startup",
          "other");

// One rung that was tried and did not serve.
struct OpenAttempt {
  OpenMethod method = OpenMethod::resume;
  OpenFailure failure = OpenFailure::other;
  std::string message;
  bool operator==(const OpenAttempt&) const = default;
  FIELDS {
    visit("method", self.method);
    visit("failure", self.failure);
    visit("message", self.message);
  }
};

// What a resume request asks for.
enum class ResumeHow { automatic, resume, load, inject, fresh };
ENUM_TEXT(ResumeHow, "auto", "resume", "load", "inject", "fresh");

enum class PromptWhen { automatic, queue, interrupt, steer };
ENUM_TEXT(PromptWhen, "auto", "queue", "interrupt", "steer");

enum class ExecutorStatus { none, starting, ready, error, stopped };
ENUM_TEXT(ExecutorStatus, "none", "starting", "ready", "error", "stopped");

enum class Liveness { alive, dead, unknown };
ENUM_TEXT(Liveness, "alive", "dead", "unknown");

enum class InterruptReason { process_exit, process_restart, wait_timeout, wait_lost, forked };
ENUM_TEXT(InterruptReason, "process_exit", "process_restart", "wait_timeout", "wait_lost",
          "forked");

enum class WaitKind { permission, input };
ENUM_TEXT(WaitKind, "permission", "input");

enum class TokenStatus { active, consumed, revoked, expired };
ENUM_TEXT(TokenStatus, "active", "consumed", "revoked", "expired");

enum class PermissionOutcome { selected, cancelled, expired };
ENUM_TEXT(PermissionOutcome, "selected", "cancelled", "expired");

struct PermissionOption {
  std::string id;
  std::string name;
  std::string
      kind;  // allow_once, allow_always, reject_once, reject_always, or what an agent invents
  bool operator==(const PermissionOption&) const = default;
  FIELDS {
    visit("option_id", self.id);
    visit("name", self.name);
    visit("kind", self.kind);
  }
};
// Those that a question can offer, names and kinds cut: not more than there is room for, and none
// whose id is too long, empty (it would cancel) or shared (the agent may mean the other option).
std::vector<PermissionOption> options_offered(std::vector<PermissionOption> options);

// The title of a question as it is kept: one that is too long is cut, and ends in `…`.
std::string question_title(std::string_view title);
// Whether that title may be the beginning of a longer one, whoever cut it: what a person sees is
// not all that is asked then.
bool may_be_cut(std::string_view question_title);

// Whether a session can remember this setting of its agent. Neither name nor value can be cut.
bool option_fits(std::string_view name, std::string_view value);

// What agent replied to initialize, as far as the ladder needs it.
struct AgentAbilities {
  bool resume = false;
  bool load = false;
  bool operator==(const AgentAbilities&) const = default;
  FIELDS {
    visit("resume", self.resume);
    visit("load", self.load);
  }
};

}  // namespace perdure
