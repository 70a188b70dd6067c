#include "sim/universe.h"

#include <utility>

namespace perdure::sim {

void LifeLoop::run_one(Scheduler& scheduler, const LifePtr& life,
                       const std::shared_ptr<Posted>& posted) {
  if (life->dead || posted->tasks.empty()) return;
  Task task = std::move(posted->tasks.front());
  posted->tasks.pop();
  if (posted->tasks.empty()) {
    posted->scheduled = false;
  } else {
    scheduler.after_ms(0, [&scheduler, life, posted] { run_one(scheduler, life, posted); });
  }
  task();
}

void LifeLoop::post(Task task) {
  if (life_->dead) return;
  posted_->tasks.push(std::move(task));
  if (posted_->scheduled) return;
  posted_->scheduled = true;
  scheduler_.after_ms(0, [&scheduler = scheduler_, life = life_, posted = posted_] {
    run_one(scheduler, life, posted);
  });
}

Loop::TimerId LifeLoop::after_ms(std::int64_t delay_ms, Task task) {
  if (life_->dead) return 0;
  return scheduler_.after_ms(delay_ms, [life = life_, task = std::move(task)]() mutable {
    if (!life->dead) task();
  });
}

}  // namespace perdure::sim
