// Copies a store to a new one of any engine, record by record, and compares the two when it is
// done. Both belong to nobody else meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "main/open_journal.h"

namespace perdure {

struct CopyOrder {
  StorePlace from;
  StorePlace to;
  std::function<void(const std::string& sentence)> on_progress = {};
};

struct CopiedStore {
  std::uint64_t sessions = 0;  // the node's own journal among them
  std::uint64_t records = 0;
  std::uint64_t answers = 0;
  std::uint64_t blobs = 0;
};

// conflict: something is at the target's place, or a daemon has one of the two. damaged: a session
// cannot be read to its end, or the copy differs. After an error there is no copy. The copy has a
// log_id of its own, its next epoch is later than any of the source's, and the full-text index is
// made by whoever serves it.
Result<CopiedStore> copy_store(const CopyOrder& order);

// The lock of the data folder that a store belongs to, if it belongs to one. conflict: a daemon has
// it.
class StoreLock {
 public:
  static Result<StoreLock> acquire(const StorePlace& place);

 private:
  std::shared_ptr<void> held_;
};

}  // namespace perdure
