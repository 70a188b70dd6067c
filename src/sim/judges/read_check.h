// At rest: compares the daemon's answers to read requests with the journal: the density of a
// timeline, the state at some record, the tokens, the session of a question, the transcript page by
// page.
#pragma once

#include <memory>

#include "daemon/runtime/reads/past.h"
#include "daemon/runtime/runtime.h"
#include "sim/judges/judge.h"
#include "sim/world/disk.h"
#include "sim/world/universe.h"

namespace perdure::sim {

class ReadCheck {
 public:
  ReadCheck(Universe& universe, Judge& judge, Disk& disk)
      : universe_(universe), judge_(judge), disk_(disk) {}

  // The runtime must outlive the answers, which come from its loop.
  void ask(Runtime& runtime);
  // All answers have come and were right.
  void check_answered();

 private:
  void ask_refs(Runtime& runtime, SessionId session);
  void ask_timeline(SessionId session);
  void ask_state(SessionId session, Seq seq);
  void check_timeline(SessionId session, const Timeline& timeline);
  void check_marks(SessionId session, const Timeline& timeline);
  void check_tokens(SessionId session);
  void check_view(Runtime& runtime, SessionId session);
  void check_transcript(Runtime& runtime, SessionId session);
  void check_long_timeline();
  std::vector<Record> records_to(SessionId session, Seq seq);
  State state_at(SessionId session, Seq seq);

  Universe& universe_;
  Judge& judge_;
  Disk& disk_;
  std::unique_ptr<KeptPast> past_;
  std::size_t open_ = 0;
};

}  // namespace perdure::sim
