// Where an execution lives that is not a plain process of this machine. To LocalExecution it is a
// host with one process, so the same rules apply: started once, found again, silent is not dead,
// ended with proof.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "daemon/hosting/local_execution.h"
#include "env/host.h"
#include "env/process.h"

namespace perdure {

class Place : public Processes, public Host {
 public:
  // Why it could not be started, or why it ended, if that has its own code and message.
  const std::optional<Error>& cause() const { return cause_; }
  // Why its state is currently unknown; empty: it is known.
  const std::string& doubt() const { return doubt_; }
  // Adapts an execution's settings to this place.
  virtual void adjust(LocalSetting& setting) const { setting.when_unknown = WhenUnknown::wait; }

  // A place has no processes except its agentctl, so these do nothing.
  std::size_t kill_descendants() override { return 0; }
  ProcessSet offspring(const Family&) override { return {}; }
  ProcessSet signal_each(const ProcessSet&, int) override { return {}; }

 protected:
  std::optional<Error> cause_;
  std::string doubt_;
};

}  // namespace perdure
