// A stream of bytes to a peer: a unix socket, TLS, or simulated. Each side owns its end.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perdure {

// Told on the loop, never from inside a call to the link.
class LinkEvents {
 public:
  virtual ~LinkEvents() = default;
  virtual void on_bytes(std::string_view bytes) = 0;
  // Everything queued before has been given to the kernel: there is room for more.
  virtual void on_drained() = 0;
  // The last call: the peer closed, or the link broke. Says nothing about the peer's health.
  virtual void on_closed() = 0;
};

// Destroying it closes it; no event comes afterwards.
class Link {
 public:
  virtual ~Link() = default;
  // Before anything is received. `events` outlives the link.
  virtual void set_events(LinkEvents& events) = 0;
  // Queues bytes; on_drained tells when all of it has left. Dropped once the link is closed.
  virtual void send(std::string bytes) = 0;
  virtual std::size_t unsent_bytes() const = 0;
  // Stops and goes on reading from the peer.
  virtual void pause() = 0;
  virtual void resume() = 0;
};

// Where peers call.
class Listener {
 public:
  using OnLink = std::move_only_function<void(std::unique_ptr<Link>)>;
  virtual ~Listener() = default;  // stops listening and takes its name away
};

}  // namespace perdure
