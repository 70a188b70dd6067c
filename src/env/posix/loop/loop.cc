#include "env/posix/loop/loop.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure {
namespace {

constexpr int events_per_round = 16;
constexpr std::int64_t ns_per_ms = 1'000'000;
// A century: longer delays would overflow the sum with the clock.
constexpr std::int64_t delay_ms_max = 100LL * 365 * 86'400'000;

std::int64_t boottime_ns() {
  timespec now{};
  CHECK(clock_gettime(CLOCK_BOOTTIME, &now) == 0);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

std::uint32_t epoll_bits(Interest interest) {
  switch (interest) {
    case Interest::none: return 0;
    case Interest::read: return EPOLLIN;
    case Interest::write: return EPOLLOUT;
    case Interest::both: return EPOLLIN | EPOLLOUT;
  }
  CHECK(false, "unknown interest");
}

// Resets the counter of an eventfd or timerfd; its value does not matter.
void drain_counter(const Fd& fd) {
  std::uint64_t count = 0;
  while (::read(fd.get(), &count, sizeof count) < 0 && errno == EINTR) {}
}

}  // namespace

struct Watch::Slot {
  EpollLoop* loop;
  int descriptor;
  Interest interest;
  OnReady on_ready;
  bool stopped = false;
};

Watch& Watch::operator=(Watch&& other) noexcept {
  if (this != &other) {
    stop();
    slot_ = std::exchange(other.slot_, nullptr);
  }
  return *this;
}

void Watch::set_interest(Interest interest) {
  CHECK(slot_ != nullptr);
  if (slot_->interest == interest) return;
  // epoll always reports hang-ups, so a watch without interest is removed from the set.
  int change = EPOLL_CTL_MOD;
  if (interest == Interest::none) change = EPOLL_CTL_DEL;
  if (slot_->interest == Interest::none) change = EPOLL_CTL_ADD;
  epoll_event event{.events = epoll_bits(interest), .data = {.ptr = slot_}};
  CHECK(epoll_ctl(slot_->loop->epoll_.get(), change, slot_->descriptor, &event) == 0);
  slot_->interest = interest;
}

void Watch::stop() {
  if (slot_ == nullptr) return;
  set_interest(Interest::none);
  slot_->stopped = true;
  std::unique_ptr<Slot> slot(std::exchange(slot_, nullptr));
  EpollLoop* loop = slot->loop;
  if (loop->in_round_) loop->stopped_.push_back(std::move(slot));
}

Result<std::unique_ptr<EpollLoop>> EpollLoop::create() {
  std::unique_ptr<EpollLoop> loop(new EpollLoop);
  loop->epoll_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  if (!loop->epoll_) return system_failure("make an epoll");
  loop->wake_fd_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!loop->wake_fd_) return system_failure("make an eventfd");
  loop->timer_fd_ = Fd(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!loop->timer_fd_) return system_failure("make a timerfd");
  loop->read_buffer_ = std::make_unique_for_overwrite<char[]>(read_buffer_bytes);
  loop->owner_ = std::this_thread::get_id();
  EpollLoop* self = loop.get();
  loop->wake_watch_ = loop->watch(loop->wake_fd_, Interest::read, [self](Ready) {
    drain_counter(self->wake_fd_);
    self->take_from_threads();
  });
  loop->timer_watch_ = loop->watch(loop->timer_fd_, Interest::read, [self](Ready) {
    drain_counter(self->timer_fd_);
    self->armed_ns_ = 0;
    self->run_timers();
    self->arm_timer();
  });
  return loop;
}

EpollLoop::~EpollLoop() {
  CHECK(!in_round_, "a loop cannot be destroyed from inside");
  // While all members exist: destroyed tasks may cancel a timer or post again.
  drop_pending();
}

void EpollLoop::drop_pending() {
  take_from_threads();
  while (!tasks_.empty() || !timers_.empty()) {
    const std::deque<Task> tasks = std::exchange(tasks_, {});
    const std::map<TimerId, Timer> timers = std::exchange(timers_, {});
    deadlines_.clear();
  }
}

void EpollLoop::check_thread() const {
  CHECK(owner_ == std::this_thread::get_id(), "a loop belongs to one thread");
}

void EpollLoop::post(Task task) {
  check_thread();
  tasks_.push_back(std::move(task));
  // A loop that drives this one must notice the task.
  if (!in_round_ && tasks_.size() == 1) wake();
}

