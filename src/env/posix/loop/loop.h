// The loop of a small program: one thread, one epoll, one timer, tasks in order. Objects destroyed
// by a callback stay in memory until its round is over, so that no event reaches a dead watch.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <sys/epoll.h>

#include "base/result.h"
#include "env/env.h"
#include "env/posix/files/fd.h"

namespace perdure {

class EpollLoop;

enum class Interest : std::uint8_t { none, read, write, both };

// The result of epoll. A hang-up or an error counts as both; the next read or write reports it.
struct Ready {
  bool read = false;
  bool write = false;
};

// One watched descriptor. Destroying it ends the watch, even within its own callback. The caller
// owns the descriptor and must keep it open until then. Neither copied nor shared.
class Watch {
 public:
  using OnReady = std::move_only_function<void(Ready)>;

  Watch() = default;
  Watch(Watch&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  Watch& operator=(Watch&& other) noexcept;
  ~Watch() { stop(); }

  // With `none`, not even a hang-up is reported.
  void set_interest(Interest interest);
  void stop();
  explicit operator bool() const { return slot_ != nullptr; }

 private:
  friend class EpollLoop;
  struct Slot;
  explicit Watch(Slot* slot) : slot_(slot) {}

  Slot* slot_ = nullptr;
};

// Belongs to the thread that runs it (before the first round: to its creator). All calls must come
// from that thread, except wake(), stop() and post_from_thread(). It must outlive its watches.
// Create it after detach(), because a fork would share its epoll.
class EpollLoop final : public Loop {
 public:
  static Result<std::unique_ptr<EpollLoop>> create();
  ~EpollLoop() override;

  void post(Task task) override;
  TimerId after_ms(std::int64_t delay_ms, Task task) override;
  void cancel(TimerId timer) override;

  // Calls back while the descriptor is ready (level-triggered), until it was read or written.
  Watch watch(const Fd& fd, Interest interest, Watch::OnReady on_ready);

  // Runs until stop(). Blocks.
  void run();
  // Ends run() after its current round; if it is not running, the next run() returns at once. From
  // any thread and from a signal handler.
  void stop();
  // Wakes a sleeping loop for one round. From any thread and from a signal handler.
  void wake();
  // post() for other threads.
  void post_from_thread(Task task);

  // For another loop that drives this one: readable when pump() has work to do.
  int descriptor() const { return epoll_.get(); }
  // One round of what is ready now, without waiting.
  void pump();
  // One round that waits at most this long for work. For tests and simple programs.
  void pump_for_ms(int wait_ms);

  // Destroys every task and timer without running it, and also those posted by their destruction.
  void drop_pending();

  // A reading buffer shared by all watches: its content lasts until the callback returns.
  std::span<char> read_buffer() { return {read_buffer_.get(), read_buffer_bytes}; }

  static constexpr std::size_t read_buffer_bytes = 64UL << 10;

 private:
  friend class Watch;
  struct Timer {
    std::int64_t deadline_ns;
    Task task;
  };

  EpollLoop() = default;
  void round(int wait_ms);
  void run_tasks();
  void run_timers();
  void take_from_threads();
  void arm_timer();
  void check_thread() const;

  Fd epoll_;
  Fd wake_fd_;
  Fd timer_fd_;
  Watch wake_watch_;
  Watch timer_watch_;
  std::deque<Task> tasks_;
  std::map<TimerId, Timer> timers_;
  std::set<std::pair<std::int64_t, TimerId>> deadlines_;
  std::int64_t armed_ns_ = 0;  // 0: not armed
  TimerId next_timer_ = 1;
  bool in_round_ = false;
  bool running_ = false;                               // by run(), so no other loop drives this one
  std::vector<std::unique_ptr<Watch::Slot>> stopped_;  // freed after the round
  std::unique_ptr<char[]> read_buffer_;
  std::thread::id owner_;
  std::atomic<bool> stopping_ = false;
  std::mutex from_threads_mutex_;
  std::deque<Task> from_threads_;
};

// Destroys the loop's tasks and timers in its destructor. They hold processes, links and calls, so
// create this after everything that those use.
class PendingTasks {
 public:
  explicit PendingTasks(EpollLoop& loop) : loop_(loop) {}
  ~PendingTasks() { loop_.drop_pending(); }
  PendingTasks(const PendingTasks&) = delete;
  PendingTasks& operator=(const PendingTasks&) = delete;

 private:
  EpollLoop& loop_;
};

}  // namespace perdure
