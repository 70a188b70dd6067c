// Brings a store back that does not open because of damage in its log, and builds indexes anew that
// cannot be read. Nothing is destroyed: what was damaged is kept beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "main/open_journal.h"

namespace perdure {

struct SalvagedStore {
  std::unique_ptr<StoreEngine> store;  // open; sessions that lost records are read-only
  std::vector<std::string> kept;       // copies of what was damaged, by path
  std::uint64_t indexes_rebuilt = 0;
};

// The caller has the store for itself. invalid_argument: it is in a database, which has means of
// its own. damaged: more than the log is; restore a backup.
Result<SalvagedStore> salvage_store(const StorePlace& place);

}  // namespace perdure
