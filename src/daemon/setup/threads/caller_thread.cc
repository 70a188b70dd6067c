#include "daemon/setup/threads/caller_thread.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "daemon/setup/threads/quiet_thread.h"

namespace perdure {

bool CallerQueue::push(CallerLook& look) {
  const auto own = std::ranges::find_if(
      turns_, [&](const auto& looks) { return looks.front().source == look.source; });
  const bool is_full = own != turns_.end() && own->size() >= caller_looks_per_source_max;
  if (is_full || size_ >= caller_looks_max) return false;
  if (own == turns_.end()) {
    turns_.emplace_back().push_back(std::move(look));
  } else {
    own->push_back(std::move(look));
  }
  ++size_;
  return true;
}

CallerLook CallerQueue::pop() {
  std::deque<CallerLook> looks = std::move(turns_.front());
  turns_.pop_front();
  CallerLook next = std::move(looks.front());
  looks.pop_front();
  if (!looks.empty()) turns_.push_back(std::move(looks));
  --size_;
  return next;
}

CallerThread::CallerThread(Searches searches, Loop& loop)
    : searches_(std::move(searches)), loop_(loop) {
  outside_thread_ = start_quiet_thread([this] {
    run(outside_, [this](CallerLook look) {
      std::optional<CallerPlace> place = searches_.outside(look.ends);
      if (!place) return add(inside_, std::move(look));
      answer(std::move(look), std::move(*place));
    });
  });
  inside_thread_ = start_quiet_thread([this] {
    run(inside_, [this](CallerLook look) {
      CallerPlace place = searches_.inside(look.ends);
      answer(std::move(look), std::move(place));
    });
  });
}

CallerThread::~CallerThread() {
  *exists_ = false;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wanted_.notify_all();
  outside_thread_.join();
  inside_thread_.join();
}

void CallerThread::find(std::string source, TcpEnds ends, OnFound found) {
  add(outside_, {std::move(source), std::move(ends), std::move(found)});
}

void CallerThread::add(CallerQueue& queue, CallerLook look) {
  {
    const std::scoped_lock lock(mutex_);
    if (queue.push(look)) return wanted_.notify_all();
  }
  answer(std::move(look),
         fail(Code::unavailable, "Too many callers are being identified. Try again in a second."));
}

void CallerThread::run(CallerQueue& queue, const std::function<void(CallerLook)>& take) {
  while (true) {
    std::unique_lock lock(mutex_);
    wanted_.wait(lock, [&] { return stopping_ || !queue.empty(); });
    if (stopping_) return;
    CallerLook look = queue.pop();
    lock.unlock();
    take(std::move(look));
  }
}

void CallerThread::answer(CallerLook look, Result<CallerPlace> place) {
  loop_.post([exists = exists_, found = std::move(look.found), place = std::move(place)] mutable {
    if (*exists) found(std::move(place));
  });
}

}  // namespace perdure
