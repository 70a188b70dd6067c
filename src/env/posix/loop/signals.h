// Signals as events of the loop, through a signalfd. They stay blocked in the creating thread and
// must be blocked in every other: create this before any thread.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "env/posix/files/fd.h"
#include "env/posix/loop/loop.h"

namespace perdure {

class SignalWatch {
 public:
  using OnSignal = std::move_only_function<void(int number)>;

  // Calls `on_signal` on the loop; pending signals with the same number count once. The callback
  // must not destroy the watch.
  static Result<std::unique_ptr<SignalWatch>> create(EpollLoop& loop,
                                                     const std::vector<int>& numbers,
                                                     OnSignal on_signal);

 private:
  explicit SignalWatch(OnSignal on_signal) : on_signal_(std::move(on_signal)) {}
  void read_all();

  OnSignal on_signal_;
  Fd signals_;
  Watch watch_;
};

}  // namespace perdure
