// WebSockets of both sides on Beast, in the only file that includes its websocket headers. Beast
// sees a stream over a ByteStream; reads, writes and timers all run on the one context.
#include <deque>
#include <utility>
#include <vector>

#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "base/text.h"
#include "net/client.h"
#include "net/connect.h"
#include "net/websocket/letters.h"
#include "net/websocket/websocket_port.h"
#include "net/websocket/websocket_session.h"

namespace perdure {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using boost::system::error_code;

constexpr std::uint16_t code_none = 1005;
constexpr std::uint16_t code_abnormal = 1006;
constexpr std::uint16_t code_too_big = 1009;
constexpr std::uint16_t code_internal = 1011;
constexpr std::uint16_t code_try_later = 1013;
constexpr auto handshake_timeout = std::chrono::seconds(10);
// After half of it without a byte the peer is pinged, after all of it disconnected.
constexpr auto idle_timeout = std::chrono::seconds(30);
// A larger read buffer is released after its message was delivered.
constexpr std::size_t buffer_bytes_kept = 4UL << 10;

// Adapts Beast's handlers to the callbacks of a port.
template <class Handler>
WebSocketPort::Done told_as_asio(Handler handler) {
  using Outcome = WebSocketPort::Outcome;
  return [handler = std::move(handler)](Outcome outcome, std::size_t bytes) mutable {
    error_code error;
    if (outcome == Outcome::ended) error = asio::error::eof;
    if (outcome == Outcome::aborted) error = asio::error::operation_aborted;
    std::move(handler)(error, bytes);
  };
}

struct InitiateRead {
  std::shared_ptr<WebSocketPort> port;
  template <class Handler, class Buffers>
  void operator()(Handler handler, const Buffers& buffers) const {
    std::span<char> into;
    for (auto each = asio::buffer_sequence_begin(buffers);
         each != asio::buffer_sequence_end(buffers) && into.empty(); ++each) {
      const asio::mutable_buffer part(*each);
      into = {static_cast<char*>(part.data()), part.size()};
    }
    port->read(into, told_as_asio(std::move(handler)));
  }
};

struct InitiateWrite {
  std::shared_ptr<WebSocketPort> port;
  template <class Handler, class Buffers>
  void operator()(Handler handler, const Buffers& buffers) const {
    std::vector<std::string_view> parts;
    for (auto each = asio::buffer_sequence_begin(buffers);
         each != asio::buffer_sequence_end(buffers); ++each) {
      const asio::const_buffer part(*each);
      if (part.size() > 0) parts.emplace_back(static_cast<const char*>(part.data()), part.size());
    }
    port->write(std::move(parts), told_as_asio(std::move(handler)));
  }
};

// The shape of Asio's AsyncReadStream and AsyncWriteStream.
class BeastStream {
 public:
  using executor_type = asio::io_context::executor_type;

  BeastStream(asio::io_context& context, std::shared_ptr<WebSocketPort> port)
      : executor_(context.get_executor()), port_(std::move(port)) {}
  executor_type get_executor() const noexcept { return executor_; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(InitiateRead{port_}, token,
                                                                      buffers);
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(InitiateWrite{port_}, token,
                                                                      buffers);
  }
  WebSocketPort& port() { return *port_; }

