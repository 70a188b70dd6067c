// Receives the commits of other nodes, on its own connection and thread. Its reports are hints:
// after each (re)connect it reports that any session may have changed, since notifications were
// lost in between.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/id.h"
#include "store/postgres/link/pg_link.h"

namespace perdure {

class PgListener {
 public:
  struct Setting {
    std::string place;
    PgTimes times;
    std::uint64_t epoch = 0;  // of this life, whose own hints are ignored
    // The delay between connection attempts, doubled from the first to the second value.
    std::chrono::milliseconds retry_first{50};
    std::chrono::milliseconds retry_max{1'000};
    // All run on the listener's thread: another node exists; these sessions changed, or any if
    // empty; text of these, or any, was redacted.
    std::function<void()> on_other;
    std::function<void(std::vector<SessionId>)> on_changed;
    std::function<void(std::vector<SessionId>)> on_redacted;
  };
  explicit PgListener(Setting setting);
  // Waits for a running callback and for a connection attempt, as long as that may take.
  ~PgListener();
  PgListener(const PgListener&) = delete;
  PgListener& operator=(const PgListener&) = delete;

 private:
  void run();
  // Returns when the connection is lost or the listener ends.
  void listen(PgLink& link);
  void tell(const std::vector<std::string>& notices);
  void tell_any();
  void pause(std::chrono::milliseconds time);

  const Setting setting_;
  int wake_fd_ = -1;  // an eventfd, readable once the listener is to end
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace perdure
