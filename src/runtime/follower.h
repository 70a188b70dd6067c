// A session of another daemon, read along: its committed state, a little behind at most, and those
// who read it here. Writes nothing and knows nothing that is not in the journal.
#pragma once

#include <string>

#include "runtime/load.h"
#include "runtime/readers.h"
#include "runtime/shared.h"
#include "wire/record.h"

namespace perdure {

class SessionFollower {
 public:
  // `node` is whose session it is.
  SessionFollower(ActorShared& shared, SessionId session, const LoadedSession& loaded,
                  std::string node);

  // Reads what was committed since; says whether there was anything. Its readers are not told yet.
  // not_found: the session was deleted.
  Result<bool> catch_up();
  // Takes this instead of what it has: text was taken back.
  void read_anew(const LoadedSession& loaded);

  const State& state() const { return state_; }
  // What its own daemon last recorded of the execution: whether the link stands now only that one
  // knows.
  Liveness liveness() const;
  const std::string& node() const { return node_; }
  void set_node(std::string node) { node_ = std::move(node); }
  Readers& readers() { return readers_; }

 private:
  ActorShared& shared_;
  SessionId session_;
  State state_;
  ChainVerifier chain_;
  std::string node_;
  Readers readers_;
};

}  // namespace perdure
