// Placeholder until Beast is wired in: a handshake is refused.
#include "http/websocket_session.h"

namespace perdure {
namespace {
class ClosedWebSocket final : public WebSocket {
 public:
  void send_text(std::shared_ptr<const std::string> /*text*/) override {}
  void send_binary(std::shared_ptr<const std::string> /*bytes*/) override {}
  std::size_t unsent_bytes() const override { return 0; }
  void close(std::uint16_t /*code*/, std::string_view /*reason*/) override {}
};
}  // namespace

std::shared_ptr<WebSocketSession> accept_websocket(HttpReactor& reactor, WebSocketSetup setup,
                                                   const HttpRequest& /*request*/,
                                                   WebSocketEvents& events) {
  if (setup.stream) setup.stream->close();
  reactor.post([&events, gone = std::move(setup.on_gone)]() mutable {
    events.on_closed(1006, "no WebSocket yet");
    if (gone) gone();
  });
  return nullptr;
}
std::shared_ptr<WebSocket> hold_websocket(std::shared_ptr<WebSocketSession> /*session*/) {
  return closed_websocket();
}
std::shared_ptr<WebSocket> closed_websocket() { return std::make_shared<ClosedWebSocket>(); }
}  // namespace perdure
