// The deterministic code's outside world: clocks, randomness, a loop that runs tasks, disk reads.
// The real ones are in env_posix, the simulated ones in sim; nothing below main knows which.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/time.h"

namespace perdure {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Moment now() = 0;
};

// Unpredictable 64-bit numbers; the source of all ids and secrets.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;
};

// Runs tasks one after the other, never nested. Everything in one runtime happens on one loop.
class Loop {
 public:
  using Task = std::move_only_function<void()>;
  using TimerId = std::uint64_t;  // 0: none

  virtual ~Loop() = default;
  // Runs the task soon, after those posted earlier.
  virtual void post(Task task) = 0;
  // Runs the task once, not before this many milliseconds (of time that counts while suspended).
  virtual TimerId after_ms(std::int64_t delay_ms, Task task) = 0;
  // Ignored if the timer has already run or was cancelled.
  virtual void cancel(TimerId timer) = 0;
};

class Files {
 public:
  virtual ~Files() = default;
  virtual bool folder_exists(const std::string& path) = 0;
};

}  // namespace perdure
