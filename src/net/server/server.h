// The server side of HTTP/1.1: receives requests and sends answers, streams and WebSockets. It
// knows no routes or sessions. Every call and callback is on the thread that runs the HttpIo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "net/io.h"
#include "net/message.h"

namespace perdure {

// An answer of unknown length: SSE, NDJSON, a large download. Writes are queued and sent in order;
// the writer checks unsent_bytes() and waits for on_drained before it continues. Releasing the last
// pointer closes the connection.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // Many streams may share the bytes. Ignored after the stream is closed. One write may be longer
  // than stream_unsent_bytes_max if nothing else is unsent.
  virtual void write(std::shared_ptr<const std::string> bytes) = 0;
  // As on the wire: includes head and framing.
  virtual std::size_t unsent_bytes() const = 0;
  // Ends a complete answer, after which the connection can be reused. This is the last call: no
  // event follows, and the pointer may be released.
  virtual void finish() = 0;
};

// Called from the loop, never from within a call.
class HttpStreamEvents {
 public:
  virtual ~HttpStreamEvents() = default;
  // unsent_bytes() is 0 again; called for the first time when the head has been sent.
  virtual void on_drained() = 0;
  virtual void on_closed() = 0;  // the last call: the peer is gone or did not read
};

// Releasing the last pointer closes the connection, and no event follows.
class WebSocket {
 public:
  virtual ~WebSocket() = default;
  virtual void send_text(std::shared_ptr<const std::string> text) = 0;
  virtual void send_binary(std::shared_ptr<const std::string> bytes) = 0;
  virtual std::size_t unsent_bytes() const = 0;
  // on_closed follows.
  virtual void close(std::uint16_t code, std::string_view reason) = 0;
};

class WebSocketEvents {
 public:
  virtual ~WebSocketEvents() = default;
  virtual void on_open() = 0;
  virtual void on_text(std::string_view text) = 0;
  virtual void on_binary(std::string_view bytes) = 0;
  virtual void on_drained() = 0;
  virtual void on_closed(std::uint16_t code, const std::string& reason) = 0;  // the last call
};

struct WebSocketLimits {
  std::size_t message_bytes_max = 1UL << 20;
  std::string subprotocol;  // chosen from those that the client offered; empty: none
};

// One request that waits for its answer. Call exactly one of the three, once, now or later. If it
// is destroyed without any, the client gets 500.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual void respond(HttpResponse response) = 0;
  // `head.body` is ignored. The events must outlive the stream.
  virtual std::shared_ptr<HttpStream> stream(HttpResponse head, HttpStreamEvents& events) = 0;
  // The events must outlive the socket. A request that does not want a WebSocket gets 426; the
  // returned socket is already closed, and on_closed follows.
  virtual std::shared_ptr<WebSocket> upgrade(const WebSocketLimits& limits,
                                             WebSocketEvents& events) = 0;
  // The client has stopped sending, probably because it disconnected: no answer would arrive.
  virtual bool is_gone() const = 0;
};

struct HttpAdmission {
  std::optional<HttpResponse> refuse;       // sent instead of reading the body; the connection ends
  std::size_t body_bytes_max = 16UL << 20;  // a longer body: 413
  std::int64_t refuse_after_ms = 0;         // how long the refusal is delayed
  bool is_known = false;                    // has valid credentials: no longer a stranger
  std::string credential = {};  // their name, for which connections are limited; empty: unlimited
};

// A HEAD request is passed on as GET; its answer is sent without the body.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // A new connection, probably still waiting. The kernel's facts about its process can be read
  // through the descriptor and stored in the peer. On a unix socket the result is the session of a
  // caller inside one, with which it shares places; empty: the owner, who may use all places.
  virtual std::string on_accept(int /*descriptor*/, HttpPeer& /*peer*/) { return {}; }
  // The head has arrived, the body has not.
  virtual HttpAdmission on_head(const HttpRequest& head) = 0;
  virtual void on_request(HttpRequest request, std::shared_ptr<HttpExchange> exchange) = 0;
};

struct HttpServerLimits {
  std::size_t head_bytes_max = 16UL << 10;  // more: 431
  std::size_t connections_max = perdure::connections_max;
  // The part of connections_max that is reserved for the owner at the unix socket.
  std::size_t unix_reserved = connections_unix_reserved;
  std::size_t insiders_max = http_insiders_max;
  std::size_t insiders_per_session_max = http_insiders_per_session_max;
  std::size_t per_credential_max = connections_per_credential_max;
  std::size_t strangers_max = http_strangers_max;
  std::size_t strangers_per_source_max = http_strangers_per_source_max;
  std::int64_t stranger_ms = http_stranger_ms;
  std::int64_t handshake_ms = 10'000;  // limit for the TLS handshake
  std::int64_t head_ms = 10'000;       // limit for a whole head, after its first byte
  std::int64_t body_ms = 60'000;       // without a byte of the body: 408
  std::int64_t body_grace_ms = http_body_grace_ms;
  std::size_t body_bytes_per_second_min = http_body_bytes_per_second_min;
  std::int64_t body_total_ms = http_body_total_ms;
  std::int64_t idle_ms = 75'000;                    // limit between two requests
  std::int64_t write_ms = 30'000;                   // without a byte taken by the peer: disconnect
  std::size_t stream_unsent_bytes_max = 4UL << 20;  // more disconnects the stream (STREAM4)
};

struct TlsFiles {
  std::string certificate;  // PEM, the chain
  std::string key;
};

class KeptListeners;

class HttpServer {
 public:
  // The io, the handler and `kept` must outlive it. Destroying it closes every connection at once;
  // exchanges, streams and sockets that still exist then have no effect, and no event follows. With
  // `kept` the addresses stay taken after its end.
  static std::unique_ptr<HttpServer> create(HttpIo& io, HttpHandler& handler,
                                            HttpServerLimits limits = {},
                                            KeptListeners* kept = nullptr);
  virtual ~HttpServer() = default;

  struct TcpAddress {
    std::string host;        // a numeric address
    std::uint16_t port = 0;  // 0: any free one
  };
  // Returns the port. `unavailable` names the address if it is taken.
  virtual Result<std::uint16_t> listen_tcp(const TcpAddress& address,
                                           const std::optional<TlsFiles>& tls) = 0;
  // Listens on `folder/name`, bound through the folder's descriptor, mode 0600. Replaces an
  // existing socket file, so the caller must hold the lock of the data folder.
  virtual Result<> listen_unix(const std::string& folder, const std::string& name) = 0;
  // Accepts no new connection and closes idle ones; open answers and streams continue.
  virtual void stop_accepting() = 0;
  virtual std::size_t connections() const = 0;
};

}  // namespace perdure
