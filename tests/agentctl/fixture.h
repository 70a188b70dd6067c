// Shared by the tests in this folder: a folder per test, executions in it, and views of the machine
// from outside. Each test must end all processes of its executions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/types.h>

#include "driver.h"

namespace perdure {

class Agentctl : public testing::Test {
 protected:
  using Adjust = std::function<void(Bootstrap&)>;

  void SetUp() override;
  void TearDown() override;

  DriverSetup setup(const std::vector<std::string>& switches = {});
  Driver& begin(DriverSetup setup);
  // The session's next execution, after the previous one was stopped.
  Driver& begin_next(const std::vector<std::string>& switches = {}, const Adjust& adjust = {});
  // Waits until ready, and initializes its agent.
  bool start_agent(Driver& driver);
  // Returns whether it was opened.
  bool open(Driver& driver, OpenSession command);
  bool load(Driver& driver, const std::string& id) {
    return open(driver, {OpenMethod::load, id, {}});
  }
  void stop(Driver& driver);
  // Returns the agent's id of a session that had these prompts, in an execution that has ended.
  std::string lived(const std::vector<std::string>& prompts);
  // The result of a workspace call, or "error: …".
  std::string call(Driver& driver, std::string_view method, const std::string& params);
  void kill_agentctl() const;
  pid_t agentctl_pid() const { return static_cast<pid_t>(driver_->attaches.back().pid); }

  // Writes all traffic of the agent into files. The agent's exit code is lost.
  void record(DriverSetup& setup) const;
  // The recorded lines that contain this text.
  std::vector<std::string> told(std::string_view text) const;
  std::vector<std::string> said(std::string_view text) const;

  std::string work(const std::string& name) const { return folder_ + "/place/" + name; }
  std::string home(const std::string& name) const { return folder_ + "/agent/" + name; }

  std::string folder_;
  std::uint64_t executions_ = 0;
  std::unique_ptr<Driver> driver_;
};

std::string read_whole(const std::string& path);
std::vector<std::string> lines_with(const std::string& path, std::string_view text);
// Living processes that were started with this NAME=value.
std::vector<pid_t> marked_processes(const std::string& mark);
std::vector<pid_t> agent_processes(const Driver& driver);
std::vector<pid_t> exec_processes(const Driver& driver);
// A sanitizer delays freeing memory, so memory limits cannot be checked.
#if __has_feature(address_sanitizer)
inline constexpr bool is_memory_measured = false;
#else
inline constexpr bool is_memory_measured = true;
#endif
// A value from /proc/PID/status in KiB, e.g. VmRSS; 0: there is none.
std::uint64_t status_kib(pid_t pid, std::string_view name);
std::uint64_t folder_bytes(const std::string& folder);

struct Ran {
  int exit_code = -1;
  std::string output;
};
// Runs perdure-agentctl with this verb and input to its end.
Ran run_agentctl(const std::string& folder, const std::string& verb, const std::string& input);

}  // namespace perdure
