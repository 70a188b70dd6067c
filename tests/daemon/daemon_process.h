// A real `perdure serve` for tests of several folders: its own data folder below the tests'
// temporary one, a config with scripted test agents, and a mark that finds all processes it
// started.
//
//   DaemonProcess daemon;                        // folders and config; nothing runs yet
//   ASSERT_TRUE(daemon.start());                 // serves
//   ApiClient client(daemon.endpoint());         // one per thread
//   const std::string session = client.create_session({.agent = "test"});
//   daemon.kill_daemon();                        // SIGKILL; agentctls and agents live on
//   ASSERT_TRUE(daemon.start());                 // the next run
//
// The mark is HOME, which the daemon passes on to agentctls and agents: processes() lists every
// process that has it. The destructor ends all of them and removes the folder.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "net/client.h"

namespace perdure {

struct TestAgentSetup {
  std::string name = "test";
  std::vector<std::string> switches = {};  // docs/testagent.md
};

struct DaemonSetup {
  std::vector<TestAgentSetup> agents = {TestAgentSetup{}};
  std::string config = {};                    // TOML placed first: top-level keys and tables
  std::string agent_lines = {};               // TOML for each test agent's table
  std::string program = PERDURE_PROGRAM;      // agentctl is expected next to it
  std::vector<std::string> arguments = {};    // after `serve`
  std::vector<std::string> environment = {};  // NAME=value, for the daemon
};

enum class ProcessKind { daemon, agentctl, agent, other };

// A living process (not a zombie) with the mark.
struct MarkedProcess {
  pid_t pid = 0;
  ProcessKind kind = ProcessKind::other;
  std::string session;  // empty for a daemon
  std::string exec;
};

class DaemonProcess {
 public:
  explicit DaemonProcess(DaemonSetup setup = {});
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  // Calls spawn() and until_ready().
  Result<> start();
  // Does not wait. The daemon dies with the calling thread.
  Result<> spawn();
  // unavailable: it exited (its output is in the message), or was not ready in time.
  Result<> until_ready(std::int64_t wait_ms = 60'000);
  bool is_running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  void signal(int number) const;
  // Sends SIGKILL to the daemon only, and waits for its end.
  void kill_daemon();
  // Sends SIGTERM; returns the exit code, or 128 + the signal that ended it.
  int stop();
  // Waits for a daemon that exits on its own; -1 if it does not.
  int until_exit(std::int64_t wait_ms = 60'000);

  // Every process with the mark, including the daemon.
  std::vector<MarkedProcess> processes() const;
  // Sends SIGKILL to every agentctl, agent and child process, until none is left.
  void kill_hosted() const;
  bool until_no_hosted(std::int64_t wait_ms = 30'000) const;

  HttpEndpoint endpoint() const {
    return {.unix_folder = home() + "/run", .unix_name = "perdure.sock"};
  }
  const std::string& folder() const { return folder_; }
  std::string home() const { return folder_ + "/home"; }
  std::string agent_home() const { return folder_ + "/agent"; }
  std::string config_file() const { return folder_ + "/config.toml"; }
  std::string admin_token() const;
  // PROC1: whether a test agent reported another one with its session.
  bool had_two_agents() const;
  // From all runs.
  std::string output() const;
  std::string log() const;

  DaemonSetup& setup() { return setup_; }
  void write_config() const;
  // The environment that gives this or another program the same folders.
  std::vector<std::string> environment() const;

 private:
  DaemonSetup setup_;
  std::string folder_;
  pid_t pid_ = 0;
};

// Runs a program to its end with this environment; returns its stdout and stderr.
struct ProgramRun {
  int exit_code = -1;
  std::string output;
};
ProgramRun run_program(const std::vector<std::string>& words,
                       const std::vector<std::string>& environment);

// Polls until it holds; false at the deadline.
bool until(const std::function<bool()>& condition, std::int64_t wait_ms = 60'000);
std::string read_text(const std::string& path);
// The files below a folder that contain the text.
std::vector<std::string> files_with(const std::string& folder, const std::string& text);

}  // namespace perdure
