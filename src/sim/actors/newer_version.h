// A newer version of the daemon that ran between two lives of this one: it leaves kinds and members
// in the journal that this version does not know, in the same format. They must be kept, ignored by
// the fold, and served like any other record (J6, S10, X25, X32).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "sim/world/prng.h"

namespace perdure::sim {

// Up to three records that follow the record with these bytes.
std::vector<std::string> newer_records(std::string_view last, Timestamp at, Prng& prng);

}  // namespace perdure::sim
