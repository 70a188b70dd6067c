// Takes back the text of records, for a secret that was pasted where it should not be. A tombstone
// with the record's hash takes its place, so that the chain still verifies (J2), and the bytes are
// destroyed. What the state is folded from stays in the tombstone: ids, counts, settings.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/leftover.h"
#include "runtime/runtime.h"

namespace perdure {

struct RedactionOrder {
  SessionId session;
  std::vector<Seq> seqs;
  std::string by;
  std::string text = {};  // the secret itself, to look for; it is kept nowhere
  std::function<bool(SessionId)> may_see = nullptr;  // other sessions to be named; null: all
  bool may_see_node = true;  // tasks and rules that hold the text may be named to whoever asks
};

struct RedactionReport {
  std::vector<Leftover> left;
  std::vector<Seq> also_in;       // records of this session that hold the same text
  std::vector<std::string> lost;  // settings that went with the text
  bool left_queue = false;        // a prompt that was not sent was taken from the queue
};

using OnRedacted = std::move_only_function<void(Result<RedactionReport>)>;

// Answers from the loop. Nothing is changed by an order that is refused: not_found for a record
// that there is not; conflict for one without text, and for a question that is still open, since a
// person must not answer what cannot be read any more. A prompt that waits in the queue is taken
// from it first. Redacting a tombstone changes nothing.
void redact_records(Runtime& runtime, RedactionOrder order, OnRedacted done);

}  // namespace perdure
