// The runtime's external interfaces: agentctls and notifications. daemon/hosting implements
// Agentctls for real processes, sim/ for simulated ones.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "core/session/effects.h"
#include "core/session/inputs.h"

namespace perdure {

// Everything needed to start an agentctl; the executor looks up values of environment variables.
struct LaunchSpec {
  SessionId session;
  ExecId exec;
  Gen gen = 0;
  AgentProfile agent;       // without a name: an imported session that has none yet (C13)
  bool wants_agent = true;  // false: only the workspace is needed
  bool has_agent = true;    // or already has one, according to the journal
  Workspace workspace;
  std::string runtime;
  std::string image = {};   // if the runtime uses containers
  std::string remote = {};  // which host, for the runtime `remote`
  RawJson mcp_servers;      // an array; absent: none
  bool survive = true;      // C9
  std::optional<AgentLimits> limits = {};
  // K42: arguments for an agent that is resumed by its command line. Empty: none.
  std::string agent_session_id = {};
  std::string last_message_id = {};
  Timestamp context_opened = {};  // when the agent last created or restored that session
};

struct ExecKey {
  SessionId session;
  ExecId exec;
  Gen gen = 0;
  auto operator<=>(const ExecKey&) const = default;
};

// How an execution ended.
struct ExecEnding {
  ExecEnding(const char* how) : proof(how) {}             // NOLINT: a proof is an ending
  ExecEnding(std::string how) : proof(std::move(how)) {}  // NOLINT
  ExecEnding(std::string how, std::string why) : proof(std::move(how)), code(std::move(why)) {}
  std::string proof;  // proof that none of its processes is left; for people
  std::string code;   // of base/result.h, if the cause has one
};

// Callbacks of Agentctls, on the runtime's loop, never within a call to it.
class AgentctlEvents {
 public:
  virtual ~AgentctlEvents() = default;
  // The link to a living agentctl is up; frames follow from the requested number.
  virtual void on_attached(const ExecKey& exec) = 0;
  // In order and without gaps after the requested number. At most frames_unacked_max are sent ahead
  // of the last ack, so that a full disk or a slow runtime stops the agent and drops nothing.
  virtual void on_frame(const ExecKey& exec, Frame frame) = 0;
  // The agentctl has executed every command up to this number (0: none yet).
  virtual void on_commands_acted(const ExecKey& exec, std::uint64_t number) = 0;
  // The link broke or went silent. That does not prove that the agentctl is dead; on_attached
  // follows when it is heard again.
  virtual void on_detached(const ExecKey& exec) = 0;
  // Proved: nothing of this execution is left, and every frame of its spool was delivered before.
  virtual void on_gone(const ExecKey& exec, const ExecEnding& ending) = 0;
};

class Agentctls {
 public:
  virtual ~Agentctls() = default;
  // Starts the agentctl and attaches to it. Repeated for the same execution it starts only one: the
  // second call attaches. A start that fails ends in on_gone.
  virtual void start(const LaunchSpec& spec, std::uint64_t epoch) = 0;
  // Attaches to an agentctl of an earlier daemon, requesting frames after `from`. Ends in
  // on_attached or on_gone, or in neither while the outcome is unknown; it retries automatically.
  virtual void attach(const LaunchSpec& spec, std::uint64_t epoch, FrameNo from) = 0;
  // Sends a numbered command; only while attached, and lost if the link breaks.
  virtual void send(const ExecKey& exec, const SendCommand& command) = 0;
  // Everything up to this frame is in the journal: the spool may drop it.
  virtual void ack(const ExecKey& exec, FrameNo frame) = 0;
  // Ends the execution and its whole process tree; on_gone follows when that is proved.
  virtual void stop(const ExecKey& exec) = 0;
  // Another daemon owns it now: no further action is taken on it and nothing more is reported.
  virtual void let_go(const ExecKey& exec) = 0;
};

// Files, git and shells of a session, served by its agentctl with or without an agent
// (docs/protocol/workspace.md).
class Workspaces {
 public:
  using OnResult = std::move_only_function<void(Result<std::string>)>;
  using OnShellNews = std::function<void(const std::string& shell)>;

  virtual ~Workspaces() = default;
  // One call; `params` and the result are JSON objects. `unavailable` if no link to the execution
  // is up, or if it breaks before the reply. Never answers within the call.
  virtual void call(const ExecKey& exec, std::string method, std::string params, OnResult done) = 0;
  // Called when a shell of the execution has new output, until unwatch().
  virtual std::uint64_t watch_shells(const ExecKey& exec, OnShellNews news) = 0;
  virtual void unwatch_shells(std::uint64_t number) = 0;
};

// Sends notifications; after a crash one may be repeated.
class Notifier {
 public:
  virtual ~Notifier() = default;
  virtual void notify(SessionId session, const Notify& what) = 0;
};

// The number of frames that an agentctl may send ahead of the last ack.
inline constexpr FrameNo frames_unacked_max = 256;

}  // namespace perdure
