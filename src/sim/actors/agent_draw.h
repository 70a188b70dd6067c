// The behaviour of simulated agents, drawn from the seed: a test agent's switches at its start, and
// the script in a prompt's last line. Healed agents behave well.
#pragma once

#include <string>

#include "sim/world/universe.h"
#include "testing/agent/test_agent_switches.h"

namespace perdure::sim {

// The abilities of an agent's installation, the same for all its lives in one session.
testagent::Switches draw_abilities(Prng& prng);

struct DrawnSwitches {
  testagent::Switches switches;
  bool behaves = true;   // in every respect
  bool lossless = true;  // everything it says arrives on its stdout, once and in order
  std::string text;
};
DrawnSwitches draw_switches(Universe& universe, const testagent::Switches& abilities);

// The verbs of one prompt.
std::string draw_script(Universe& universe);

}  // namespace perdure::sim
