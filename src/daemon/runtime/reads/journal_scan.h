// Reads a whole journal page by page, yielding to the loop in between: scanning a long session
// blocks no other work and holds only one page in memory.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "daemon/runtime/runtime.h"

namespace perdure {

// Processes the records in order.
class JournalFold {
 public:
  virtual ~JournalFold() = default;
  // An error ends the scan. `bytes` is the record as stored.
  virtual Result<> add(Seq seq, std::string_view bytes) = 0;
  // False: it has seen enough, or its requester is gone.
  virtual bool wants_more() const { return true; }
};

using OnScanned = std::move_only_function<void(Result<>)>;

struct JournalPart {
  Seq after = 0;
  Seq upto = 0;
};

// Passes the records after `after`, up to `upto`, to the fold, which stays alive until `done` has
// run; `done` is called from the loop, never within this call. `damaged` if a record is missing or
// unreadable.
void scan_journal(Runtime& runtime, SessionId session, JournalPart range,
                  std::shared_ptr<JournalFold> fold, OnScanned done);

}  // namespace perdure
