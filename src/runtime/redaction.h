// Redacts a record, for a secret that was pasted where it should not be: a tombstone with its hash
// takes its place, so that the chain still verifies (J2), and its bytes are destroyed.
#pragma once

#include "base/result.h"
#include "runtime/journal_scan.h"
#include "runtime/runtime.h"

namespace perdure {

// Answers from the loop. not_found for a record that there is not; conflict while the session's
// state still rests on the record: the journal without it has to fold to the same state (J4).
// Redacting a tombstone changes nothing.
void redact_record(Runtime& runtime, SessionId session, Seq seq, OnScanned done);

}  // namespace perdure
