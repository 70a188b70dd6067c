// Reads records of format 0: those of the recovery plan from which Perdure developed. They have no
// `v` and no `prev`, times to the second, and ids of any form. The mapping is in
// docs/protocol/journal.md.
#pragma once

#include <string_view>

#include "base/id.h"
#include "base/result.h"
#include "core/wire/journal/record.h"

namespace perdure {

// The record in the current vocabulary, with version 0 and a zero prev. Members that the mapping
// changed are kept in `extra`, under "v0". Accepts any bytes; errors as decode_record.
Result<DecodedRecord> decode_record_v0(std::string_view bytes);

// The id that replaces one of another form. The same text gives the same id in every record, so it
// cannot contain the record's time; its time part is zero, and it sorts before all ids made here.
Ulid foreign_ulid(std::string_view text);

}  // namespace perdure
