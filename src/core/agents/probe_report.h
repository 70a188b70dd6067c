// The input and output of a probe of an agent: the order that the daemon passes to the probing
// program, and the report that is stored and shown.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "core/agents/definition.h"

namespace perdure {

inline constexpr std::int64_t probe_version = 1;  // of order and report

struct ProbeOrder {
  std::int64_t v = probe_version;
  std::string agent;
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  // complete
  std::int64_t start_ms = 0;                       // until the agent's first answer
  std::string hide;                                // a folder hidden from it; empty: none
  std::string hide_identity;                       // as in core/wire/agentctl/hidden_folders.h
  AgentQuirks quirks;
  FIELDS {
    visit("v", self.v);
    visit("agent", self.agent);
    visit("command", self.command);
    visit("environment", self.environment);
    visit("start_ms", self.start_ms);
    visit("hide", self.hide);
    visit("hide_identity", self.hide_identity);
    visit("quirks", self.quirks);
  }
};

enum class ProbeOutcome {
  yes,      // as expected
  partly,   // it works, with a drawback that `says` names
  no,       // it does not support that
  failed,   // an error, or no answer in time
  skipped,  // a prerequisite did not work
};
ENUM_TEXT(ProbeOutcome, "yes", "partly", "no", "failed", "skipped");

struct ProbeStep {
  std::string name;  // initialize, new, prompt, permission, cancel, kill, resume, load, …
  ProbeOutcome outcome = ProbeOutcome::skipped;
  std::int64_t ms = 0;
  std::string says;  // one line for a person
  bool operator==(const ProbeStep&) const = default;
  FIELDS {
    visit("name", self.name);
    visit("outcome", self.outcome);
    visit("ms", self.ms);
    visit("says", self.says);
  }
};

struct ProbeReport {
  std::int64_t v = probe_version;
  std::string agent;
  Timestamp at;                 // when it began
  std::string program;          // its own name
  std::string program_version;  // the same
  std::int64_t protocol_version = 0;
  std::vector<std::string> advertised;  // session/… calls that it claims to support
  std::vector<std::string> abilities;   // those that were observed to keep its context
  std::string rung;                     // the best way to restore: resume, load or inject
  std::vector<ProbeStep> steps;
  bool operator==(const ProbeReport&) const = default;
  FIELDS {
    visit("v", self.v);
    visit("agent", self.agent);
    visit("at", self.at);
    visit("program", self.program);
    visit("program_version", self.program_version);
    visit("protocol_version", self.protocol_version);
    visit("advertised", self.advertised);
    visit("abilities", self.abilities);
    visit("rung", self.rung);
    visit("steps", self.steps);
  }
};

}  // namespace perdure
