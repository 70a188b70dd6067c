// Small writes that must be on disk before a request is answered, done off the main loop, which
// never waits for a disk. They run one at a time in order, including those pending at the end.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "base/result.h"
#include "daemon/setup/threads/quiet_thread.h"
#include "env/env.h"

namespace perdure {

class DiskThread {
 public:
  using Work = std::move_only_function<Result<>()>;
  using Done = std::move_only_function<void(Result<>)>;

  // The loop must accept tasks from any thread and outlive this object.
  explicit DiskThread(Loop& loop) : loop_(loop) {
    thread_ = start_quiet_thread([this] { run(); });
  }
  ~DiskThread() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    given_.notify_one();
    thread_.join();
  }

  // Runs `work` on the thread, then `done` on the loop unless the loop has ended.
  void run(Work work, Done done) {
    {
      const std::scoped_lock lock(mutex_);
      jobs_.push_back({std::move(work), std::move(done)});
    }
    given_.notify_one();
  }

 private:
  struct Job {
    Work work;
    Done done;
  };

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      given_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      Result<> result = job.work();
      loop_.post([done = std::move(job.done), result = std::move(result)]() mutable {
        done(std::move(result));
      });
      lock.lock();
    }
  }

  Loop& loop_;
  std::mutex mutex_;
  std::condition_variable given_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace perdure
