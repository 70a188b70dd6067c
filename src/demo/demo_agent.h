// The demo agent without I/O: it takes stdin bytes and the time, returns lines, and acts on the
// workspace through DemoWorld. It can be cancelled between any two chunks.
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
  std::int64_t number = 0;  // identifies it in callbacks
  std::string cwd;
  std::vector<std::string> words;
};

// The demo agent's interface to files and commands.
class DemoWorld {
 public:
  virtual ~DemoWorld() = default;
  virtual std::optional<std::string> load_session(const std::string& id) = 0;
  virtual void store_session(const std::string& id, const std::string& text) = 0;
  virtual std::vector<std::string> list_sessions() = 0;

  // Nothing if the file is missing or is not a short text.
  virtual std::optional<std::string> read_file(const std::string& path) = 0;
  // Creates the folder too. invalid_argument, denied, disk_full: nothing was written.
  virtual Result<> write_file(const std::string& path, std::string_view text) = 0;
  // Reports output and end through the agent's command_output() and command_ended(), even if the
  // start failed.
  virtual void start_command(const CommandRun& run) = 0;
  // Ignored if the command has ended.
  virtual void kill_command(std::int64_t number) = 0;
};

class DemoAgent {
 public:
  // `world` must outlive the agent. Session ids derive from the seed.
  DemoAgent(DemoWorld& world, std::uint64_t seed);

  // Bytes from stdin, split anywhere. Handled as of the last tick's time.
  void feed(std::string_view bytes);
  void tick(std::int64_t now_ms);
  void command_output(std::int64_t number, std::string_view bytes);
  void command_ended(std::int64_t number, int code);

  // Bytes for stdout since the last call.
  std::string take_output();
  // When to call tick() next; nothing: only after input.
  std::optional<std::int64_t> wake_at_ms() const;

 private:
  struct Turn {
    RequestId request;
    std::deque<Beat> beats;
    std::size_t offset = 0;  // within the first beat's text
    std::int64_t due_ms = 0;
    bool said_yes = true;  // outcome of the last write, run or ask
    std::int64_t messages = 0;
    std::int64_t tools = 0;
    std::vector<PlanItem> plan;
    ToolView tool;  // the open one; without an id: none
    std::optional<RequestId> question;
    std::int64_t command = 0;  // the running one
    std::string output;
    bool has_news = false;  // in the command's output
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
