// A loop that other threads may post to, as the store's thread does with what it has committed.
#pragma once

#include <cstdint>
#include <thread>
#include <utility>

#include "env/env.h"
#include "env_posix/loop.h"

namespace perdure {

// Tasks may be posted from any thread; everything else belongs to the thread that made it.
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
