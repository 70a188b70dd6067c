// Running probes of agents, each in its own process, and the reports of finished ones: one file per
// agent in the data folder, so that they outlive the daemon.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/agents/probe_report.h"
#include "daemon/api/world.h"
#include "env/env.h"
#include "env/process.h"

namespace perdure {

// By agent. Files that cannot be read as reports are skipped.
std::map<std::string, ProbeReport> read_probe_reports(const std::string& folder);

class ProbeRuns {
 public:
  struct Ports {
    Loop& loop;
    Processes& processes;
  };
  struct Setting {
    std::string folder;                    // where the reports are
    std::vector<std::string> command;      // the probing program
    std::vector<std::string> environment;  // for that program, not for the agent
  };
  ProbeRuns(Ports ports, Setting setting);
  ~ProbeRuns();

  // conflict: this agent is already being probed; limit_reached: too many others are.
  Result<> start(const ProbeOrder& order);
  ApiWorld::Probed so_far(std::string_view agent) const;

 private:
  class Run;

  Ports ports_;
  Setting setting_;
  std::map<std::string, std::unique_ptr<Run>, std::less<>> runs_;  // the current or last run
  std::map<std::string, ProbeReport, std::less<>> reports_;
};

}  // namespace perdure
