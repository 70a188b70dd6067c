// Connections for reads, a few of them, for any thread. A read waits for one of them no longer than
// for its answer, and one on a connection that turns out to be gone is tried once more on a new
// one: whatever goes over them may be done twice. What changes leases and nodes goes here too.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store_postgres/pg_link.h"

namespace perdure {

class PgReaders {
 public:
  struct Setting {
    std::string place;
    PgTimes times;
    std::size_t links_max = 4;
    std::chrono::milliseconds pause{500};  // after a connection that could not be made
  };
  explicit PgReaders(Setting setting) : setting_(std::move(setting)) {}

  // The statement does the same when it is done once more.
  Result<PgRows> run(const PgStatement& statement, const PgParams& params);

 private:
  struct Leased {
    std::unique_ptr<PgLink> link;
    bool is_used = false;  // it may have been lost since
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
