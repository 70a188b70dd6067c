// Shared by the tests of this folder: a loop that is pumped until a condition holds, a scratch
// folder, and a listener that records a child's events.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "env/posix/loop/loop.h"
#include "env/posix/process/processes.h"

namespace perdure::posix_test {

inline std::unique_ptr<EpollLoop> make_loop() { return std::move(EpollLoop::create()).value(); }

// Pumps until the condition holds; false if that takes too long.
inline bool until(EpollLoop& loop, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    loop.pump_for_ms(5);
  }
  return true;
}

class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "perdure_env_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(std::string_view name = {}) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// The path of test_child's program; defined in processes_test.cc.
std::string child_program();

inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

struct Recorder final : ProcessEvents {
  void on_output(std::string_view bytes) override {
    output += bytes;
    note("output");
    if (then) then();
  }
  void on_error_output(std::string_view bytes) override {
    error_output += bytes;
    note("error_output");
  }
  void on_output_end() override { note("output_end"); }
  void on_exit(const ProcessExit& how) override {
    exit = how;
    note("exit");
  }
  // Equal events in a row count once.
  void note(const std::string& event) {
    if (order.empty() || order.back() != event) order.push_back(event);
  }
  // The first line of its output, as a number.
  std::int64_t number() const { return std::stoll(output); }

  std::string output;
  std::string error_output;
  std::optional<ProcessExit> exit;
  std::vector<std::string> order;
  std::function<void()> then;  // called after each output
};

class ProcessTest : public testing::Test {
 protected:
  ProcessTest() : loop_(make_loop()), processes_(PosixProcesses::create(*loop_)) {}

  static SpawnSpec child(std::vector<std::string> role) {
    role.insert(role.begin(), child_program());
    return {.command = std::move(role), .environment = {"PATH=/usr/bin:/bin"}, .cwd = "/"};
  }
  std::unique_ptr<Process> spawn(const SpawnSpec& spec) {
    auto process = processes_->spawn(spec, events_);
    EXPECT_TRUE(process) << process.error().message();
    return process ? std::move(*process) : nullptr;
  }
  std::unique_ptr<Process> spawn(std::vector<std::string> role) {
    return spawn(child(std::move(role)));
  }
  bool until(const std::function<bool()>& condition) {
    return posix_test::until(*loop_, condition);
  }
  bool until_exit() {
    return until([this] { return events_.exit.has_value(); });
  }
  bool until_output(std::string_view text) {
    return until([&] { return events_.output.find(text) != std::string::npos; });
  }

  std::unique_ptr<EpollLoop> loop_;
  std::unique_ptr<PosixProcesses> processes_;
  Recorder events_;
};

}  // namespace perdure::posix_test
