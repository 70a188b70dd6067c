// Looks through the machine's processes for those who called over TCP, on threads of its own. One
// searches outside of the sessions; what it does not find there goes to the other, so that nobody
// outside ever waits for a search through what sessions hold.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "env/env.h"
#include "env/posix/confine/tcp_caller.h"

namespace perdure {

// One look for a caller. `source` is the credential that it showed.
struct CallerLook {
  std::string source;
  TcpEnds ends;
  std::move_only_function<void(Result<CallerPlace>)> found;
};

// Looks that wait, one of each source in turn. Not thread-safe.
class CallerQueue {
 public:
  // False, and the look is left as it was: its source has caller_looks_per_source_max already, or
  // caller_looks_max wait in all.
  bool push(CallerLook& look);
  bool empty() const { return turns_.empty(); }
  CallerLook pop();

 private:
  std::deque<std::deque<CallerLook>> turns_;  // each of one source and not empty; the front is next
  std::size_t size_ = 0;
};

class CallerThread {
 public:
  using OnFound = std::move_only_function<void(Result<CallerPlace>)>;
  // As those of TcpCallers; each is called on a thread of its own.
  struct Searches {
    std::function<std::optional<CallerPlace>(const TcpEnds&)> outside;
    std::function<CallerPlace(const TcpEnds&)> inside;
  };

  // The loop outlives it and may be posted to from any thread.
  CallerThread(Searches searches, Loop& loop);
  // Looks that were not begun are dropped, and nobody hears of them.
  ~CallerThread();
  CallerThread(const CallerThread&) = delete;
  CallerThread& operator=(const CallerThread&) = delete;

  // `found` is called on the loop; unavailable: too many looks wait.
  void find(std::string source, TcpEnds ends, OnFound found);

 private:
  void add(CallerQueue& queue, CallerLook look);
  // Takes looks from the queue until the end.
  void run(CallerQueue& queue, const std::function<void(CallerLook)>& take);
  void answer(CallerLook look, Result<CallerPlace> place);

  Searches searches_;
  Loop& loop_;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);  // read on the loop only
  std::mutex mutex_;
  std::condition_variable wanted_;
  CallerQueue outside_;
  CallerQueue inside_;
  bool stopping_ = false;
  std::thread outside_thread_;
  std::thread inside_thread_;
};

}  // namespace perdure
