// Redacts the text of records, such as a secret pasted by mistake. A tombstone with the record's
// hash replaces it, so that the chain still verifies (J2), and the bytes are destroyed. The
// tombstone keeps what the state is folded from: ids, counts, settings.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/runtime/care/leftover.h"
#include "daemon/runtime/runtime.h"

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
  std::vector<Seq> also_in;       // records of this session with the same text
  std::vector<std::string> lost;  // settings lost with the text
  bool left_queue = false;        // an unsent prompt was removed from the queue
};

using OnRedacted = std::move_only_function<void(Result<RedactionReport>)>;

// Answers from the loop. A rejected order changes nothing: not_found for a missing record; conflict
// for one without text, and for an open question, because a person must not answer what has become
// unreadable. A prompt in the queue is first removed from it. Redacting a tombstone changes
// nothing.
void redact_records(Runtime& runtime, RedactionOrder order, OnRedacted done);

}  // namespace perdure
