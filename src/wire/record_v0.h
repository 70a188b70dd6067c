// Reads records of format 0: those of the recovery plan that Perdure grew from. They have no `v`
// and no `prev`, times to the second, and ids of any form. The mapping is in
// docs/protocol/journal.md.
#pragma once

#include <string_view>

#include "base/id.h"
#include "base/result.h"
#include "wire/record.h"

namespace perdure {

// The record in the present vocabulary, with version 0 and a zero prev. What the mapping changed
// stands as it was in `extra`, under "v0". Takes any bytes; errors as decode_record.
Result<DecodedRecord> decode_record_v0(std::string_view bytes);

// The id that stands for one of another form: the same text gives the same id in every record, so
// it cannot hold the record's time; its time part is zero and it sorts before all ids made here.
Ulid foreign_ulid(std::string_view text);

}  // namespace perdure
