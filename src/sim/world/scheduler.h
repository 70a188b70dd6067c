// Virtual time. Tasks run one at a time in time order; the seed orders equal times, so that no code
// relies on an order that the real world does not guarantee.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "sim/world/prng.h"

namespace perdure::sim {

struct Life;

class Scheduler {
 public:
  using Task = std::move_only_function<void()>;
  using Id = std::uint64_t;  // 0: no task

  explicit Scheduler(Prng ties) : ties_(ties) {}

  std::int64_t now_ms() const { return now_ms_; }
  Id after_ms(std::int64_t delay_ms, Task task);
  // Ignores a task that already ran or was cancelled.
  void cancel(Id id) { tasks_.erase(id); }
  // Runs the next task. Returns false if there is none.
  bool run_next();
  // The time of the next task, or -1. Drops cancelled tasks at the front.
  std::int64_t next_time_ms();
  // Time passes without running anything: tasks that fall due run late, in order.
  void skip_ms(std::int64_t ms) { now_ms_ += ms; }
  // Drops every task and accepts no more: the world ends.
  void close();
  std::size_t pending() const { return tasks_.size(); }

  // The life whose code is running; null: the world's.
  const Life* acting = nullptr;

 private:
  struct Entry {
    std::int64_t time_ms;
    std::uint32_t tie;
    Id id;
    bool operator<(const Entry& other) const {  // the queue returns the greatest first
      if (time_ms != other.time_ms) return time_ms > other.time_ms;
      if (tie != other.tie) return tie > other.tie;
      return id > other.id;
    }
  };

  Prng ties_;
  std::int64_t now_ms_ = 0;
  Id last_id_ = 0;
  bool closed_ = false;
  std::priority_queue<Entry> queue_;
  std::unordered_map<Id, Task> tasks_;  // only looked up, never iterated
};

}  // namespace perdure::sim
