// What the runtime needs from the outside and does not do itself: agentctls, and somebody to tell.
// executors/ implements Agentctls for real processes, sim/ for simulated ones.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "session/effects.h"
#include "session/inputs.h"

namespace perdure {

// Everything needed to start an agentctl; values of environment variables are looked up there.
struct LaunchSpec {
  SessionId session;
  ExecId exec;
  Gen gen = 0;
  AgentProfile agent;       // without a name: an imported session that has none yet (C13)
  bool wants_agent = true;  // false: the workspace is all that is asked for
  bool has_agent = true;    // or has one already, as far as the journal says
  Workspace workspace;
  std::string runtime;
  std::string image = {};   // of a runtime with containers
  std::string remote = {};  // of the runtime remote: which host
  RawJson mcp_servers;      // an array; absent: none
  bool survive = true;      // C9
  std::optional<AgentLimits> limits = {};
  // K42: what an agent that is resumed by its command line has to be told. Empty: nothing.
  std::string agent_session_id = {};
  std::string last_message_id = {};
  Timestamp context_opened = {};  // when the agent last made or restored that session
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
  std::string proof;  // that nothing of it is left; for people
  std::string code;   // of base/result.h, where the cause has one
};

// Comes back from Agentctls, on the runtime's loop, never from inside a call to it.
class AgentctlEvents {
 public:
  virtual ~AgentctlEvents() = default;
  // The link to a living agentctl is up; frames follow from the number asked for.
  virtual void on_attached(const ExecKey& exec) = 0;
  // In order and without gap behind the number asked for. At most frames_unacked_max are sent ahead
  // of the last ack, so that a full disk or a slow runtime stops the agent and drops nothing.
  virtual void on_frame(const ExecKey& exec, Frame frame) = 0;
  // The agentctl has acted on every command up to this number (0: on none yet).
  virtual void on_commands_acted(const ExecKey& exec, std::uint64_t number) = 0;
  // The link broke, or nothing is heard over it. That says nothing about the agentctl (silence is
  // not death); on_attached follows when it is heard again.
  virtual void on_detached(const ExecKey& exec) = 0;
  // Proved: nothing of this execution is left, and every frame its spool held was given before.
  virtual void on_gone(const ExecKey& exec, const ExecEnding& ending) = 0;
};

class Agentctls {
 public:
  virtual ~Agentctls() = default;
  // Starts the agentctl and attaches to it. Asked twice for the same execution it starts one: the
  // second call attaches. A start that fails ends in on_gone.
  virtual void start(const LaunchSpec& spec, std::uint64_t epoch) = 0;
  // Attaches to one that an earlier daemon started; frames behind `from` are wanted. Ends in
  // on_attached, in on_gone, or in neither as long as that is unknown; goes on trying by itself.
  virtual void attach(const LaunchSpec& spec, std::uint64_t epoch, FrameNo from) = 0;
  // Sends a numbered command; only while attached, and lost if the link breaks.
  virtual void send(const ExecKey& exec, const SendCommand& command) = 0;
  // Everything up to this frame is in the journal: the spool may be cut behind it.
  virtual void ack(const ExecKey& exec, FrameNo frame) = 0;
  // Ends the execution and its whole process tree; on_gone follows when that is proved.
  virtual void stop(const ExecKey& exec) = 0;
  // It is another daemon's now: nothing is done to it any more, and nothing of it is told.
  virtual void let_go(const ExecKey& exec) = 0;
};

// Files, git and shells of a session, served by its agentctl with or without an agent
// (docs/protocol/workspace.md).
class Workspaces {
 public:
  using OnResult = std::move_only_function<void(Result<std::string>)>;
  using OnShellNews = std::function<void(const std::string& shell)>;

  virtual ~Workspaces() = default;
  // One call; `params` is a JSON object, and so is the result. `unavailable` when no link to the
  // execution is up, or when it breaks before the reply. Never answers from inside the call.
  virtual void call(const ExecKey& exec, std::string method, std::string params, OnResult done) = 0;
  // Told when a shell of the execution has something new to read, until unwatch().
  virtual std::uint64_t watch_shells(const ExecKey& exec, OnShellNews news) = 0;
  virtual void unwatch_shells(std::uint64_t number) = 0;
};

// Hands out notifications; may be told twice after a crash.
class Notifier {
 public:
  virtual ~Notifier() = default;
  virtual void notify(SessionId session, const Notify& what) = 0;
};

// How many frames an agentctl sends ahead of the last ack.
inline constexpr FrameNo frames_unacked_max = 256;

}  // namespace perdure