 private:
  executor_type executor_;
  std::shared_ptr<WebSocketPort> port_;
};

// Beast calls this in place of closing a socket.
void beast_close_socket(BeastStream& stream) { stream.port().close(); }

template <class Handler>
void async_teardown(beast::role_type /*role*/, BeastStream& stream, Handler&& handler) {
  stream.port().close();
  asio::post(stream.get_executor(),
             beast::bind_front_handler(std::forward<Handler>(handler), error_code()));
}

asio::io_context& context_of(HttpReactor& reactor) {
  return *static_cast<asio::io_context*>(reactor.context());
}

class Session final : public WebSocketSession, public std::enable_shared_from_this<Session> {
 public:
  Session(HttpReactor& reactor, WebSocketSetup setup, WebSocketEvents& events)
      : reactor_(reactor),
        port_(std::make_shared<WebSocketPort>(reactor)),
        socket_(context_of(reactor), port_),
        unsent_bytes_max_(setup.unsent_bytes_max),
        close_ms_(setup.close_ms),
        events_(&events),
        subprotocol_(setup.limits.subprotocol),
        on_gone_(std::move(setup.on_gone)) {
    socket_.read_message_max(setup.limits.message_bytes_max);
    socket_.set_option(websocket::stream_base::timeout{.handshake_timeout = handshake_timeout,
                                                       .idle_timeout = idle_timeout,
                                                       .keep_alive_pings = true});
    socket_.write_buffer_bytes(1024);
    if (setup.stream) port_->attach(std::move(setup.stream), std::move(setup.early_bytes));
  }

  void accept(const HttpRequest& request);
  void connect(const HttpEndpoint& to, const HttpRequest& request, std::int64_t connect_ms);

  void send_text(std::shared_ptr<const std::string> text) override {
    // Invalid UTF-8 from an agent or file must not make the daemon fail.
    if (!is_utf8(*text)) return close(code_internal, "a text is not UTF-8");
    send({std::move(text), Kind::text});
  }
  void send_binary(std::shared_ptr<const std::string> bytes) override {
    send({std::move(bytes), Kind::binary});
  }
  std::size_t unsent_bytes() const override { return unsent_bytes_; }
  void close(std::uint16_t code, std::string_view reason) override;
  void abort() override;
  void end(std::uint16_t code, std::string reason) override;
  // The user's pointer was destroyed: a close in progress continues, anything else ends.
  void let_go();

 private:
  enum class Kind { text, binary };
  struct Message {
    std::shared_ptr<const std::string> bytes;
    Kind kind;
  };

  void send(Message message);
  void on_handshake(const error_code& error);
  void read();
  void on_read(const error_code& error);
  void write_next();
  void on_written(const error_code& error);
  void close_now();
  void fail(const error_code& error);

