// Reads the whole journal on a separate thread while the daemon serves, and reports its progress.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "daemon/api/world.h"
#include "store/engine.h"

namespace perdure {

// Begins at once. The destructor stops it after the current session and waits for it.
class VerifyThread {
 public:
  explicit VerifyThread(StoreEngine& store);
  ~VerifyThread();
  // From any thread.
  ApiWorld::Verified so_far() const;

 private:
  void run();
  void note(const VerifyReport& report);

  StoreEngine& store_;
  mutable std::mutex mutex_;
  ApiWorld::Verified verified_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace perdure
