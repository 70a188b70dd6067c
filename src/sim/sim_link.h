// A stream of bytes between two simulated processes: cut into pieces anywhere, delayed, broken in
// the middle of a packet. What was sent before an end closes still arrives, as on a socket.
#pragma once

#include <memory>
#include <utility>

#include "env/link.h"
#include "sim/universe.h"

namespace perdure::sim {

struct LinkLives {
  LifePtr caller;
  LifePtr listener;
};

// The caller's end, and the listener's. Each belongs to its process's life: nothing is told to the
// dead, and what the dead still send goes nowhere.
std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> make_link(Universe& universe,
                                                                  LinkLives lives);

}  // namespace perdure::sim
