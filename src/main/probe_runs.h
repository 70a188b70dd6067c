// Probes of agents that are under way, each in a process of its own, and the reports of those that
// are done: one file an agent in the data folder, so that every life of the daemon knows them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "agents/probe_report.h"
#include "api/world.h"
#include "base/result.h"
#include "env/env.h"
#include "env/process.h"

namespace perdure {

// By agent. A file that cannot be read as a report is passed over.
std::map<std::string, ProbeReport> read_probe_reports(const std::string& folder);

class ProbeRuns {
 public:
  struct Ports {
    Loop& loop;
    Processes& processes;
  };
  struct Setting {
    std::string folder;                    // of the reports
    std::vector<std::string> command;      // of the program that probes
    std::vector<std::string> environment;  // of that program, not of the agent
  };
  ProbeRuns(Ports ports, Setting setting);
  ~ProbeRuns();

  // conflict: this agent is being probed; limit_reached: too many others are.
  Result<> start(const ProbeOrder& order);
  ApiWorld::Probed so_far(std::string_view agent) const;

 private:
  class Run;

  Ports ports_;
  Setting setting_;
  std::map<std::string, std::unique_ptr<Run>, std::less<>> runs_;  // also the last one that ended
  std::map<std::string, ProbeReport, std::less<>> reports_;
};

}  // namespace perdure
