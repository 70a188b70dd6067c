// A loop with a manual clock, and scripted processes, for tests that depend on order. Events come
// from run(), as from a real loop.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "env/env.h"
#include "env/process.h"

namespace perdure {

class FakeLoop final : public Loop {
 public:
  void post(Task task) override { tasks_.push_back(std::move(task)); }
  TimerId after_ms(std::int64_t delay_ms, Task task) override {
    timers_.emplace(++last_timer_, std::pair(now_ms_ + delay_ms, std::move(task)));
    return last_timer_;
  }
  void cancel(TimerId timer) override { timers_.erase(timer); }

  // Until no posted task is left.
  void run() {
    while (!tasks_.empty()) {
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      task();
    }
  }
  // Timers run in due order, each at its own time.
  void advance_ms(std::int64_t ms) {
    const std::int64_t until_ms = now_ms_ + ms;
    for (auto at = next_timer(); at != timers_.end() && at->second.first <= until_ms;
         at = next_timer()) {
      now_ms_ = std::max(now_ms_, at->second.first);
      Task task = std::move(at->second.second);
      timers_.erase(at);
      task();
      run();
    }
    now_ms_ = until_ms;
    run();
  }
  std::size_t timers() const { return timers_.size(); }
  std::int64_t now_ms() const { return now_ms_; }

 private:
  std::map<TimerId, std::pair<std::int64_t, Task>>::iterator next_timer() {
    return std::ranges::min_element(
        timers_, {}, [](const auto& timer) { return std::pair(timer.second.first, timer.first); });
  }

  std::deque<Task> tasks_;
  std::map<TimerId, std::pair<std::int64_t, Task>> timers_;
  TimerId last_timer_ = 0;
  std::int64_t now_ms_ = 0;
};

// The loop's time, on both clocks.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(const FakeLoop& loop) : loop_(loop) {}
  Moment now() override {
    return {{1'790'000'000'000 + loop_.now_ms()}, {1'000'000 + loop_.now_ms()}, "host-1"};
  }

 private:
  const FakeLoop& loop_;
};

class FakeProcesses final : public Processes {
 public:
  struct Child {
    SpawnSpec spec;
    ProcessEvents* events = nullptr;  // null: no longer owned
    std::string input;
    bool input_closed = false;
    bool is_paused = false;
    std::size_t unwritten_bytes = 0;
    std::int64_t pid = 0;
    std::vector<int> signals;
  };

  Result<std::unique_ptr<Process>> spawn(const SpawnSpec& spec, ProcessEvents& events) override {
    if (refusal) return std::unexpected(*refusal);
    auto child = std::make_shared<Child>();
    child->spec = spec;
    child->events = &events;
    child->pid = static_cast<std::int64_t>(children.size()) + 1;
    children.push_back(child);
    return std::make_unique<Held>(std::move(child));
  }
  std::size_t kill_marked(const std::string&) override {
    return marked_left > 0 ? marked_left-- : 0;
  }
  std::size_t kill_descendants() override { return 0; }
  ProcessSet offspring(const Family&) override { return below; }
  ProcessSet signal_each(const ProcessSet& processes, int number) override {
    ProcessSet reached;
    for (const ProcessBirth& one : processes) {
      if (!below.contains(one)) continue;
      reached.insert(one);
      if (number == SIGKILL || (number == SIGTERM && !stubborn.contains(one))) below.erase(one);
    }
    if (number != 0) sent.emplace_back(number, reached);
    return reached;
  }

  // Ends a child as if it had written this output.
  void finish(std::size_t index, std::string_view output, int code = 0) {
    Child& child = *children.at(index);
    if (!output.empty() && child.events != nullptr) child.events->on_output(output);
    if (child.events != nullptr) child.events->on_exit({.code = code});
  }
  std::size_t alive() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        children, [](const auto& child) { return child->events != nullptr; }));
  }

  std::vector<std::shared_ptr<Child>> children;
  std::optional<Error> refusal;
  ProcessSet below;                              // the agent's descendants, without the root
  ProcessSet stubborn;                           // those that ignore SIGTERM
  std::vector<std::pair<int, ProcessSet>> sent;  // by signal_each()
  std::size_t marked_left = 0;                   // hidden processes; each kill_marked() ends one

 private:
  class Held final : public Process {
   public:
    explicit Held(std::shared_ptr<Child> child) : child_(std::move(child)) {}
    ~Held() override { child_->events = nullptr; }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    std::int64_t pid() const override { return child_->pid; }
    void write(std::string_view bytes) override { child_->input += bytes; }
    std::size_t unwritten_bytes() const override { return child_->unwritten_bytes; }
    void close_input() override { child_->input_closed = true; }
    void pause_output() override { child_->is_paused = true; }
    void resume_output() override { child_->is_paused = false; }
    void signal(int number) override { child_->signals.push_back(number); }
    void resize(TerminalSize) override {}

   private:
    std::shared_ptr<Child> child_;
  };
};

}  // namespace perdure
