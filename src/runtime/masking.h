// A record as it leaves Perdure: without the values that are known to be secret.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret_mask.h"

namespace perdure {

// Unchanged bytes if there is nothing to hide. Otherwise a tombstone that keeps the rest of the
// event and has the record's hash, so that the chain verifies. Errors as decode_record.
Result<std::string> masked_record(std::string_view bytes, const SecretMask& mask);

}  // namespace perdure
