// Copies a store to a new one of any engine, record by record, and then compares the two. No other
// process may use either store during the copy.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "daemon/setup/open_journal.h"

namespace perdure {

struct CopyOrder {
  StorePlace from;
  StorePlace to;
  std::function<void(const std::string& sentence)> on_progress = {};
};

struct CopiedStore {
  std::uint64_t sessions = 0;  // includes the node's own journal
  std::uint64_t records = 0;
  std::uint64_t answers = 0;
  std::uint64_t blobs = 0;
};

// conflict: the target exists, or a daemon uses one of the two. damaged: a session cannot be read
// completely, or the copy differs. After an error the copy is removed. The copy has its own log_id,
// its next epoch is later than any of the source's, and the daemon that serves it builds the
// full-text index.
Result<CopiedStore> copy_store(const CopyOrder& order);

// The lock of the data folder that contains a store, if any. conflict: a daemon holds it.
class StoreLock {
 public:
  static Result<StoreLock> acquire(const StorePlace& place);

 private:
  std::shared_ptr<void> held_;
};

}  // namespace perdure
