#include "main/caller_thread.h"

#include <utility>

#include "main/quiet_thread.h"

namespace perdure {
namespace {

constexpr std::size_t looks_max = 256;

}  // namespace

CallerThread::CallerThread(TcpCallers& callers, Loop& loop) : callers_(callers), loop_(loop) {
  thread_ = start_quiet_thread([this] { run(); });
}

CallerThread::~CallerThread() {
  *exists_ = false;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wanted_.notify_one();
  thread_.join();
}

void CallerThread::find(TcpEnds ends, OnFound found) {
  {
    const std::scoped_lock lock(mutex_);
    if (looks_.size() < looks_max) {
      looks_.push_back({std::move(ends), std::move(found)});
      wanted_.notify_one();
      return;
    }
  }
  loop_.post([found = std::move(found)] mutable {
    found({true, "", "too many callers are being looked for"});
  });
}

void CallerThread::run() {
  while (true) {
    std::unique_lock lock(mutex_);
    wanted_.wait(lock, [this] { return stopping_ || !looks_.empty(); });
    if (stopping_) return;
    Look look = std::move(looks_.front());
    looks_.pop_front();
    lock.unlock();
    CallerPlace place = callers_.find(look.ends);
    loop_.post([exists = exists_, found = std::move(look.found), place = std::move(place)] mutable {
      if (*exists) found(std::move(place));
    });
  }
}

}  // namespace perdure
