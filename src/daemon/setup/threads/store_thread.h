// The thread that writes the store. The rest of the daemon runs on one other thread; this one uses
// that thread's loop as env/posix/loop/shared_loop.h allows.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

#include "base/limits.h"
#include "base/time.h"
#include "daemon/api/routes/metrics_routes.h"
#include "store/engine.h"

namespace perdure {

// Runs from construction to destruction; the store must outlive it.
class StoreThread {
 public:
  struct Care {
    std::function<Timestamp()> now;              // called on the thread
    std::int64_t answers_ms = answers_sweep_ms;  // interval of the search for expired answers
  };
  StoreThread(StoreEngine& store, Care care);
  ~StoreThread() { stop(); }
  // Writes everything queued first.
  void stop();

  // Durations of all commits so far. From any thread.
  DurationHistogram commit_times() const;

 private:
  void run();
  void care();
  void sweep_answers();

  StoreEngine& store_;
  Care care_;
  std::optional<std::chrono::steady_clock::time_point> swept_;
  void step();

  static constexpr std::array bounds_us{100,   250,    500,    1'000,   2'500,
                                        5'000, 10'000, 25'000, 100'000, 1'000'000};
  std::array<std::atomic<std::uint64_t>, bounds_us.size()> below_{};
  std::atomic<std::uint64_t> commits_ = 0;
  std::atomic<std::uint64_t> sum_us_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace perdure
