// Virtual time. Tasks run one after the other by time; among equal times the seed decides, so that
// no order which the real world does not promise is ever relied on.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "sim/prng.h"

namespace perdure::sim {

struct Life;

class Scheduler {
 public:
  using Task = std::move_only_function<void()>;
  using Id = std::uint64_t;  // 0 is none

  explicit Scheduler(Prng ties) : ties_(ties) {}

  std::int64_t now_ms() const { return now_ms_; }
  Id after_ms(std::int64_t delay_ms, Task task);
  // A task that ran or was cancelled before is ignored.
  void cancel(Id id) { tasks_.erase(id); }
  // Runs the next task. False when there is none.
  bool run_next();
  // The time of the next task, or -1. Drops cancelled ones on the way.
  std::int64_t next_time_ms();
  // Time goes on and nothing runs: what was due meanwhile comes late, in its order.
  void skip_ms(std::int64_t ms) { now_ms_ += ms; }
  // Forgets every task, and takes no more: the world ends.
  void close();
  std::size_t pending() const { return tasks_.size(); }

  // Whose code runs now; null: the world's.
  const Life* acting = nullptr;

 private:
  struct Entry {
    std::int64_t time_ms;
    std::uint32_t tie;
    Id id;
    bool operator<(const Entry& other) const {  // the queue gives the greatest first
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
  std::unordered_map<Id, Task> tasks_;  // looked up only, never walked
};

}  // namespace perdure::sim
