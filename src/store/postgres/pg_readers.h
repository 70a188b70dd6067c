// A few connections for reads, for any thread. A read waits for a connection no longer than for its
// answer, and is retried once on a new one if its connection turns out to be lost: so it may run
// twice. Changes of leases and nodes run here too.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/postgres/link/pg_link.h"

namespace perdure {

class PgReaders {
 public:
  struct Setting {
    std::string place;
    PgTimes times;
    std::size_t links_max = 4;
    std::chrono::milliseconds pause{500};  // after a failed attempt to connect
  };
  explicit PgReaders(Setting setting) : setting_(std::move(setting)) {}

  // The statement must be idempotent.
  Result<PgRows> run(const PgStatement& statement, const PgParams& params);

 private:
  struct Leased {
    std::unique_ptr<PgLink> link;
    bool is_used = false;  // the connection may have been lost since
  };
  Result<Leased> lease();
  void give_back(std::unique_ptr<PgLink> link);

  const Setting setting_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<PgLink>> idle_;
  std::size_t out_ = 0;
  std::chrono::steady_clock::time_point not_before_{};
};

}  // namespace perdure
