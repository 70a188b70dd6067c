// Reads the whole journal on a thread of its own while the daemon serves, and says how far it is.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "api/world.h"
#include "store/engine.h"

namespace perdure {

// Begins at once; its end is awaited by the destructor, which stops it behind the session at hand.
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
