// WebSockets inside net/: how a connection becomes one. Only websocket.cc uses Beast itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/limits.h"
#include "net/byte_stream.h"
#include "net/message.h"
#include "net/reactor.h"
#include "net/server/server.h"

namespace perdure {

class WebSocketSession : public WebSocket {
 public:
  // Ends the connection; no event follows.
  virtual void abort() = 0;
  // The same, with an event.
  virtual void end(std::uint16_t code, std::string reason) = 0;
};

struct WebSocketSetup {
  WebSocketLimits limits;
  std::string early_bytes;             // received after the handshake's request
  std::shared_ptr<ByteStream> stream;  // null: closed already
  std::size_t unsent_bytes_max = 4UL << 20;
  // After we close: time to send the rest and for the peer to answer; then disconnect.
  std::int64_t close_ms = websocket_close_ms;
  std::move_only_function<void()> on_gone;  // the connection is closed
};

// Answers the handshake (400 for a bad one) and continues. The events must outlive the session.
std::shared_ptr<WebSocketSession> accept_websocket(HttpReactor& reactor, WebSocketSetup setup,
                                                   const HttpRequest& request,
                                                   WebSocketEvents& events);

// The user's handle: destroying it abandons the session.
std::shared_ptr<WebSocket> hold_websocket(std::shared_ptr<WebSocketSession> session);
// A socket that never has an event.
std::shared_ptr<WebSocket> closed_websocket();

}  // namespace perdure
