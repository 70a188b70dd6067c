// What belongs to no session any more: environments and workspaces of sessions that are gone. With
// a daemon or without one, whoever holds the data folder's lock.
#pragma once

#include <optional>
#include <vector>

#include "api/world.h"
#include "base/result.h"
#include "main/data_folder.h"
#include "store/engine.h"

namespace perdure {

// Every session of the store; the node's own journal is none.
Result<std::vector<SessionId>> sessions_of(StoreEngine& store);

struct CollectOrder {
  ApiWorld::Collect how = ApiWorld::Collect::look;
  // What was made later is left: its session may be on its way to the journal.
  std::optional<Timestamp> made_before;
};
// S11: of a session that is there nothing is ever taken.
Result<ApiWorld::Collected> collect_leftovers(const DataFolder& data, StoreEngine& store,
                                              const CollectOrder& order);

}  // namespace perdure
