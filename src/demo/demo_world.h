// The demo agent's real world: session files in its home, small files in the workspace, and
// commands as children in process groups of their own, so that a cancel ends them whole.
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
  ~RealWorld() override;  // kills what still runs
  RealWorld(const RealWorld&) = delete;
  RealWorld& operator=(const RealWorld&) = delete;

  std::optional<std::string> load_session(const std::string& id) override;
  void store_session(const std::string& id, const std::string& text) override;
  std::vector<std::string> list_sessions() override;
  std::optional<std::string> read_file(const std::string& path) override;
  Result<> write_file(const std::string& path, std::string_view text) override;
  void start_command(const CommandRun& run) override;
  void kill_command(std::int64_t number) override;

  // Descriptors to wait for, one for each command that may still print.
  std::vector<int> descriptors() const;
  // Some command has closed its output, or was never started, and its end is not told yet.
  bool has_ends_to_tell() const;
  // Gives the agent what the commands printed, and those ends that are there. Never blocks.
  void report(DemoAgent& agent);

 private:
  struct Running {
    int pid = -1;  // -1: it could not be started
    int output = -1;
    int code = 127;
    std::string words;  // to be told before its end
  };
  std::optional<std::string> session_path(const std::string& id) const;
  bool has_ended(Running& running);

  std::string home_;
  std::map<std::int64_t, Running> running_;
};

}  // namespace perdure::demo
