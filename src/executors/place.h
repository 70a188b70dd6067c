// Where an execution lives that is no plain process of this machine. To LocalExecution it is a host
// with one process, so that the rules of its life hold there too: started once, found again, silent
// is not dead, ended with proof.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "env/host.h"
#include "env/process.h"
#include "executors/local_execution.h"

namespace perdure {

class Place : public Processes, public Host {
 public:
  // Why it could not be started, or ended, where that has a code and words of its own.
  const std::optional<Error>& cause() const { return cause_; }
  // Why nothing is known of it now; empty: something is.
  const std::string& doubt() const { return doubt_; }
  // What of an execution's setting is another here.
  virtual void adjust(LocalSetting& setting) const { setting.when_unknown = WhenUnknown::wait; }

  // An agentctl is all that a place has: these are not asked.
  std::size_t kill_descendants() override { return 0; }
  ProcessSet offspring(const Family&) override { return {}; }
  ProcessSet signal_each(const ProcessSet&, int) override { return {}; }

 protected:
  std::optional<Error> cause_;
  std::string doubt_;
};

}  // namespace perdure
