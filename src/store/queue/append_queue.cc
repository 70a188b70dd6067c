#include "store/queue/append_queue.h"

#include <iterator>
#include <set>
#include <utility>

#include "store/append_check.h"

namespace perdure {
void AppendQueue::push(Append&& batch, Store::Done&& done) {
  PendingAppend pending{.batch = std::move(batch), .done = std::move(done)};
  if (Result<> checked = check_batch(pending.batch); !checked) {
    pending.refused = std::move(checked.error());
  }
  pending.bytes = weight_bytes(pending.batch);
  bool notify = false;
  {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(pending));
    notify = queue_.size() == 1;
  }
  if (notify) queued_.notify_one();
}

bool AppendQueue::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const bool ready = queued_.wait_for(lock, timeout, [&] { return !queue_.empty() || woken_; });
  woken_ = false;
  return ready;
}

void AppendQueue::wake() {
  {
    const std::scoped_lock lock(mutex_);
    woken_ = true;
  }
  queued_.notify_one();
}

std::vector<PendingAppend>& AppendQueue::take() {
  const std::scoped_lock lock(mutex_);
  std::size_t bytes = 0;
  std::size_t count = 0;
  while (count < queue_.size() && (count == 0 || bytes < limits_.group_bytes_max)) {
    bytes += queue_[count++].bytes;
  }
  if (count == queue_.size()) {
    group_.swap(queue_);
    return group_;
  }
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
  group_.assign(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
  return group_;
}

void AppendQueue::answer() {
  for (PendingAppend& pending : group_) {
    if (pending.refused) {
      pending.done(std::unexpected(*std::move(pending.refused)));
    } else {
      pending.done({});
    }
  }
  group_.clear();
}

void AppendQueue::refuse_behind(const Error& error) {
  std::set<SessionId> held;
  for (const PendingAppend& pending : group_) held.insert(pending.batch.session);
  std::vector<PendingAppend> refused;
  {
    const std::scoped_lock lock(mutex_);
    std::vector<PendingAppend> kept;
    for (PendingAppend& pending : queue_) {
      (held.contains(pending.batch.session) ? kept : refused).push_back(std::move(pending));
    }
    queue_ = std::move(kept);
  }
  for (PendingAppend& pending : refused) {
    pending.done(std::unexpected(pending.refused ? *std::move(pending.refused) : error));
  }
}

}  // namespace perdure
