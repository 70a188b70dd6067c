// Environments and workspaces of sessions that no longer exist. The caller must hold the data
// folder's lock, in the daemon and without it.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "daemon/api/world.h"
#include "daemon/setup/data_folder.h"
#include "store/engine.h"

namespace perdure {

// Every session of the store, excluding the node's own journal.
Result<std::vector<SessionId>> sessions_of(StoreEngine& store);

struct CollectOrder {
  ApiWorld::Collect how = ApiWorld::Collect::look;
  // Later ones are kept: their session may not have reached the journal yet.
  std::optional<Timestamp> made_before;
};
// S11: never removes anything of a session that exists.
Result<ApiWorld::Collected> collect_leftovers(const DataFolder& data, StoreEngine& store,
                                              const CollectOrder& order);

}  // namespace perdure
