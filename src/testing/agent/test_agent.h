// The scripted test agent without I/O: stdin bytes and the time go in, its acts come out. The
// program perdure-testagent and the simulator run this same core, so a misbehaviour seen in one can
// be replayed in the other. It reads no clock and no environment, and draws only from its seed.
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
#include "testing/agent/test_agent_home.h"
#include "testing/agent/test_agent_script.h"
#include "testing/agent/test_agent_session.h"
#include "testing/agent/test_agent_switches.h"

namespace perdure::testagent {

// The process's acts, in this order.
struct WriteStdout {
  std::string bytes;
};
struct WriteStderr {
  std::string bytes;
};
struct SpawnChild {
  ChildKind kind = ChildKind::child;  // a process that sleeps until it is killed
  bool serves = false;                // its end must be reported: server_ended()
};
// The last act.
struct ExitProcess {
  int code = 0;
};
// The last act: the process ends by a signal, without cleanup.
struct KillItself {
  int signal = 9;
};
using Act = std::variant<WriteStdout, WriteStderr, SpawnChild, ExitProcess, KillItself>;

struct TestAgentSetup {
  Switches switches;
  std::uint64_t seed = 1;
  std::int64_t now_ms = 0;  // since 1970; never decreases in later ticks
  // Taken at the start: at most one living process may hold it (PROC1). Empty: only the locks of
  // its agent sessions.
  std::string lock;
};

// The exit code after a violation of PROC1.
inline constexpr int exit_violation = 70;

class TestAgent {
 public:
  // `home` must outlive the agent.
  TestAgent(TestAgentSetup setup, AgentHome& home);

  // Stdin bytes, cut anywhere. Counts as happening at the last tick's time.
  void feed(std::string_view bytes);
  void feed_end();
  void tick(std::int64_t now_ms);
  // SIGTERM arrived.
  void terminate();
  // The child that serves it has ended.
  void server_ended();

  // Its acts since the last call.
  std::vector<Act> take_acts();
  // When it wants the next tick; absent: only when input arrives.
  std::optional<std::int64_t> wake_at_ms() const;
  // If false, do not read its stdin, so that the pipe fills up.
  bool reads_stdin() const;
  // Whether it did its last act.
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
    std::int64_t progress = 0;  // within the current step
    std::int64_t not_before_ms = 0;
    std::int64_t paced_from_ms = 0;  // when the current paced step began
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
  // An unanswered request to the client.
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
  // A session id that is neither in the home nor `taken`: equal seeds draw equal numbers.
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
  std::multimap<std::int64_t, std::string> later_;  // lines by due time
  std::vector<Act> acts_;
  std::size_t unread_bytes_ = 0;  // in acts_
  std::int64_t stderr_left_ = 0;
  std::uint64_t frames_written_ = 0;
};

}  // namespace perdure::testagent
