// What simulated agents do, drawn from the seed: the switches of a test agent at its start, and the
// script in a prompt's last line. Healed agents behave well.
#pragma once

#include <string>

#include "sim/universe.h"
#include "testing/test_agent_switches.h"

namespace perdure::sim {

// What an installation of an agent can do, the same for all its lives in one session.
testagent::Switches draw_abilities(Prng& prng);

struct DrawnSwitches {
  testagent::Switches switches;
  bool behaves = true;   // in every respect
  bool lossless = true;  // everything it means to say arrives on its stdout, once and in order
  std::string text;
};
DrawnSwitches draw_switches(Universe& universe, const testagent::Switches& abilities);

// The verbs of one prompt.
std::string draw_script(Universe& universe);

}  // namespace perdure::sim
