// Reads a whole journal, page by page, with the loop free in between: however long a session is, a
// look at all of it keeps nobody waiting and holds one page in memory.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "runtime/runtime.h"

namespace perdure {

// What is made of the records, one after the other.
class JournalFold {
 public:
  virtual ~JournalFold() = default;
  // An error ends the scan. `bytes` are the record as stored.
  virtual Result<> add(Seq seq, std::string_view bytes) = 0;
  // False: seen enough, or nobody waits for it any more.
  virtual bool wants_more() const { return true; }
};

using OnScanned = std::move_only_function<void(Result<>)>;

struct JournalPart {
  Seq after = 0;
  Seq upto = 0;
};

// Gives the records behind `after`, up to `upto`, to the fold, which stays alive until `done` has
// run; the answer comes from the loop, never from inside the call. `damaged` when a record is
// missing or cannot be read.
void scan_journal(Runtime& runtime, SessionId session, JournalPart range,
                  std::shared_ptr<JournalFold> fold, OnScanned done);

}  // namespace perdure
