// A record as it leaves Perdure: without the values that are known to be secret.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret_mask.h"

namespace perdure {

// The same bytes where nothing has to be hidden. Otherwise a tombstone with the hash of the record,
// so that the chain verifies, which keeps the rest of its event. Errors as decode_record.
Result<std::string> masked_record(std::string_view bytes, const SecretMask& mask);

}  // namespace perdure
