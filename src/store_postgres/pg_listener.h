// Hears what other nodes commit, on a connection and a thread of its own. What it says is a hint:
// after each (re)connect it says that anything may have changed, since what was told meanwhile is
// lost.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/id.h"
#include "store_postgres/pg_link.h"

namespace perdure {

class PgListener {
 public:
  struct Setting {
    std::string place;
    PgTimes times;
    std::uint64_t epoch = 0;  // of this life, whose own hints are left out
    // Between two tries to connect, doubled from the first to the second.
    std::chrono::milliseconds retry_first{50};
    std::chrono::milliseconds retry_max{1'000};
    // All run on the listener's thread: another node is there; these sessions changed, or any;
    // text was taken back from these, or from any.
    std::function<void()> on_other;
    std::function<void(std::vector<SessionId>)> on_changed;
    std::function<void(std::vector<SessionId>)> on_redacted;
  };
  explicit PgListener(Setting setting);
  // Waits for a call that runs, and for a try to connect: as long as that may take.
  ~PgListener();
  PgListener(const PgListener&) = delete;
  PgListener& operator=(const PgListener&) = delete;

 private:
  void run();
  // Until the connection is gone, or the end.
  void listen(PgLink& link);
  void tell(const std::vector<std::string>& notices);
  void tell_any();
  void pause(std::chrono::milliseconds time);

  const Setting setting_;
  int wake_fd_ = -1;  // an eventfd, readable from the end on
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace perdure
