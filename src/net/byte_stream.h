// A connection as bytes in both directions, plain or encrypted. Reading is switched on and off, and
// a write takes what it can at once. Events come from the loop, never from within a call.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/reactor.h"
#include "net/socket.h"

namespace perdure {

class ByteStreamEvents {
 public:
  virtual ~ByteStreamEvents() = default;
  // Only while reading. The bytes are valid until the call returns.
  virtual void on_bytes(std::string_view bytes) = 0;
  // The peer sends no more. Called once; written bytes may still arrive.
  virtual void on_end() = 0;
  // After a write that took only a part of its bytes.
  virtual void on_writable() = 0;
  // The connection is closed. The last call.
  virtual void on_broken() = 0;
};

// Shared, so that it may be released within its own events.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Receives events; may be null. Must outlive the stream or be cleared first.
  virtual void set_events(ByteStreamEvents* events) = 0;
  virtual void start_reading() = 0;
  virtual void stop_reading() = 0;
  // `some` with the number of bytes taken, or `would_wait`: none, and on_writable follows.
  virtual Transferred write(std::span<const std::string_view> parts) = 0;
  // Ends our direction: the peer reads an end.
  virtual void end_writing() = 0;
  // Why it broke, if known.
  virtual std::string trouble() const { return {}; }
  // Immediate; no event follows.
  virtual void close() = 0;
};

std::shared_ptr<ByteStream> make_plain_stream(HttpReactor& reactor, Socket socket);

}  // namespace perdure
