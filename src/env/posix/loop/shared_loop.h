// A loop that accepts tasks from other threads, such as the store's thread after a commit.
#pragma once

#include <cstdint>
#include <thread>
#include <utility>

#include "env/env.h"
#include "env/posix/loop/loop.h"

namespace perdure {

// Any thread may post tasks; everything else is reserved for the thread that created it.
class SharedLoop final : public Loop {
 public:
  explicit SharedLoop(EpollLoop& loop) : loop_(loop), owner_(std::this_thread::get_id()) {}

  void post(Task task) override {
    if (std::this_thread::get_id() == owner_) return loop_.post(std::move(task));
    loop_.post_from_thread(std::move(task));
  }
  TimerId after_ms(std::int64_t delay_ms, Task task) override {
    return loop_.after_ms(delay_ms, std::move(task));
  }
  void cancel(TimerId timer) override { loop_.cancel(timer); }

 private:
  EpollLoop& loop_;
  std::thread::id owner_;
};

}  // namespace perdure
