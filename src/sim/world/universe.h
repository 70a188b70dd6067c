// Shared by all simulated parts: one seed, one clock, one order of events, one judge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <utility>

#include "env/env.h"
#include "sim/driver/trace.h"
#include "sim/judges/verdict.h"
#include "sim/world/faults.h"
#include "sim/world/prng.h"
#include "sim/world/scheduler.h"

namespace perdure::sim {

// One life of one of our processes, a daemon or an agentctl. Its holders can see when it is over;
// after that, actions of its code have no effect on the world.
struct Life {
  std::uint64_t number = 0;
  bool dead = false;
  std::int64_t paused_until_ms = 0;  // stopped, as with SIGSTOP: nothing of it runs before
  bool sync_failed = false;          // a daemon's: from then on it acknowledges nothing (DISK1)

  // The time until the next check whether it continues: a pause may end early.
  std::int64_t nap_ms(std::int64_t now_ms) const {
    return std::min<std::int64_t>(paused_until_ms - now_ms, 500);
  }
};
using LifePtr = std::shared_ptr<const Life>;

// While this object exists, the running code belongs to this life.
class Acting {
 public:
  Acting(Scheduler& scheduler, const LifePtr& life)
      : scheduler_(scheduler), before_(std::exchange(scheduler.acting, life.get())), life_(life) {}
  ~Acting() { scheduler_.acting = before_; }
  Acting(const Acting&) = delete;
  Acting& operator=(const Acting&) = delete;

 private:
  Scheduler& scheduler_;
  const Life* before_;
  LifePtr life_;
};

// Wall and boot clocks on the scheduler's time. The wall clock may jump, the boot clock may not.
class SimClock final : public Clock {
 public:
  explicit SimClock(const Scheduler& scheduler) : scheduler_(scheduler) {}
  Moment now() override {
    return {{wall_base_ms + wall_offset_ms_ + scheduler_.now_ms()},
            {scheduler_.now_ms() - booted_ms_},
            host_boot_};
  }
  void jump_wall(std::int64_t by_ms) { wall_offset_ms_ += by_ms; }
  void reboot() {
    booted_ms_ = scheduler_.now_ms();
    host_boot_ = "host-" + std::to_string(++boots_);
  }

 private:
  static constexpr std::int64_t wall_base_ms = 1'790'000'000'000;
  const Scheduler& scheduler_;
  std::int64_t wall_offset_ms_ = 0;
  std::int64_t booted_ms_ = 0;
  std::uint64_t boots_ = 1;
  std::string host_boot_ = "host-1";
};

class SimRandom final : public Random {
 public:
  explicit SimRandom(Prng prng) : prng_(prng) {}
  std::uint64_t next() override { return prng_.next(); }

 private:
  Prng prng_;
};

class SimFiles final : public Files {
 public:
  bool folder_exists(const std::string& path) override { return !missing_.contains(path); }
  void set_missing(const std::string& path, bool missing) {
    if (missing) {
      missing_.insert(path);
    } else {
      missing_.erase(path);
    }
  }
  void restore_all() { missing_.clear(); }

 private:
  std::set<std::string> missing_;
};

// A process's loop: posted tasks in order, timers by virtual time. Nothing runs after its life, and
// everything waits while it is paused.
class LifeLoop final : public Loop {
 public:
  LifeLoop(Scheduler& scheduler, LifePtr life)
      : state_(std::make_shared<State>(State{scheduler, std::move(life)})) {}
  void post(Task task) override;
  TimerId after_ms(std::int64_t delay_ms, Task task) override;
  void cancel(TimerId timer) override;

 private:
  struct State {
    Scheduler& scheduler;
    LifePtr life;
    std::queue<Task> tasks;
    bool scheduled = false;
    std::map<TimerId, Scheduler::Id> timers;
    TimerId last_timer = 0;

    std::int64_t nap_ms() const { return life->nap_ms(scheduler.now_ms()); }
  };
  static void run_one(const std::shared_ptr<State>& state);
  static void arm(const std::shared_ptr<State>& state, TimerId timer, std::int64_t delay_ms,
                  Task task);

  std::shared_ptr<State> state_;
};

struct Universe {
  explicit Universe(std::uint64_t seed)
      : prng(seed),
        later_prng(seed ^ later_stream),
        meddler_prng(seed ^ meddler_stream),
        scheduler(prng.fork()),
        clock(scheduler),
        faults(Faults::draw(prng)) {
    faults.draw_later(later_prng);
    faults.draw_meddling(meddler_prng);
  }

  static constexpr std::uint64_t later_stream = 0x6c61746572ULL;
  static constexpr std::uint64_t meddler_stream = 0x6d6564646c65ULL;
  Prng prng;
  Prng later_prng;    // only for the faults of draw_later()
  Prng meddler_prng;  // only for draw_meddling()
  Scheduler scheduler;
  SimClock clock;
  SimFiles files;
  Faults faults;
  Trace trace;
  Verdict verdict;
  bool healed = false;
  bool agents_are_busy = false;        // when healed: they ask, fail, start, and accept steers late
  bool agents_are_deaf = false;        // when healed: their turns never end, even when cancelled
  bool newer_version_is_next = false;  // it runs before the daemon restarts
  std::uint64_t lives = 0;             // of daemons, so far
  bool has_several_daemons = false;
  // A commit may be durable and readable before its daemon is notified.
  bool hears_late = false;
  std::int64_t lost_ms = 0;  // while the machine slept or its only daemon was stopped
  std::int64_t disk_full_until_ms = 0;
  bool was_disk_full = false;  // at any time
  // Called at a place where the daemon may crash; set by the daemon's keeper.
  std::function<void(CrashPoint)> crash_point = [](CrashPoint) {};

  // Runs a task after a while, independent of any life.
  Scheduler::Id after(std::int64_t delay_ms, Scheduler::Task task) {
    return scheduler.after_ms(delay_ms, std::move(task));
  }
  // The same in a process: not if it is dead, and later if it is paused.
  void after_in(LifePtr life, std::int64_t delay_ms, Scheduler::Task task);
  // The same after this much time in which the process could run, for checking deadlines.
  void after_awake_in(LifePtr life, std::int64_t delay_ms, Scheduler::Task task);
  // The machine sleeps: nothing runs, but the clocks advance.
  void suspend(std::int64_t ms);
  // A delay between zero and the maximum, short ones more often.
  std::int64_t delay(std::int64_t most_ms) {
    const std::int64_t cap = std::max<std::int64_t>(1, most_ms >> prng.below(8));
    return prng.between(0, cap);
  }
};

// The last characters of an id: enough to distinguish a few in a trace.
template <class SomeId>
std::string tail(const SomeId& id) {
  const std::string text = id.text();
  return text.substr(text.size() - 4);
}

}  // namespace perdure::sim
