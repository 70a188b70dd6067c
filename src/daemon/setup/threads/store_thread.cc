#include "daemon/setup/threads/store_thread.h"

#include <chrono>

#include "base/failpoint.h"
#include "daemon/setup/threads/quiet_thread.h"

namespace perdure {
namespace {

constexpr std::chrono::milliseconds idle_wait{50};
// Under steady load, background work gets a turn after this many commits.
constexpr int commits_per_idle_step = 64;

}  // namespace

StoreThread::StoreThread(StoreEngine& store, Care care) : store_(store), care_(std::move(care)) {
  thread_ = start_quiet_thread([this] { run(); });
}

void StoreThread::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  store_.wake();
  thread_.join();
}

void StoreThread::step() {
  const auto began = std::chrono::steady_clock::now();
  FAILPOINT("commit.before");
  if (!store_.step()) return;
  FAILPOINT("commit.after");
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - began);
  for (std::size_t i = 0; i < bounds_us.size(); ++i) {
    if (took.count() <= bounds_us[i]) below_[i] += 1;
  }
  sum_us_ += static_cast<std::uint64_t>(took.count());
  commits_ += 1;
}

DurationHistogram StoreThread::commit_times() const {
  DurationHistogram out{.count = commits_, .sum_s = static_cast<double>(sum_us_) / 1e6};
  for (std::size_t i = 0; i < bounds_us.size(); ++i) {
    out.bounds_s.push_back(bounds_us[i] / 1e6);
    out.below.push_back(below_[i]);
  }
  return out;
}

// Deletes expired answers to repeats; the next commit reports an error, if there is one.
void StoreThread::sweep_answers() {
  const auto now = std::chrono::steady_clock::now();
  if (!care_.now || (swept_ && now - *swept_ < std::chrono::milliseconds(care_.answers_ms))) return;
  swept_ = now;
  (void)store_.forget_answers(care_.now());
}

void StoreThread::care() {
  sweep_answers();
  store_.idle_step();
}

void StoreThread::run() {
  int commits = 0;
  while (!stopping_) {
    if (!store_.wait_for_work(idle_wait)) {
      care();
      continue;
    }
    step();
    if (++commits % commits_per_idle_step == 0) care();
  }
  while (store_.step()) {}
}

}  // namespace perdure
