// The demo agent without I/O: bytes of its stdin and the time go in, lines come out, and what it
// does to the workspace goes through DemoWorld. It can be cancelled between any two chunks.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "demo/agent_lines.h"
#include "demo/agent_updates.h"
#include "demo/demo_session.h"
#include "demo/story.h"

namespace perdure::demo {

struct CommandRun {
  std::int64_t number = 0;  // names it in what comes back
  std::string cwd;
  std::vector<std::string> words;
};

// Where the demo agent leaves traces.
class DemoWorld {
 public:
  virtual ~DemoWorld() = default;
  virtual std::optional<std::string> load_session(const std::string& id) = 0;
  virtual void store_session(const std::string& id, const std::string& text) = 0;
  virtual std::vector<std::string> list_sessions() = 0;

  // None: there is no such file, or it is no short text.
  virtual std::optional<std::string> read_file(const std::string& path) = 0;
  // Makes the folder too. invalid_argument, denied, disk_full: nothing was written.
  virtual Result<> write_file(const std::string& path, std::string_view text) = 0;
  // Its output and end come back through the agent's command_output() and command_ended(), also
  // when it could not be started.
  virtual void start_command(const CommandRun& run) = 0;
  // One that has ended is ignored.
  virtual void kill_command(std::int64_t number) = 0;
};

class DemoAgent {
 public:
  // `world` outlives the agent. Session ids are made from the seed.
  DemoAgent(DemoWorld& world, std::uint64_t seed);

  // Bytes of its stdin, cut anywhere. Happens at the time of the last tick.
  void feed(std::string_view bytes);
  void tick(std::int64_t now_ms);
  void command_output(std::int64_t number, std::string_view bytes);
  void command_ended(std::int64_t number, int code);

  // Bytes for stdout since the last call.
  std::string take_output();
  // When it wants to be ticked next; none: only when something comes in.
  std::optional<std::int64_t> wake_at_ms() const;

 private:
  struct Turn {
    RequestId request;
    std::deque<Beat> beats;
    std::size_t offset = 0;  // within the text of the first beat
    std::int64_t due_ms = 0;
    bool said_yes = true;  // how the last write, run or ask went
    std::int64_t messages = 0;
    std::int64_t tools = 0;
    std::vector<PlanItem> plan;
    ToolView tool;  // the open one; no id: none
    std::optional<RequestId> question;
    std::int64_t command = 0;  // the running one
    std::string output;
    bool has_news = false;  // in output
    std::int64_t command_until_ms = 0;
  };
  struct Session {
    KeptSession kept;
    std::optional<Turn> turn;
    std::deque<std::pair<RequestId, std::string>> waiting;
  };

  void on_line(std::string_view line);
  void on_request(const ClientMessage& message);
  void on_session_request(const ClientMessage& message, Session& session);
  void initialize(const ClientMessage& message);
  void open_new(const ClientMessage& message);
  void reopen(const ClientMessage& message);
  void list_sessions(const ClientMessage& message);
  void set_option(const ClientMessage& message, Session& session);
  void set_mode(const ClientMessage& message, Session& session);
  RawJson opened_result(const Session& session) const;
  void announce(const Session& session);

  // The turn (demo_turn.cc).
  void accept_prompt(Session& session, const RequestId& request, std::string prompt);
  void start_turn(Session& session, const RequestId& request, const std::string& prompt);
  void play(Session& session);
  void play_beat(Session& session, Turn& turn, const Beat& beat);
  void stream(Session& session, Turn& turn, const Beat& beat);
  void begin_write(Session& session, Turn& turn, const Beat& beat);
  void do_write(Session& session, Turn& turn);
  void begin_read(Session& session, Turn& turn, const Beat& beat);
  void begin_run(Session& session, Turn& turn, const Beat& beat);
  void begin_ask(Session& session, Turn& turn, const Beat& beat);
  void ask(Session& session, Turn& turn);
  void on_answer(const ClientMessage& message);
  void show_output(Session& session, Turn& turn);
  void open_tool(Session& session, Turn& turn, ToolView tool);
  void close_tool(Session& session, Turn& turn, ToolView change);
  void next_beat(Turn& turn);
  void advance_plan(Session& session, Turn& turn);
  void cancel(Session& session);
  void end_turn(Session& session, std::string_view stop_reason);
  void save(const Session& session);
  std::pair<Session*, Turn*> turn_of_command(std::int64_t number);

  void update(const Session& session, const Update& update);
  std::uint64_t random();

  DemoWorld& world_;
  std::uint64_t random_state_;
  std::int64_t now_ms_ = 0;
  LineSplitter lines_;
  std::map<std::string, Session> sessions_;
  std::int64_t last_question_ = 0;
  std::int64_t last_command_ = 0;
  std::string output_;
};

}  // namespace perdure::demo
