// A connection as bytes in both directions, plain or encrypted. Reading is switched on and off; a
// write takes what goes at once. Events come from the loop, never from inside a call.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "http/reactor.h"
#include "http/socket.h"

namespace perdure {

class ByteStreamEvents {
 public:
  virtual ~ByteStreamEvents() = default;
  // Only while reading. The bytes last until the call returns.
  virtual void on_bytes(std::string_view bytes) = 0;
  // The peer sends no more. Told once; what is written may still arrive.
  virtual void on_end() = 0;
  // After a write that took less than it was given.
  virtual void on_writable() = 0;
  // The connection is gone. The last call.
  virtual void on_broken() = 0;
};

// Shared, so that it may be dropped inside of its own events.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Who is told; null: nobody. They outlive the stream, or are taken off before they go.
  virtual void set_events(ByteStreamEvents* events) = 0;
  virtual void start_reading() = 0;
  virtual void stop_reading() = 0;
  // `some` with how many bytes were taken; `would_wait`: none, and on_writable follows.
  virtual Transferred write(std::span<const std::string_view> parts) = 0;
  // Tells the peer that nothing more will be written.
  virtual void end_writing() = 0;
  // Why it broke, where that is known.
  virtual std::string trouble() const { return {}; }
  // At once; no event follows.
  virtual void close() = 0;
};

std::shared_ptr<ByteStream> make_plain_stream(HttpReactor& reactor, Socket socket);

}  // namespace perdure
