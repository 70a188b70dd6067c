// One agent process and the conversation with it. The daemon's commands go in, frames come out. It
// trusts nothing the agent says about itself: it serialises prompts, drops replayed history (C10),
// applies settings again before the first prompt (R9) and escalates an ignored cancel to SIGKILL
// (X4). The end of the process is always exactly one frame.
#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentctl/supervisor/agent/bounded.h"
#include "agentctl/supervisor/agent/failures.h"
#include "agentctl/supervisor/agent/normalise.h"
#include "agentctl/supervisor/agent/turn_commands.h"
#include "base/bytes/hash.h"
#include "base/limits.h"
#include "core/acp/client/client.h"
#include "core/wire/agentctl/bootstrap.h"
#include "core/wire/agentctl/effect.h"
#include "core/wire/agentctl/frame.h"
#include "env/env.h"
#include "env/process.h"

namespace perdure {

// Receives frames for the spool, in order.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual void write(RunId run, FrameBody body) = 0;
  // When this returns, the frame outlives the process. On an error it is never written.
  virtual Result<> write_now(RunId run, FrameBody body) = 0;
};

// Serves the agent's requests to its client: files and terminals, if offered.
class AgentRequests {
 public:
  using Reply = std::move_only_function<void(std::expected<std::string, acp::RpcError>)>;
  virtual ~AgentRequests() = default;
  // Returns false if the method is unknown. Otherwise the reply comes now or later.
  virtual bool serve(const std::string& method, const std::string& params, Reply reply) = 0;
};

struct AgentPorts {
  Clock& clock;
  Loop& loop;
  Processes& processes;
  FrameSink& frames;
  AgentRequests* requests = nullptr;  // null: every request is refused
};

struct AgentSetup {
  AgentLaunch launch;
  std::string cwd;
  std::vector<std::string> environment;  // NAME=value, in addition to the launch's
  std::string mark;                      // NAME=value, set only for this agent's processes
};

class Agent final : private ProcessEvents {
 public:
  Agent(AgentPorts ports, AgentSetup setup);
  ~Agent() override;

  // The commands of core/wire/agentctl/effect.h. None returns an error: failures are reported as
  // frames.
  void act(const StartAgent& command);
  void act(const OpenSession& command);
  void act(const SendPrompt& command);
  void act(const SteerPrompt& command);
  void act(const CancelPrompt& command);
  void act(const AnswerRequest& command);
  void act(const SetOptions& command);

  // Ends the agent in order: end of input, SIGTERM, SIGKILL. Calls back when none of its processes
  // is left; immediately if there is none.
  void stop(std::move_only_function<void()> stopped);

  // Backpressure: while paused, the agent's output is not read.
  void pause();
  void resume();

  bool is_running() const { return process_ != nullptr; }
  bool is_busy() const { return turn_.has_value() || phase_ == Phase::opening; }
  std::string_view phase_text() const;  // none, starting, ready, busy, stopping
  const std::optional<acp::AgentAbilities>& abilities() const { return abilities_; }
  std::uint64_t updates_dropped() const { return updates_dropped_; }

 private:
  enum class Phase { none, starting, ready, opening, open, stopping };
  // A session that is being opened. Conversation that arrives during this time is history: it is
  // counted and hashed, not reported.
  struct Opening {
    OpenSession command;
    std::optional<acp::SessionOpened> answer;
    std::deque<acp::OptionValue> to_apply;
    BoundedTexts observed{{options_known_max, agent_ids_bytes_max}};
    std::vector<acp::Updated> early;  // kept for later: not history
    std::size_t early_bytes = 0;      // of everything received, kept or not
    std::uint64_t replayed_prompts = 0;
    std::uint64_t replayed_updates = 0;
    Sha256 replay_hash;
    bool in_user_message = false;
    std::string user_message_id;
    bool without_mcp = false;  // X15: retried with an empty list
  };
  struct Turn {
    RunId run;
    std::size_t prompts_open = 1;  // including steered ones; the turn ends with the last answer
    bool cancelling = false;
    bool clears = false;
    bool timed_out = false;           // it is being ended for exceeding its time limit
    std::int64_t ends_ms = 0;         // when the time limit expires; 0: no limit
    std::int64_t asked_since_ms = 0;  // waiting for a person since then; does not count
    std::optional<std::int64_t> stalled_since_ms;  // reported, with this last sign of life
    std::string said;                              // the beginning of the agent's text
    bool did_more = false;                         // more than text
  };
  struct Permission {
    acp::RpcId id;
    RunId run;
  };
  // The call that was answered, and the session id in the answer.
  struct OpenAnswer {
    acp::Call call = acp::Call::open_new;
    std::string session_id;
  };

