// Recovers a store that cannot be opened because its log is damaged, and rebuilds unreadable
// indexes. Nothing is destroyed: copies of the damaged parts are kept beside the store.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/setup/open_journal.h"

namespace perdure {

struct SalvagedStore {
  std::unique_ptr<StoreEngine> store;  // open; sessions that lost records are read-only
  std::vector<std::string> kept;       // copies of the damaged parts, by path
  std::uint64_t indexes_rebuilt = 0;
};

// The caller must have exclusive use of the store. invalid_argument: it is in a database, which has
// its own tools. damaged: more than the log is damaged; restore a backup.
Result<SalvagedStore> salvage_store(const StorePlace& place);

}  // namespace perdure
