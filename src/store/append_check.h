// The checks that every engine makes on a batch before it looks at its own state.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "store/store.h"

namespace perdure {

// Approximate size of an append on disk.
std::size_t weight_bytes(const Append& batch);

// invalid_argument if no store could accept the batch in any state. Thread-safe.
Result<> check_batch(const Append& batch);

}  // namespace perdure