  HttpReactor& reactor_;
  std::shared_ptr<WebSocketPort> port_;
  websocket::stream<BeastStream, false> socket_;
  websocket::response_type answer_;  // the answer to our own handshake
  std::unique_ptr<Connecting> connecting_;
  Loop::TimerId timer_ = 0;  // limits connecting, later closing
  beast::flat_buffer buffer_;
  std::deque<Message> queue_;
  std::size_t unsent_bytes_ = 0;
  std::size_t unsent_bytes_max_;
  std::int64_t close_ms_;
  WebSocketEvents* events_;  // null after the end, or without a holder
  std::string subprotocol_;
  std::move_only_function<void()> on_gone_;
  std::uint16_t close_code_ = 0;  // ours, once we are closing
  std::string close_reason_;
  bool is_open_ = false;
  bool is_writing_ = false;
  bool is_closing_ = false;
  bool is_over_ = false;
};

// Whether the client offered it.
bool offers(const HttpRequest& request, std::string_view subprotocol) {
  return std::ranges::any_of(request.headers, [&](const HttpHeader& header) {
    return equal_ignoring_case(header.name, "Sec-WebSocket-Protocol") &&
           list_has(header.value, subprotocol);
  });
}

void Session::accept(const HttpRequest& request) {
  websocket::request_type handshake;
  handshake.method_string(request.method);
  handshake.target(request.target);
  handshake.version(11);
  for (const HttpHeader& header : request.headers) handshake.insert(header.name, header.value);
  if (!subprotocol_.empty() && offers(request, subprotocol_)) {
    socket_.set_option(websocket::stream_base::decorator(
        [chosen = subprotocol_](websocket::response_type& response) {
          response.set(beast::http::field::sec_websocket_protocol, chosen);
        }));
  }
  socket_.async_accept(handshake, [self = shared_from_this()](const error_code& error) {
    self->on_handshake(error);
  });
}

void Session::connect(const HttpEndpoint& to, const HttpRequest& request, std::int64_t connect_ms) {
  socket_.set_option(websocket::stream_base::decorator(
      [headers = request.headers, chosen = subprotocol_](websocket::request_type& handshake) {
        for (const HttpHeader& header : headers) handshake.set(header.name, header.value);
        if (!chosen.empty()) handshake.set(beast::http::field::sec_websocket_protocol, chosen);
      }));
  timer_ = reactor_.after_ms(connect_ms, [this] {
    timer_ = 0;
    end(code_abnormal, "no connection in time");
  });
  connecting_ = connect_to(
      reactor_, to, [this, host = host_header(to), target = request.target](auto connected) {
        const auto self = shared_from_this();
        reactor_.cancel(std::exchange(timer_, 0));
        if (!connected) return end(code_abnormal, connected.error().message());
        port_->attach(std::move(*connected), {});
        socket_.async_handshake(answer_, host, target,
                                [self](const error_code& error) { self->on_handshake(error); });
      });
}

void Session::on_handshake(const error_code& error) {
  if (is_over_) return;
  if (error == websocket::error::upgrade_declined) {
    const auto status = static_cast<unsigned>(answer_.result_int());
    return end(code_abnormal, "the handshake was answered with " + std::to_string(status));
  }
  if (error) return fail(error);
  is_open_ = true;
  if (events_ != nullptr) events_->on_open();
  if (is_over_) return;
  read();
  if (!is_writing_) write_next();
}

void Session::read() {
  socket_.async_read(buffer_, [self = shared_from_this()](const error_code& error, std::size_t) {
    self->on_read(error);
  });
}

void Session::on_read(const error_code& error) {
  if (is_over_) return;
  if (error) return fail(error);
  const std::string_view message(static_cast<const char*>(buffer_.data().data()), buffer_.size());
  if (events_ != nullptr && !is_closing_) {
    if (socket_.got_text()) {
      events_->on_text(message);
    } else {
      events_->on_binary(message);
    }
  }
  buffer_.consume(buffer_.size());
  if (buffer_.capacity() > buffer_bytes_kept) buffer_.shrink_to_fit();
  if (!is_over_) read();
}

void Session::send(Message message) {
  if (is_over_ || is_closing_) return;
  if (!queue_.empty() && unsent_bytes_ + message.bytes->size() > unsent_bytes_max_) {
    is_closing_ = true;  // no more messages are taken
    reactor_.post([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self) self->end(code_try_later, "the peer does not read");
    });
    return;
  }
  unsent_bytes_ += message.bytes->size();
  queue_.push_back(std::move(message));
  if (is_open_ && !is_writing_) write_next();
}

void Session::write_next() {
  if (queue_.empty()) {
    if (is_closing_) close_now();
    return;
  }
  is_writing_ = true;
  const Message& message = queue_.front();
  socket_.text(message.kind == Kind::text);
  socket_.async_write(asio::buffer(*message.bytes),
                      [self = shared_from_this(), held = message.bytes](
                          const error_code& error, std::size_t) { self->on_written(error); });
}

void Session::on_written(const error_code& error) {
  is_writing_ = false;
  if (is_over_) return;
  if (error) return fail(error);
  unsent_bytes_ -= queue_.front().bytes->size();
  queue_.pop_front();
  if (queue_.empty() && events_ != nullptr && !is_closing_) events_->on_drained();
  if (!is_over_ && !is_writing_) write_next();
}

