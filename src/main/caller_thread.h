// Looks through the machine's processes for those who called over TCP, on a thread of its own: on a
// large machine that takes too long for the loop.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "env/env.h"
#include "env_posix/tcp_caller.h"

namespace perdure {

class CallerThread {
 public:
  using OnFound = std::move_only_function<void(CallerPlace)>;

  // Both outlive it. `loop` may be posted to from any thread.
  CallerThread(TcpCallers& callers, Loop& loop);
  // Looks that were not begun are dropped, and nobody hears of them.
  ~CallerThread();

  // `found` is called on the loop. With too many looks outstanding the caller counts as inside.
  void find(TcpEnds ends, OnFound found);

 private:
  struct Look {
    TcpEnds ends;
    OnFound found;
  };
  void run();

  TcpCallers& callers_;
  Loop& loop_;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);  // read on the loop only
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::deque<Look> looks_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace perdure
