// The connection between daemons: messages are delayed, wait while the receiver is stopped, and get
// lost, whether commands or answers.
#pragma once

#include <memory>
#include <string>

#include "daemon/runtime/runtime.h"
#include "sim/world/universe.h"

namespace perdure::sim {

class Daemons;

class SimPeers final : public Peers {
 public:
  SimPeers(Universe& universe, Daemons& daemons, LifePtr from)
      : universe_(universe), daemons_(daemons), from_(std::move(from)) {}
  void submit(const std::string& node, SessionId session, Request request, ReplyFn reply) override;

 private:
  struct Call;

  Universe& universe_;
  Daemons& daemons_;
  LifePtr from_;
};

}  // namespace perdure::sim
