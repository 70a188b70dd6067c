// WebSockets inside of http/: how a connection becomes one. Beast itself is in websocket.cc alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/limits.h"
#include "http/byte_stream.h"
#include "http/message.h"
#include "http/reactor.h"
#include "http/server.h"

namespace perdure {

class WebSocketSession : public WebSocket {
 public:
  // Ends the connection; no event follows.
  virtual void abort() = 0;
  // The same, and its events hear of it.
  virtual void end(std::uint16_t code, std::string reason) = 0;
};

struct WebSocketSetup {
  WebSocketLimits limits;
  std::string early_bytes;             // received behind the handshake's request
  std::shared_ptr<ByteStream> stream;  // null: closed already
  std::size_t unsent_bytes_max = 4UL << 20;
  // For what is unsent to leave and the peer to answer, once we close; then it is cut.
  std::int64_t close_ms = websocket_close_ms;
  std::move_only_function<void()> on_gone;  // the connection is closed
};

// Answers the handshake (400 for a bad one) and goes on from there. The events outlive the session.
std::shared_ptr<WebSocketSession> accept_websocket(HttpReactor& reactor, WebSocketSetup setup,
                                                   const HttpRequest& request,
                                                   WebSocketEvents& events);

// What a user holds: dropping it gives the session up.
std::shared_ptr<WebSocket> hold_websocket(std::shared_ptr<WebSocketSession> session);
// One of which nothing will ever be heard.
std::shared_ptr<WebSocket> closed_websocket();

}  // namespace perdure
