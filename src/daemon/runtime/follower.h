// A read-only view of another daemon's session: its committed state, possibly with a short delay,
// and its readers here. It writes nothing and knows only what the journal contains.
#pragma once

#include <string>

#include "core/wire/journal/record.h"
#include "daemon/runtime/load.h"
#include "daemon/runtime/reads/readers.h"
#include "daemon/runtime/shared.h"

namespace perdure {

class SessionFollower {
 public:
  // `node` is the session's owner.
  SessionFollower(ActorShared& shared, SessionId session, const LoadedSession& loaded,
                  std::string node);

  // Reads what was committed since; false if nothing was. Does not notify the readers. not_found:
  // the session was deleted.
  Result<bool> catch_up();
  // Replaces its state and records: text was redacted.
  void read_anew(const LoadedSession& loaded);

  const State& state() const { return state_; }
  // As last recorded by its daemon. Only that daemon knows whether the link is up now.
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
