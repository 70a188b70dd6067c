// A stream of bytes between two simulated processes: cut into arbitrary pieces, delayed, or broken
// in the middle of a packet. Bytes sent before an end closes still arrive, as on a socket.
#pragma once

#include <memory>
#include <utility>

#include "env/link.h"
#include "sim/world/universe.h"

namespace perdure::sim {

struct LinkLives {
  LifePtr caller;
  LifePtr listener;
};

// The caller's end and the listener's. Each belongs to its process's life: the dead receive no
// events, and bytes that they send are dropped.
std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> make_link(Universe& universe,
                                                                  LinkLives lives);

}  // namespace perdure::sim
