// The demo agent's real world: session files in its home, small files in the workspace, and
// commands as child processes, each in its own process group, so that a cancel ends all of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demo/demo_agent.h"

namespace perdure::demo {

class RealWorld : public DemoWorld {
 public:
  explicit RealWorld(std::string home);
  ~RealWorld() override;  // kills running commands
  RealWorld(const RealWorld&) = delete;
  RealWorld& operator=(const RealWorld&) = delete;

  std::optional<std::string> load_session(const std::string& id) override;
  void store_session(const std::string& id, const std::string& text) override;
  std::vector<std::string> list_sessions() override;
  std::optional<std::string> read_file(const std::string& path) override;
  Result<> write_file(const std::string& path, std::string_view text) override;
  void start_command(const CommandRun& run) override;
  void kill_command(std::int64_t number) override;

  // Descriptors to poll, one per command that may still print.
  std::vector<int> descriptors() const;
  // A command has closed its output or failed to start, and its end is not reported yet.
  bool has_ends_to_tell() const;
  // Passes the commands' output and available ends to the agent. Never blocks.
  void report(DemoAgent& agent);

 private:
  struct Running {
    int pid = -1;  // -1: failed to start
    int output = -1;
    int code = 127;
    std::string words;  // to report before its end
  };
  std::optional<std::string> session_path(const std::string& id) const;
  bool has_ended(Running& running);

  std::string home_;
  std::map<std::int64_t, Running> running_;
};

}  // namespace perdure::demo