void Session::close(std::uint16_t code, std::string_view reason) {
  if (is_over_ || is_closing_) return;
  is_closing_ = true;
  // A close frame holds at most 123 bytes.
  close_code_ = code;
  close_reason_ = utf8_prefix(reason, 123);
  reactor_.cancel(timer_);
  // Also needed if the peer breaks the protocol now: Beast's read and close would then wait for
  // each other.
  timer_ = reactor_.after_ms(close_ms_, [this] { end(close_code_, close_reason_); });
  if (!is_open_) {
    reactor_.post(
        [self = shared_from_this()] { self->end(self->close_code_, self->close_reason_); });
  } else if (!is_writing_) {
    close_now();
  }
}

void Session::close_now() {
  is_writing_ = true;
  websocket::close_reason told;
  told.code = close_code_;
  told.reason.assign(close_reason_.data(), close_reason_.size());
  socket_.async_close(told, [self = shared_from_this()](const error_code&) {
    self->end(self->close_code_, self->close_reason_);
  });
}

void Session::fail(const error_code& error) {
  if (error == websocket::error::closed) {
    const websocket::close_reason& told = socket_.reason();
    const bool is_empty = told.code == websocket::close_code::none;
    return end(is_empty ? code_none : told.code, {told.reason.data(), told.reason.size()});
  }
  if (close_code_ != 0) return end(close_code_, close_reason_);
  if (error == websocket::error::message_too_big) return end(code_too_big, error.message());
  const std::string trouble = port_->trouble();
  end(code_abnormal, trouble.empty() ? error.message() : trouble);
}

void Session::end(std::uint16_t code, std::string reason) {
  if (is_over_) return;
  const auto self = shared_from_this();
  WebSocketEvents* events = events_;
  abort();
  if (events != nullptr) events->on_closed(code, reason);
}

void Session::abort() {
  if (std::exchange(is_over_, true)) return;
  const auto self = shared_from_this();
  events_ = nullptr;
  queue_.clear();
  unsent_bytes_ = 0;
  reactor_.cancel(std::exchange(timer_, 0));
  connecting_.reset();
  port_->close();
  if (auto gone = std::exchange(on_gone_, nullptr)) gone();
}

void Session::let_go() {
  events_ = nullptr;
  if (!is_closing_) abort();
}

class HeldWebSocket final : public WebSocket {
 public:
  explicit HeldWebSocket(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  ~HeldWebSocket() override {
    if (session_) session_->let_go();
  }

  void send_text(std::shared_ptr<const std::string> text) override {
    if (session_) session_->send_text(std::move(text));
  }
  void send_binary(std::shared_ptr<const std::string> bytes) override {
    if (session_) session_->send_binary(std::move(bytes));
  }
  std::size_t unsent_bytes() const override { return session_ ? session_->unsent_bytes() : 0; }
  void close(std::uint16_t code, std::string_view reason) override {
    if (session_) session_->close(code, reason);
  }

 private:
  std::shared_ptr<Session> session_;
};

}  // namespace

std::shared_ptr<WebSocketSession> accept_websocket(HttpReactor& reactor, WebSocketSetup setup,
                                                   const HttpRequest& request,
                                                   WebSocketEvents& events) {
  const auto session = std::make_shared<Session>(reactor, std::move(setup), events);
  session->accept(request);
  return session;
}

std::shared_ptr<WebSocket> hold_websocket(std::shared_ptr<WebSocketSession> session) {
  return std::make_shared<HeldWebSocket>(std::static_pointer_cast<Session>(std::move(session)));
}

std::shared_ptr<WebSocket> closed_websocket() { return std::make_shared<HeldWebSocket>(nullptr); }

std::shared_ptr<WebSocket> http_websocket(HttpIo& io, const HttpEndpoint& to, HttpRequest request,
                                          const WebSocketLimits& limits, WebSocketEvents& events) {
  WebSocketSetup setup{.limits = limits};
  const auto session = std::make_shared<Session>(reactor_of(io), std::move(setup), events);
  session->connect(to, request, HttpCallLimits{}.connect_ms);
  return std::make_shared<HeldWebSocket>(session);
}

}  // namespace perdure
