#include "store_queue/append_queue.h"

#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "base/hash.h"
#include "base/limits.h"

namespace perdure {
namespace {

// One append: more than this would make commits, and everybody's wait for them, too long.
constexpr std::size_t append_bytes_max = 256UL << 20;

std::size_t weight(const Append& batch) {
  std::size_t bytes = 64;
  for (const std::string& record : batch.records) bytes += record.size() + 32;
  for (const Blob& blob : batch.blobs) bytes += blob.bytes.size();
  if (batch.snapshot) bytes += batch.snapshot->size();
  return bytes;
}

}  // namespace

Result<> check_batch(const Append& batch) {
  if (batch.session.is_null()) return fail(Code::invalid_argument, "an append needs a session");
  for (const std::string& record : batch.records) {
    if (record.size() > record_bytes_max) {
      return fail(Code::invalid_argument, "a record has " + std::to_string(record.size()) +
                                              " bytes, more than " +
                                              std::to_string(record_bytes_max));
    }
  }
  if (const std::size_t bytes = weight(batch); bytes > append_bytes_max) {
    return fail(Code::invalid_argument, "an append has " + std::to_string(bytes) +
                                            " bytes, more than " +
                                            std::to_string(append_bytes_max));
  }
  for (const Blob& blob : batch.blobs) {
    if (sha256(blob.bytes) != blob.hash) {
      return fail(Code::invalid_argument, "a blob's hash is not that of its bytes");
    }
  }
  std::set<std::string_view> keys;
  for (const StoredAnswer& answer : batch.answers) {
    if (!keys.insert(answer.key).second) {
      return fail(Code::invalid_argument, "an append has two answers with one key");
    }
  }
  return {};
}

void AppendQueue::push(Append&& batch, Store::Done&& done) {
  PendingAppend pending{.batch = std::move(batch), .done = std::move(done)};
  if (Result<> checked = check_batch(pending.batch); !checked) {
    pending.refused = std::move(checked.error());
  }
  pending.bytes = weight(pending.batch);
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
