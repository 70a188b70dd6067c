// What every engine asks of a batch before it looks at its own state.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "store/store.h"

namespace perdure {

// About what an append will take on the disk.
std::size_t weight_bytes(const Append& batch);

// invalid_argument for a batch that no state of a store could take. Any thread.
Result<> check_batch(const Append& batch);

}  // namespace perdure
