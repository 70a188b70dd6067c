// The bodies of requests that change something, as structs with a field list. HTTP, /ws and
// /openapi.json use the same struct. Unknown members are rejected so that typos are not ignored.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/fields_json.h"
#include "core/session/inputs.h"

namespace perdure {

// A text or ACP content blocks; exactly one of the two.
struct PromptBody {
  std::string text;
  RawJson content;
  PromptWhen when = PromptWhen::automatic;
  FIELDS {
    visit("text", self.text);
    visit("content", self.content);
    visit("when", self.when);
  }
};

struct QueueEditBody {
  std::string text;
  RawJson content;
  FIELDS {
    visit("text", self.text);
    visit("content", self.content);
  }
};

// Absent members keep their value.
struct PolicyFields {
  std::optional<ResumePolicy> resume;
  std::optional<Inject> inject;
  std::optional<bool> survive;
  std::optional<bool> auto_continue;
  std::optional<std::int64_t> wait_ms;
  std::optional<AgentLimits> limits;  // replaced as a whole
  std::optional<bool> continue_at_reset;
  std::optional<std::int64_t> continue_times;
  std::optional<std::int64_t> continue_hours;
  FIELDS {
    visit("resume", self.resume);
    visit("inject", self.inject);
    visit("survive", self.survive);
    visit("auto_continue", self.auto_continue);
    visit("wait_ms", self.wait_ms);
    visit("limits", self.limits);
    visit("continue_at_reset", self.continue_at_reset);
    visit("continue_times", self.continue_times);
    visit("continue_hours", self.continue_hours);
  }
  bool is_empty() const;
  // Returns `policy` with these values; invalid_argument for an impossible wait or limit.
  Result<Policy> on(Policy policy) const;
};

// A worktree to create for the session, in the repository that contains `cwd`.
struct WorktreeBody {
  std::string branch;  // empty: named after the session
  FIELDS { visit("branch", self.branch); }
};

struct CreateBody {
  std::string agent;  // empty: the default agent
  std::string cwd;    // empty: a folder is created
  TaskId task;
  std::string title;
  RawJson prompt;       // a text, {text} or {content}
  RawJson mcp_servers;  // an array
  std::optional<WorktreeBody> worktree;
  PolicyFields policy;
  std::map<std::string, std::string> env;  // values never enter the journal (K19)
  std::string runtime;                     // empty: the agent's, otherwise standalone
  std::string image;                       // of a container; empty: the agent's or the daemon's
  std::string remote;                      // the name of another host; the runtime is then remote
  FIELDS {
    visit("agent", self.agent);
    visit("cwd", self.cwd);
    visit("task_id", self.task);
    visit("title", self.title);
    visit("prompt", self.prompt);
    visit("mcp_servers", self.mcp_servers);
    visit("worktree", self.worktree);
    self.policy.fields(visit);
    visit("env", self.env);
    visit("runtime", self.runtime);
    visit("image", self.image);
    visit("remote", self.remote);
  }
};

struct ChangeBody {
  std::optional<std::string> title;
  std::optional<std::string> cwd;  // C13: the folder to bind to instead
  RawJson task;                    // an id, or null to leave the task
  RawJson mcp_servers;
  PolicyFields policy;
  FIELDS {
    visit("title", self.title);
    visit("cwd", self.cwd);
    visit("task_id", self.task);
    visit("mcp_servers", self.mcp_servers);
    self.policy.fields(visit);
  }
};

// `answer` is an option id, or the body of an answer: {option_id} or {cancel: true}.
struct WaitBody {
  std::string secret;
  RunId run;
  std::optional<WaitKind> kind;
  RawJson answer;
  FIELDS {
    visit("secret", self.secret);
    visit("run_id", self.run);
    visit("wait_kind", self.kind);
    visit("answer", self.answer);
  }
};

// The same within a resume, where no path contains the token.
struct ResumeWaitBody {
  WaitTokenId token;
  WaitBody body;
  FIELDS {
    visit("token_id", self.token);
    self.body.fields(visit);
  }
};

struct ResumeBody {
  ResumeHow how = ResumeHow::automatic;
  bool strict = false;
  std::string with;  // the agent that continues instead
  std::optional<ResumeWaitBody> wait;
  bool declare_dead = false;
  TaskId task;  // L25: if set, it must be the session's task
  FIELDS {
    visit("how", self.how);
    visit("strict", self.strict);
    visit("with", self.with);
    visit("wait", self.wait);
    visit("declare_dead", self.declare_dead);
    visit("task_id", self.task);
  }
};

struct ForkBody {
  std::uint64_t at = 0;  // 0: up to the newest record
  bool share_cwd = false;
  std::string branch;  // of the copy's own worktree; empty: named after the copy
  FIELDS {
    visit("at", self.at);
    visit("share_cwd", self.share_cwd);
    visit("branch", self.branch);
  }
};

// `if_question` is the `digest` of the question that was shown; any other digest is a conflict.
struct AnswerBody {
  std::string option_id;
  bool cancel = false;
  std::string if_question;
  FIELDS {
    visit("option_id", self.option_id);
    visit("cancel", self.cancel);
    visit("if_question", self.if_question);
  }
};

// Exact, with a title; or typed, with an effect (core/rules/rule.h).
struct RuleBody {
  SessionId session;
  std::string agent;
  std::string title;
  std::string option_kind;
  std::string effect;
  std::vector<std::string> tools;
  std::string path;
  std::vector<std::string> argv;
  std::string folder;
  FIELDS {
    visit("session_id", self.session);
    visit("agent", self.agent);
    visit("title", self.title);
    visit("option_kind", self.option_kind);
    visit("effect", self.effect);
    visit("tools", self.tools);
    visit("path", self.path);
    visit("argv", self.argv);
    visit("folder", self.folder);
  }
};
struct RuleTrialBody {
  RuleBody rule;
  std::int64_t days = 30;
  FIELDS {
    self.rule.fields(visit);
    visit("days", self.days);
  }
};

struct StopBody {
  std::string reason;
  FIELDS { visit("reason", self.reason); }
};

struct CancelBody {
  bool force = false;
  FIELDS { visit("force", self.force); }
};

struct EmptyBody {
  FIELDS {}
};

// Decodes the body; an empty text is {}. invalid_argument names the wrong or unknown member.
template <class T>
Result<T> read_body(std::string_view text) {
  WithUnknown<T> decoded = TRY(decode_fields<T>(text.empty() ? std::string_view("{}") : text));
  if (!decoded.unknown.text.empty()) {
    return fail(Code::invalid_argument, "the body has members that are not known here: " +
                                            decoded.unknown.text.substr(0, 200));
  }
  return std::move(decoded.value);
}

// Exactly one of the two must be given. Each block must be an object with a type.
Result<Prompt> make_prompt(const std::string& text, const RawJson& content);
// A text, {text}, {content}, or absent.
Result<std::optional<Prompt>> read_first_prompt(const RawJson& prompt);
// An array of objects, or absent.
Result<> check_mcp_servers(const RawJson& servers);
// Names must be valid in a shell, and sizes are limited (environment_names_max and others).
Result<> check_environment(const std::map<std::string, std::string>& env);
// The branch of a worktree. Empty is valid: a name is generated.
Result<> check_branch(const std::string& branch);
// {mode: "plan", model: "…"}: one text for each option.
Result<std::map<std::string, std::string>> read_options(std::string_view text);
// The option that an answer chooses; empty means cancel. invalid_argument for neither or both.
Result<std::string> read_choice(const AnswerBody& body);
Result<AnswerWait> read_wait(WaitTokenId token, const WaitBody& body);

}  // namespace perdure
