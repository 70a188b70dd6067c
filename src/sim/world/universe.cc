#include "sim/world/universe.h"

#include <utility>

namespace perdure::sim {

void LifeLoop::run_one(const std::shared_ptr<State>& state) {
  if (state->life->dead || state->tasks.empty()) return;
  if (state->nap_ms() > 0) {
    state->scheduler.after_ms(state->nap_ms(), [state] { run_one(state); });
    return;
  }
  Task task = std::move(state->tasks.front());
  state->tasks.pop();
  if (state->tasks.empty()) {
    state->scheduled = false;
  } else {
    state->scheduler.after_ms(0, [state] { run_one(state); });
  }
  const Acting acting(state->scheduler, state->life);
  task();
}

void LifeLoop::post(Task task) {
  if (state_->life->dead) return;
  state_->tasks.push(std::move(task));
  if (std::exchange(state_->scheduled, true)) return;
  state_->scheduler.after_ms(0, [state = state_] { run_one(state); });
}

void LifeLoop::arm(const std::shared_ptr<State>& state, TimerId timer, std::int64_t delay_ms,
                   Task task) {
  state->timers[timer] =
      state->scheduler.after_ms(delay_ms, [state, timer, task = std::move(task)]() mutable {
        if (state->life->dead) return;
        if (state->nap_ms() > 0) return arm(state, timer, state->nap_ms(), std::move(task));
        state->timers.erase(timer);
        const Acting acting(state->scheduler, state->life);
        task();
      });
}

Loop::TimerId LifeLoop::after_ms(std::int64_t delay_ms, Task task) {
  if (state_->life->dead) return 0;
  const TimerId timer = ++state_->last_timer;
  arm(state_, timer, delay_ms, std::move(task));
  return timer;
}

void LifeLoop::cancel(TimerId timer) {
  const auto found = state_->timers.find(timer);
  if (found == state_->timers.end()) return;
  state_->scheduler.cancel(found->second);
  state_->timers.erase(found);
}

void Universe::after_in(LifePtr life, std::int64_t delay_ms, Scheduler::Task task) {
  after(delay_ms, [this, life = std::move(life), task = std::move(task)]() mutable {
    if (life->dead) return;
    const std::int64_t nap_ms = life->nap_ms(scheduler.now_ms());
    if (nap_ms > 0) return after_in(std::move(life), nap_ms, std::move(task));
    const Acting acting(scheduler, life);
    task();
  });
}

void Universe::after_awake_in(LifePtr life, std::int64_t delay_ms, Scheduler::Task task) {
  const std::int64_t lost_before_ms = lost_ms;
  after_in(life, delay_ms, [this, life, lost_before_ms, task = std::move(task)]() mutable {
    if (lost_ms == lost_before_ms) return task();
    after_awake_in(life, lost_ms - lost_before_ms, std::move(task));
  });
}

void Universe::suspend(std::int64_t ms) {
  trace.note("sim", static_cast<std::uint64_t>(ms),
             [&] { return "the machine sleeps for " + std::to_string(ms) + " ms"; });
  lost_ms += ms;
  scheduler.skip_ms(ms);
}

}  // namespace perdure::sim
