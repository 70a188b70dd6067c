// Hides Asio from the rest of net/: descriptors that report when they are ready, tasks and timers.
// Each wait is for one event, and no event follows after the waiting object is destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/env.h"
#include "net/io.h"
#include "net/socket.h"

namespace perdure {

class DescriptorEvents {
 public:
  virtual ~DescriptorEvents() = default;
  virtual void on_readable() = 0;
  virtual void on_writable() = 0;
};

// Owns a descriptor. Destroying it closes it, even within an event; no event follows.
class Descriptor {
 public:
  virtual ~Descriptor() = default;
  virtual int get() const = 0;
  // One event follows; another call before it has no effect. An error counts as ready.
  virtual void wait_readable() = 0;
  virtual void wait_writable() = 0;
};

class HttpReactor : public Loop {
 public:
  // The socket must be non-blocking. The events must outlive the descriptor.
  virtual std::unique_ptr<Descriptor> adopt(Socket socket, DescriptorEvents& events) = 0;
  // Resolves a name to addresses, in the order to be tried. A lookup cannot be cancelled: `done` is
  // always called.
  virtual void resolve(const std::string& host, std::uint16_t port,
                       std::move_only_function<void(Result<std::vector<SocketAddress>>)> done) = 0;
  // A shared buffer for reading; its content lasts until the event's callback returns.
  virtual std::span<char> read_buffer() = 0;
  // The time of the clock that timers use.
  virtual std::int64_t now_ms() const = 0;
  // boost::asio::io_context, for the one file that gives it to Beast.
  virtual void* context() = 0;
};

HttpReactor& reactor_of(HttpIo& io);

}  // namespace perdure
