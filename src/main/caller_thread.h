// Searches the machine's processes for TCP callers, on a separate thread: on a large machine the
// search takes too long for the loop.
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

  // Both must outlive it. `loop` must accept posts from any thread.
  CallerThread(TcpCallers& callers, Loop& loop);
  // Drops searches that have not begun, without calling back.
  ~CallerThread();

  // Calls `found` on the loop. If too many searches are outstanding, the caller counts as inside.
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
