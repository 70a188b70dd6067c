// The scripted test agent without I/O: bytes of its stdin and the time go in, what it does comes
// out. The program perdure-testagent and the simulator run this same core, so a misbehaviour that
// one of them shows can be replayed in the other. It reads no clock and no environment, and draws
// from its seed only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "demo/agent_lines.h"
#include "demo/agent_updates.h"
#include "testing/test_agent_home.h"
#include "testing/test_agent_script.h"
#include "testing/test_agent_session.h"
#include "testing/test_agent_switches.h"

namespace perdure::testagent {

// What the process does, in this order.
struct WriteStdout {
  std::string bytes;
};
struct WriteStderr {
  std::string bytes;
};
struct SpawnChild {
  ChildKind kind = ChildKind::child;  // a process that sleeps until it is killed
  bool serves = false;                // its end is to be told: server_ended()
};
// The last act.
struct ExitProcess {
  int code = 0;
};
// The last act: the process ends by a signal, without any cleaning up.
struct KillItself {
  int signal = 9;
};
using Act = std::variant<WriteStdout, WriteStderr, SpawnChild, ExitProcess, KillItself>;

struct TestAgentSetup {
  Switches switches;
  std::uint64_t seed = 1;
  std::int64_t now_ms = 0;  // since 1970; later ticks never go back
  // Taken at the start: at most one living process may have it (PROC1). Empty: none besides those
  // of its agent sessions.
  std::string lock;
};

// Exit code after a violation of PROC1.
inline constexpr int exit_violation = 70;

class TestAgent {
 public:
  // `home` outlives the agent.
  TestAgent(TestAgentSetup setup, AgentHome& home);

  // Bytes of its stdin, cut anywhere. Happens at the time of the last tick.
  void feed(std::string_view bytes);
  void feed_end();
  void tick(std::int64_t now_ms);
  // SIGTERM arrived.
  void terminate();
  // The child that serves it is gone.
  void server_ended();

  // What it did since the last call.
  std::vector<Act> take_acts();
  // When it wants to be ticked next; none: only when input arrives.
  std::optional<std::int64_t> wake_at_ms() const;
  // False: whoever feeds it must leave its stdin alone, so that the pipe fills up.
  bool reads_stdin() const;
  // Did its last act.
  bool has_ended() const { return ended_; }
  std::uint64_t frames_written() const { return frames_written_; }

 private:
  struct Prompt {
    demo::RequestId request;
    demo::PromptText text;
  };
  struct Turn {
    demo::RequestId request;
    std::int64_t number = 0;  // of the prompt in its session
    std::uint64_t chunks = 0;
    std::uint64_t thoughts = 0;
    std::uint64_t tools = 0;
    std::deque<Step> steps;
    std::int64_t progress = 0;  // within the first step
    std::int64_t not_before_ms = 0;
    std::int64_t paced_from_ms = 0;  // when the present paced step began
    std::string open_tool;
    std::size_t asks_open = 0;
    bool hangs = false;
    std::int64_t background = 0;
    std::string stop_reason = "end_turn";
    std::optional<demo::RpcFault> error;
  };
  struct Session {
    KeptSession kept;
    std::optional<Turn> turn;
    std::deque<Prompt> waiting;
  };
  // A question to the client that has no answer yet.
  struct Ask {
    std::string session_id;
    std::int64_t prompt_number = 0;
    std::string tool_id;  // empty: a `call`
  };
  enum class Progress { again, next_step, blocked };

  // Requests (test_agent.cc).
  void on_line(std::string_view line);
  void on_request(const demo::ClientMessage& message);
  void on_session_request(const demo::ClientMessage& message, Session& session);
  void on_answer(const demo::ClientMessage& message);
  void initialize(const demo::ClientMessage& message);
  void list_sessions(const demo::ClientMessage& message);
  void set_option(const demo::ClientMessage& message, Session& session);
  void set_mode(const demo::ClientMessage& message, Session& session);
  void cancel(Session& session);
  void exit_cleanly();

  // Opening sessions (test_agent_open.cc).
  enum class Opening { load, resume };
  void open_new(const demo::ClientMessage& message);
  void reopen(const demo::ClientMessage& message, Opening opening);
  bool refuses_servers(const demo::ClientMessage& message);
  bool refuses_to_open(const demo::ClientMessage& message, const OpenFaults& faults);
  void answer_opening(const demo::ClientMessage& message, const KeptSession& kept,
                      const OpenFaults& faults, Opening opening);
  std::optional<KeptSession> restored(const std::string& session_id, const OpenFaults& faults);
  bool take_lock(const std::string& name);
  // A session id that neither the home knows nor `taken` is: equal seeds draw equal numbers.
  std::string unused_id(const std::string& taken);
  struct Shown {
    std::string session_id;  // empty: none
  };
  RawJson opened_result(const KeptSession& kept, const Shown& shown) const;

  // Turns (test_agent_turn.cc).
  void accept_prompt(const demo::ClientMessage& message, Session& session);
  bool refuses_prompt(const demo::ClientMessage& message);
  void start_turn(Session& session, Prompt prompt);
  void add_switched_steps(Turn& turn) const;
  void end_turn(Session& session);
  void answer_turn(Session& session, const Turn& turn);
  bool run_turn(Session& session);
  void misbehave(Session& session);
  void save(const Session& session);

  // Steps (test_agent_steps.cc).
  Progress run_step(Session& session, Turn& turn, const Step& step);
  Progress run_other_step(Session& session, Turn& turn, const Step& step);
  Progress run_ending_step(Turn& turn, const Step& step);
  Progress stream(Session& session, Turn& turn, const Step& step);
  Progress stream_paced(Session& session, Turn& turn, const Step& step);
  void open_tool(Session& session, Turn& turn);
  Progress run_tool(Session& session, Turn& turn, const Step& step);
  Progress run_output(Session& session, Turn& turn, const Step& step);
  Progress run_command(Session& session, Turn& turn, const Step& step);
  Progress ask_permission(Session& session, Turn& turn, const Step& step);
  Progress call_client(Session& session, Turn& turn, const Step& step);
  Progress run_plan(Session& session, Turn& turn);
  Progress recall(Session& session, Turn& turn);
  void say(Session& session, Turn& turn, std::string_view payload);
  void send_permission(Session& session, Turn& turn, const Step& step);
  void state_update(const Session& session, std::string_view state);

  // Output (test_agent_output.cc).
  void update(const Session& session, const demo::Update& update);
  void frame(std::string line);
  void frame_later(std::int64_t delay_ms, std::string line);
  void flush_due_frames();
  void write_stderr_piece();
  bool output_is_full() const;
  void act(Act act);
  void die(Death death);
  std::uint64_t random();

  TestAgentSetup setup_;
  const Switches& switches_;
  AgentHome& home_;
  std::int64_t now_ms_ = 0;
  std::uint64_t random_state_ = 0;
  demo::Dialect dialect_ = demo::Dialect::v1;
  demo::LineSplitter lines_;
  std::int64_t lines_read_ = 0;
  bool authenticated_ = false;
  bool ended_ = false;
  std::map<std::string, Session> sessions_;
  std::multimap<std::string, Ask> asks_;  // by the JSON text of their id, which may be reused
  std::int64_t last_ask_ = 0;
  std::int64_t limited_until_ms_ = -1;
  std::multimap<std::int64_t, std::string> later_;  // lines by their time
  std::vector<Act> acts_;
  std::size_t unread_bytes_ = 0;  // in acts_
  std::int64_t stderr_left_ = 0;
  std::uint64_t frames_written_ = 0;
};

}  // namespace perdure::testagent
