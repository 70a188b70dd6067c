// The appends that wait for an engine's writer. Any thread may push; the thread that steps the
// engine takes as many as fit into one commit and answers each afterwards. An append that no store
// could accept is refused before it reaches the engine.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace perdure {

struct PendingAppend {
  Append batch;
  Store::Done done;
  std::size_t bytes = 0;         // estimated size on disk
  std::optional<Error> refused;  // the answer; absent: success
};

class AppendQueue {
 public:
  struct Limits {
    std::size_t group_bytes_max = 8UL << 20;  // a group takes no more appends after this
  };
  explicit AppendQueue(Limits limits) : limits_(limits) {}

  void push(Append&& batch, Store::Done&& done);
  // Blocks until something is queued, wake() is called or the time expires; false in the last case.
  bool wait(std::chrono::milliseconds timeout);
  void wake();

  // The next group, in push order; empty if nothing is queued. Valid until answer(). Only one
  // thread at a time may call take() and answer().
  std::vector<PendingAppend>& take();
  // Runs the Dones of the current group. They may push.
  void answer();
  // Refuses the appends queued after a group that cannot be answered yet, except those for sessions
  // in that group, so that Dones keep their order.
  void refuse_behind(const Error& error);

 private:
  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable queued_;
  std::vector<PendingAppend> queue_;
  std::vector<PendingAppend> group_;  // being committed; swapped with the queue to reuse memory
  bool woken_ = false;
};

}  // namespace perdure
