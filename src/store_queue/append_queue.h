// The appends that wait for an engine's writer. Any thread puts them in; the one that steps the
// engine takes as many as make one commit, and gives each its answer afterwards. An append that no
// state of a store could take is refused before it gets to the engine.
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
  std::size_t bytes = 0;         // about what it will take
  std::optional<Error> refused;  // the answer, unless it is success
};

class AppendQueue {
 public:
  struct Limits {
    std::size_t group_bytes_max = 8UL << 20;  // a group takes no more appends behind this
  };
  explicit AppendQueue(Limits limits) : limits_(limits) {}

  void push(Append&& batch, Store::Done&& done);
  // Blocks until something is queued, wake() is called or the time is over; false for the last.
  bool wait(std::chrono::milliseconds timeout);
  void wake();

  // The next group, in the order of the pushes; empty when nothing is queued. It stays until
  // answer(). One thread at a time, as is answer().
  std::vector<PendingAppend>& take();
  // Runs the Dones of the group that was taken. They may push.
  void answer();
  // Refuses what waits behind a group that cannot be answered yet; appends of the sessions in that
  // group stay, so that Dones keep their order.
  void refuse_behind(const Error& error);

 private:
  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable queued_;
  std::vector<PendingAppend> queue_;
  std::vector<PendingAppend> group_;  // being committed; the two swap, so that neither grows anew
  bool woken_ = false;
};

}  // namespace perdure
