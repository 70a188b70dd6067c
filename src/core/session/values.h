// Small values shared by events, state and inputs. Plain data only: equality and a field list.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/json/fields.h"
#include "base/json/json.h"
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

// An agent's known properties when a session is created; measured values override advertised ones.
struct AgentProfile {
  std::string name;
  bool supports_session_resume = true;     // L11: false: nothing survives the agent's end
  bool native_session_resume = true;       // K3: its own session/resume or session/load works
  bool history_context_injection = false;  // K4
  bool steer = false;                      // accepts prompts during a turn (C23)
  bool operator==(const AgentProfile&) const = default;
  FIELDS {
    visit("name", self.name);
    visit("supports_session_resume", self.supports_session_resume);
    visit("native_session_resume", self.native_session_resume);
    visit("history_context_injection", self.history_context_injection);
    visit("steer", self.steer);
  }
};

// The session that the process acting as `by` belongs to; null: none.
SessionId session_behind(std::string_view by);

struct Workspace {
  std::string cwd;
  std::string worktree_id;
  std::string worktree_path;
  std::string worktree_branch;
  // The worktree's `.git` folder when the worktree was created. Empty: unknown, or found through a
  // file that a session can write.
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

// Resources that a session's agent and all its descendants may use together. 0: no limit.
struct AgentLimits {
  std::int64_t memory_bytes = 0;
  std::int64_t processes = 0;
  std::int64_t cpu_percent = 0;  // 100: one whole CPU
  std::int64_t run_ms = 0;       // per turn, without time spent waiting for a person
  bool operator==(const AgentLimits&) const = default;
  FIELDS {
    visit("memory_bytes", self.memory_bytes);
    visit("processes", self.processes);
    visit("cpu_percent", self.cpu_percent);
    visit("run_ms", self.run_ms);
  }
};

// invalid_argument for an impossible limit, or one too low for any agent.
Result<> check_limits(const AgentLimits& limits);

// P13: whether a session continues automatically after its agent's provider limit, how often and
// for how long, counted from the first limit since a run succeeded or a person sent a prompt.
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

// invalid_argument for an impossible cap.
Result<> check_continue(const ContinueAtReset& terms);

// The outcome when a limit ends.
enum class LimitOutcome { continued, not_asked, too_often, too_late, tool_open, queue_full };
ENUM_TEXT(LimitOutcome, "continued", "not_asked", "too_often", "too_late", "tool_open",
          "queue_full");

struct Policy {
  ResumePolicy resume = ResumePolicy::on_demand;
  Inject inject = Inject::automatic;
  bool survive = true;                // C9: false: the agent ends with the daemon
  bool auto_continue = false;         // C11
  std::int64_t wait_ms = 0;           // C15: 0: questions wait forever
  std::optional<AgentLimits> limits;  // absent: the daemon's
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

// The origin of the agent's knowledge.
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

// The calls that can open an agent's session, best first.
enum class OpenMethod { resume, load, fresh };
ENUM_TEXT(OpenMethod, "resume", "load", "new");

// Why such a call failed. The values before `transport` mean that this rung cannot restore the
// session and allow the next rung; the others keep the id and fail the resume (C4).
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

// A rung that was tried and failed.
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

// The kind of resume requested.
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
// The options that a question can offer, with names and kinds cut to size: at most as many as there
// is room for, and none whose id is too long, empty (it would cancel) or ambiguous.
std::vector<PermissionOption> options_offered(std::vector<PermissionOption> options);

// The stored title of a question: cut if it is too long, and then ends in `…`.
std::string question_title(std::string_view title);
// Whether that title may be the beginning of a longer one, whichever program cut it. If so, a
// person does not see everything that is asked.
bool may_be_cut(std::string_view question_title);

// Whether a session can store this agent setting. Neither name nor value can be cut.
bool option_fits(std::string_view name, std::string_view value);

// The parts of the agent's reply to initialize that the ladder needs.
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
