// A loop and processes, real and small, for tests: one thread, poll, pipes or a terminal. Nothing
// here sleeps for a time; run_until waits for a condition with a deadline.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "env/env.h"
#include "env/process.h"

namespace perdure::test {

class SmallProcess;

class SmallWorld final : public Loop, public Processes {
 public:
  ~SmallWorld() override;

  void post(Task task) override { tasks_.push_back(std::move(task)); }
  TimerId after_ms(std::int64_t delay_ms, Task task) override;
  void cancel(TimerId timer) override { timers_.erase(timer); }

  Result<std::unique_ptr<Process>> spawn(const SpawnSpec& spec, ProcessEvents& events) override;
  std::size_t kill_marked(const std::string&) override { return 0; }

  // Runs the loop until the condition holds; false when a minute has passed without.
  bool run_until(const std::function<bool()>& condition);

  std::size_t spawned = 0;

 private:
  friend class SmallProcess;
  using Clock = std::chrono::steady_clock;
  struct Timer {
    Clock::time_point at;
    Task task;
  };

  void round();

  std::deque<Task> tasks_;
  std::map<TimerId, Timer> timers_;
  TimerId last_timer_ = 0;
  std::set<SmallProcess*> processes_;
};

}  // namespace perdure::test