  // ProcessEvents
  void on_output(std::string_view bytes) override;
  void on_error_output(std::string_view bytes) override;
  void on_output_end() override;
  void on_exit(const ProcessExit& exit) override;

  // Process lifetime: agent.cc
  void spawn();
  void begin_again();
  void send(const std::string& bytes);
  Family family() const { return {process_->pid(), setup_.mark}; }
  void arm(Loop::TimerId& timer, std::int64_t delay_ms, void (Agent::*then)());
  void disarm(Loop::TimerId& timer);
  void initialize_timed_out();
  void end_by(std::string why);
  void terminate();
  void kill();
  void sweep();
  void write(FrameBody body) { ports_.frames.write(turn_ ? turn_->run : RunId{}, std::move(body)); }
  void write_all(std::vector<FrameBody>& bodies);
  std::string exit_reason(const ProcessExit& exit) const;
  std::string stderr_told() const;

  // Messages from the agent: agent_events.cc
  void dispatch(acp::Event event);
  void dispatch_all();
  void on(acp::Initialized event);
  void on(acp::SessionOpened event);
  void on(acp::Updated event);
  void on(acp::PermissionAsked event);
  void on(acp::Asked event);
  void on(acp::AskedNoMore event);
  void on(acp::TurnEnded event);
  void on(acp::CallFailed event);
  void on(acp::OptionSet event);
  void on(acp::Answered event);
  void on(acp::Noise event);
  void on(acp::Notified event);
  void show(acp::Updated event);

  // Opening: agent_open.cc
  std::int64_t early_for_load_ms() const;
  void call_open();
  bool is_awaited(const OpenAnswer& answer) const;
  void gate(acp::Updated event);
  void note_said(const std::vector<FrameBody>& frames);
  std::optional<RunFailed> failure_told_as_text() const;
  void observe(const std::vector<acp::OptionValue>& options);
  void settled();
  void option_answered();
  void apply_next_option();
  void finish_open();
  void fail_open(OpenFailure failure, std::string message);
  void open_went_quiet();

  // Turns: agent_turn.cc
  bool has_room_for(const SendPrompt& command) const;
  void begin_next();
  std::int64_t replay_settles_ms() const;
  void begin_turn(const SendPrompt& command);
  bool takes_steer(RunId run) const;
  void end_turn(FrameBody end);
  void end_commands();
  bool ends_with_execution() const;
  void leave_turn();
  bool is_answered_in_part();
  void fail_turn(const acp::CallFailed& event);
  void cancel_permissions();
  void cancel_ignored();
  void set_next_option();
  void look_for_stall();
  void look_at_length();
  void note_wait();
  RunFailed too_long() const;

  AgentPorts ports_;
  AgentSetup setup_;
  Phase phase_ = Phase::none;
  std::unique_ptr<Process> process_;
  std::optional<acp::Client> client_;
  std::optional<acp::AgentAbilities> abilities_;
  Normaliser normaliser_;
  std::string session_id_;
  // X5: sessions whose opening failed; their updates are dropped.
  RecentTexts refused_sessions_{{sessions_refused_max, agent_ids_bytes_max}};
  bool history_gate_ = false;                  // from a load or resume until the first prompt
  std::uint64_t late_replay_ = 0;              // updates that this gate dropped
  std::int64_t late_replay_ms_ = 0;            // when the last of them arrived
  std::optional<std::int64_t> held_since_ms_;  // a prompt waits for a late replay to end
  std::optional<Opening> opening_;
  std::optional<Turn> turn_;
  std::deque<SendPrompt> waiting_;
  TurnCommands commands_{ports_.loop, ports_.processes};
  std::deque<acp::OptionValue> setting_;  // SetOptions in progress, one at a time
  std::map<std::string, Permission> permissions_;
  std::map<acp::RpcId, std::uint64_t> asked_;  // unanswered agent requests: id, our number
  std::uint64_t requests_ = 0;
  std::string stderr_tail_;  // and a little more than is reported
  std::string ending_;       // why we end the agent; empty if we do not
  bool restart_ = false;
  bool paused_ = false;
  bool draining_ = false;  // killed: its last output is read even if paused
  bool first_start_ = true;
  std::uint64_t early_deaths_ = 0;  // in a row, before a session opened (P14)
  std::int64_t last_sign_ms_ = 0;   // of life
  std::uint64_t updates_dropped_ = 0;
  std::vector<acp::Event> events_;
  std::move_only_function<void()> stopped_;
  Loop::TimerId phase_timer_ = 0;
  Loop::TimerId ladder_timer_ = 0;
  Loop::TimerId stall_timer_ = 0;
  Loop::TimerId hold_timer_ = 0;
  Loop::TimerId length_timer_ = 0;
};

}  // namespace perdure