void EpollLoop::post_from_thread(Task task) {
  bool is_first = false;
  {
    const std::lock_guard lock(from_threads_mutex_);
    is_first = from_threads_.empty();
    from_threads_.push_back(std::move(task));
  }
  // Earlier tasks have already woken the loop, which takes all tasks at once.
  if (is_first) wake();
}

void EpollLoop::take_from_threads() {
  const std::lock_guard lock(from_threads_mutex_);
  std::ranges::move(from_threads_, std::back_inserter(tasks_));
  from_threads_.clear();
}

void EpollLoop::wake() {
  const int saved = errno;
  const std::uint64_t one = 1;
  // A full counter (EAGAIN) wakes the loop as well.
  while (::write(wake_fd_.get(), &one, sizeof one) < 0 && errno == EINTR) {}
  errno = saved;
}

void EpollLoop::stop() {
  stopping_.store(true);
  wake();
}

Loop::TimerId EpollLoop::after_ms(std::int64_t delay_ms, Task task) {
  check_thread();
  const std::int64_t delay_ns = std::clamp<std::int64_t>(delay_ms, 0, delay_ms_max) * ns_per_ms;
  const TimerId id = next_timer_++;
  const std::int64_t deadline_ns = boottime_ns() + delay_ns;
  timers_.emplace(id, Timer{deadline_ns, std::move(task)});
  deadlines_.emplace(deadline_ns, id);
  arm_timer();
  return id;
}

void EpollLoop::cancel(TimerId timer) {
  check_thread();
  const auto found = timers_.find(timer);
  if (found == timers_.end()) return;
  deadlines_.erase({found->second.deadline_ns, timer});
  timers_.erase(found);
  // The timerfd stays armed: one needless wake is cheaper than a system call for each cancel.
}

void EpollLoop::arm_timer() {
  if (deadlines_.empty()) return;
  const std::int64_t earliest_ns = deadlines_.begin()->first;
  if (armed_ns_ != 0 && armed_ns_ <= earliest_ns) return;
  itimerspec when{};
  when.it_value.tv_sec = earliest_ns / 1'000'000'000;
  when.it_value.tv_nsec = earliest_ns % 1'000'000'000;
  CHECK(timerfd_settime(timer_fd_.get(), TFD_TIMER_ABSTIME, &when, nullptr) == 0);
  armed_ns_ = earliest_ns;
}

void EpollLoop::run_timers() {
  // Timers created by these tasks wait for the next round, with any delay.
  const std::int64_t now_ns = boottime_ns();
  const TimerId first_new = next_timer_;
  auto due = deadlines_.begin();
  while (due != deadlines_.end() && due->first <= now_ns) {
    if (due->second >= first_new) {
      ++due;
      continue;
    }
    const auto timer = timers_.extract(due->second);
    deadlines_.erase(due);
    timer.mapped().task();
    due = deadlines_.begin();
  }
}

void EpollLoop::run_tasks() {
  // Only current tasks: descriptors have their turn before tasks that these post.
  for (std::size_t left = tasks_.size(); left > 0; --left) {
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
  }
}

void EpollLoop::round(int wait_ms) {
  owner_ = std::this_thread::get_id();
  CHECK(!in_round_, "tasks never nest");
  epoll_event events[events_per_round];
  const int count =
      epoll_wait(epoll_.get(), events, events_per_round, tasks_.empty() ? wait_ms : 0);
  CHECK(count >= 0 || errno == EINTR);
  in_round_ = true;
  for (int i = 0; i < count; ++i) {
    auto* slot = static_cast<Watch::Slot*>(events[i].data.ptr);
    if (slot->stopped || slot->interest == Interest::none) continue;
    const std::uint32_t bits = events[i].events;
    const bool broken = (bits & (EPOLLHUP | EPOLLERR)) != 0;
    slot->on_ready(
        {.read = broken || (bits & EPOLLIN) != 0, .write = broken || (bits & EPOLLOUT) != 0});
  }
  run_tasks();
  in_round_ = false;
  stopped_.clear();
  if (!tasks_.empty() && !running_) wake();
}

void EpollLoop::run() {
  running_ = true;
  while (!stopping_.load()) round(-1);
  running_ = false;
  if (!tasks_.empty()) wake();
  stopping_.store(false);
}

void EpollLoop::pump() { round(0); }

void EpollLoop::pump_for_ms(int wait_ms) { round(wait_ms); }

Watch EpollLoop::watch(const Fd& fd, Interest interest, Watch::OnReady on_ready) {
  check_thread();
  Watch watch(new Watch::Slot{this, fd.get(), Interest::none, std::move(on_ready)});
  watch.set_interest(interest);
  return watch;
}

}  // namespace perdure
