// Reads the epoch from a journal's files without opening it, for a journal that is damaged or must
// not be changed.
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/setup/open_journal.h"

namespace perdure {

// The epoch of the last opening, or of an earlier one if the log is damaged. nullopt: unreadable,
// or the store is in a database.
std::optional<std::uint64_t> stored_epoch(const StorePlace& place);

}  // namespace perdure
