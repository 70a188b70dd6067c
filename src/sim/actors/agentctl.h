// A simulated agentctl with its agent: a process outside the daemon. Its spool keeps every frame
// until it is acked, it executes each numbered command once, and the agent follows a script drawn
// from the seed. The host simulates the link to the daemon; this is the process itself.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/runtime/ports.h"
#include "sim/world/universe.h"

namespace perdure::sim {

// The sessions on an agent's own disk, which it can resume or load. Outlives processes.
struct AgentHome {
  struct Kept {
    std::uint64_t prompts = 0;
  };
  std::map<std::string, Kept> sessions;
  std::uint64_t last_session = 0;
  AgentAbilities abilities;
};

// Reports process events to the rest of the world; the host implements it.
class AgentctlWatcher {
 public:
  virtual ~AgentctlWatcher() = default;
  virtual void on_spooled(const ExecKey& exec) = 0;
  virtual void on_acted(const ExecKey& exec, const SendCommand& command) = 0;
  virtual void on_died(const ExecKey& exec) = 0;
};

class Agentctl {
 public:
  Agentctl(Universe& universe, LaunchSpec spec, AgentHome& home, AgentctlWatcher& watcher);

  const ExecKey& key() const { return key_; }
  bool is_alive() const { return alive_; }
  bool agent_is_alive() const { return agent_.alive; }
  bool is_paused() const { return pause_left_ms() > 0; }
  std::int64_t pause_left_ms() const { return paused_until_ms_ - universe_.scheduler.now_ms(); }
  // The process starts and reports so, or fails.
  void boot();
  // kill -9 of the whole tree. The spool stays.
  void kill();
  // The orderly end: cancel, TERM, KILL, then the process exits.
  void stop();
  void pause(std::int64_t for_ms);
  // The world is healed: ends a hang.
  void heal();

  // Executes each number once, in order.
  void command(const SendCommand& command);
  std::uint64_t commands_acted() const { return commands_acted_; }

  // Every frame ever written; frame n is at n - 1. Acked ones are kept only for the judge.
  const std::vector<Frame>& frames() const { return frames_; }
  FrameNo acked() const { return acked_; }
  void ack(FrameNo frame);

  // Whether the agent waits for an answer to this question.
  bool has_open_request(const std::string& request) const {
    return agent_.requests.contains(request);
  }
  std::size_t open_requests() const { return agent_.requests.size(); }
  std::uint64_t owner_epoch = 0;

 private:
  enum class Act {
    say,
    think,
    call_tool,
    finish_tool,
    fail_tool,
    plan,
    usage,
    set_mode,
    list_commands,
    other,
    ask,
    withdraw,
    clear,
    compact,
    finish,
    finish_cancelled,
    fail,
    crash,
    exit_clean,
    hang,
    say_late
  };
  struct Agent {
    bool alive = false;
    std::uint64_t life = 0;
    bool starting = false;
    std::string session_id;
    RunId run;  // the prompt in progress
    RunId last_run;
    std::deque<Act> script;
    std::deque<SendPrompt> prompts;  // waiting for the one before to end
    std::set<std::string> requests;  // open questions
    std::vector<std::string> tools;  // open tool calls
    bool cancelled = false;
    bool ignores_cancel = false;
    bool hangs = false;
    bool ticking = false;
  };

  bool odd() { return universe_.prng.chance(universe_.faults.agent_odd); }
  void write(FrameBody body, RunId run);
  void write_here(FrameBody body) { write(std::move(body), agent_.run); }
  void later(std::int64_t delay_ms, std::move_only_function<void()> task);
  void agent_later(std::int64_t delay_ms, std::move_only_function<void()> task);

  void act(const StartAgent& command);
  void act(const OpenSession& command);
  void act(const SendPrompt& command);
  void act(const SteerPrompt& command);
  void steer(const SteerPrompt& command);
  void act(const CancelPrompt& command);
  void act(const AnswerRequest& command);
  void act(const SetOptions& command);

  void answer_open(const OpenSession& command);
  bool answer_open_oddly(const OpenSession& command);
  void open_fresh(const OpenSession& command);
  void open_native(const OpenSession& command);
  void opened(const OpenSession& command, FrameSessionOpened frame);
  void open_failed(OpenMethod method, OpenFailure failure);
  void begin_prompt(const SendPrompt& prompt);
  void draw_script();
  void tick();
  void keep_ticking();
  bool play(Act act);
  RunFailed draw_failure();
  void ask();
  void end_prompt(FrameBody body);
  void agent_exits(std::optional<std::int64_t> code, std::optional<std::int64_t> signal,
                   const std::string& why);
  std::string unique(const char* what);

  Universe& universe_;
  LaunchSpec spec_;
  ExecKey key_;
  AgentHome& home_;
  AgentctlWatcher& watcher_;
  bool alive_ = true;
  std::int64_t paused_until_ms_ = 0;
  std::vector<Frame> frames_;
  FrameNo acked_ = 0;
  std::uint64_t commands_acted_ = 0;
  std::uint64_t names_ = 0;
  Agent agent_;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

}  // namespace perdure::sim
