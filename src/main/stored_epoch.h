// The epoch that a journal's file names, read without opening the journal: for one that is damaged,
// or that is to be left as it is.
#pragma once

#include <cstdint>
#include <optional>

#include "main/open_journal.h"

namespace perdure {

// Of its last opening, or of an earlier one where the log is damaged. Nothing: it cannot be read,
// or the store is in a database.
std::optional<std::uint64_t> stored_epoch(const StorePlace& place);

}  // namespace perdure
