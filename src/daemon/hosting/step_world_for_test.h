// A clock that stands still and a loop that never waits. The test advances the one and steps the
// other, to test what depends on order and time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "env/env.h"
#include "env/link.h"

namespace perdure {

struct StillClock final : Clock {
  Moment now() override { return at; }
  Moment at;
};

struct StepLoop final : Loop {
  void post(Task task) override { tasks.push_back(std::move(task)); }
  TimerId after_ms(std::int64_t delay_ms, Task task) override {
    last_delay_ms = delay_ms;
    timers.emplace(++last, std::move(task));
    return last;
  }
  void cancel(TimerId timer) override { timers.erase(timer); }
  void run() {
    while (!tasks.empty()) {
      Task task = std::move(tasks.front());
      tasks.pop_front();
      task();
    }
  }
  // Runs the timers that are set now, before their time.
  void run_timers() {
    for (auto& entry : std::exchange(timers, {})) entry.second();
    run();
  }
  std::deque<Task> tasks;
  std::map<TimerId, Task> timers;
  TimerId last = 0;
  std::int64_t last_delay_ms = 0;  // delay of the timer that was set last
};

// The test's view of a link.
struct Wire {
  LinkEvents* events = nullptr;
  std::string sent;
  bool closed = false;
};

class TestLink final : public Link {
 public:
  explicit TestLink(std::shared_ptr<Wire> wire) : wire_(std::move(wire)) {}
  ~TestLink() override { wire_->closed = true; }
  void set_events(LinkEvents& events) override { wire_->events = &events; }
  void send(std::string bytes) override { wire_->sent += bytes; }
  std::size_t unsent_bytes() const override { return 0; }
  void pause() override {}
  void resume() override {}

 private:
  std::shared_ptr<Wire> wire_;
};

}  // namespace perdure
