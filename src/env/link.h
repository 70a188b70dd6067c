// A byte stream to a peer: a unix socket, TLS, or simulated. Each side owns its end.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perdure {

// Called on the loop, never within a call to the link.
class LinkEvents {
 public:
  virtual ~LinkEvents() = default;
  virtual void on_bytes(std::string_view bytes) = 0;
  // Everything queued before was passed to the kernel: there is room for more.
  virtual void on_drained() = 0;
  // The last call: the peer closed, or the link broke. Implies nothing about the peer's health.
  virtual void on_closed() = 0;
};

// Destroying it closes it; no event follows.
class Link {
 public:
  virtual ~Link() = default;
  // Call before anything is received. `events` outlives the link.
  virtual void set_events(LinkEvents& events) = 0;
  // Queues bytes; on_drained is called when all were sent. Dropped once the link is closed.
  virtual void send(std::string bytes) = 0;
  virtual std::size_t unsent_bytes() const = 0;
  // Stop and continue reading from the peer.
  virtual void pause() = 0;
  virtual void resume() = 0;
};

// Accepts links from peers.
class Listener {
 public:
  using OnLink = std::move_only_function<void(std::unique_ptr<Link>)>;
  virtual ~Listener() = default;  // stops listening and removes its name
};

}  // namespace perdure
