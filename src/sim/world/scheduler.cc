#include "sim/world/scheduler.h"

#include <algorithm>
#include <utility>

namespace perdure::sim {

Scheduler::Id Scheduler::after_ms(std::int64_t delay_ms, Task task) {
  if (closed_) return 0;
  const Id id = ++last_id_;
  const auto tie = static_cast<std::uint32_t>(ties_.next());
  queue_.push({now_ms_ + std::max<std::int64_t>(delay_ms, 0), tie, id});
  tasks_.emplace(id, std::move(task));
  return id;
}

std::int64_t Scheduler::next_time_ms() {
  while (!queue_.empty() && !tasks_.contains(queue_.top().id)) queue_.pop();
  return queue_.empty() ? -1 : std::max(now_ms_, queue_.top().time_ms);
}

void Scheduler::close() {
  closed_ = true;
  const auto tasks = std::move(tasks_);  // destroying their captures may add tasks
  tasks_.clear();
}

bool Scheduler::run_next() {
  if (next_time_ms() < 0) return false;
  const Entry entry = queue_.top();
  queue_.pop();
  now_ms_ = std::max(now_ms_, entry.time_ms);
  const auto at = tasks_.find(entry.id);
  Task task = std::move(at->second);
  tasks_.erase(at);
  task();
  return true;
}

}  // namespace perdure::sim
