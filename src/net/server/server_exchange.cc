#include "net/server/server_exchange.h"

#include <utility>

#include "base/check.h"
#include "net/server/answer_text.h"

namespace perdure {
namespace {

class ServerStream final : public HttpStream {
 public:
  explicit ServerStream(std::shared_ptr<Connection> connection)
      : connection_(std::move(connection)) {}
  ~ServerStream() override {
    if (!is_finished_) connection_->drop_stream();
  }

  void write(std::shared_ptr<const std::string> bytes) override {
    CHECK(!is_finished_);
    connection_->write(std::move(bytes));
  }
  std::size_t unsent_bytes() const override {
    return is_finished_ ? 0 : connection_->unsent_bytes();
  }
  void finish() override {
    CHECK(!is_finished_);
    is_finished_ = true;
    connection_->finish();
  }

 private:
  std::shared_ptr<Connection> connection_;
  bool is_finished_ = false;  // the connection may serve others by now
};

// The socket for a request that wants no WebSocket: closed from the start.
class RefusedSocket final : public WebSocket {
 public:
  explicit RefusedSocket(WebSocketEvents& events) : events_(&events) {}
  void send_text(std::shared_ptr<const std::string>) override {}
  void send_binary(std::shared_ptr<const std::string>) override {}
  std::size_t unsent_bytes() const override { return 0; }
  void close(std::uint16_t, std::string_view) override {}
  void report() { events_->on_closed(close_no_websocket, "the request wants no WebSocket"); }

 private:
  static constexpr std::uint16_t close_no_websocket = 1002;
  WebSocketEvents* events_;
};

class ServerExchange final : public HttpExchange {
 public:
  ServerExchange(std::shared_ptr<Connection> connection, const RequestHead& head)
      : connection_(std::move(connection)) {
    if (!head.request.wants_websocket) return;
    // Kept for a possible handshake.
    handshake_ = std::make_unique<HttpRequest>(head.request);
  }
  ~ServerExchange() override {
    if (connection_) respond(error_answer(500, Code::internal, "the request was not answered"));
  }

  void respond(HttpResponse response) override { take()->respond(std::move(response)); }

  std::shared_ptr<HttpStream> stream(HttpResponse head, HttpStreamEvents& events) override {
    auto connection = take();
    connection->begin_stream(std::move(head), events);
    return std::make_shared<ServerStream>(std::move(connection));
  }

  std::shared_ptr<WebSocket> upgrade(const WebSocketLimits& limits,
                                     WebSocketEvents& events) override {
    auto connection = take();
    if (handshake_) return connection->upgrade(*handshake_, limits, events);
    auto refused = std::make_shared<RefusedSocket>(events);
    connection->after_this_call([weak = std::weak_ptr(refused)] {
      if (const auto socket = weak.lock()) socket->report();
    });
    connection->respond(upgrade_required_answer());
    return refused;
  }

  bool is_gone() const override { return !connection_ || connection_->is_gone(); }

 private:
  std::shared_ptr<Connection> take() {
    CHECK(connection_ != nullptr, "the exchange was answered before");
    return std::move(connection_);
  }

  std::shared_ptr<Connection> connection_;  // null once answered
  std::unique_ptr<HttpRequest> handshake_;
};

}  // namespace

std::shared_ptr<HttpExchange> make_exchange(std::shared_ptr<Connection> connection,
                                            const RequestHead& head) {
  return std::make_shared<ServerExchange>(std::move(connection), head);
}

}  // namespace perdure
