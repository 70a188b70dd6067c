// The server side of HTTP/1.1: requests in, answers, streams and WebSockets out. It knows no route
// and no session. Every call and callback is on the one thread that runs the HttpIo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "http/io.h"
#include "http/message.h"

namespace perdure {

// An answer without end: SSE, NDJSON, a large download. Writes are queued and leave in order; the
// writer looks at unsent_bytes() and waits for on_drained before it goes on. Dropping the last
// pointer closes the connection.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // The bytes may be shared by many streams. Dropped once the stream is closed. One write may be
  // longer than stream_unsent_bytes_max if nothing else is unsent.
  virtual void write(std::shared_ptr<const std::string> bytes) = 0;
  // As they go over the wire: head and framing are counted, too.
  virtual std::size_t unsent_bytes() const = 0;
  // A whole answer: its end is marked, and the connection can be used again. The last call: no
  // event follows, and the pointer may be dropped.
  virtual void finish() = 0;
};

// Told from the loop, never from inside a call.
class HttpStreamEvents {
 public:
  virtual ~HttpStreamEvents() = default;
  // unsent_bytes() is 0 again; the first time when the head has left.
  virtual void on_drained() = 0;
  virtual void on_closed() = 0;  // the last call: the peer is gone, or did not read for too long
};

// Dropping the last pointer closes the connection, and no event follows.
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

// One request that waits for its answer. Exactly one of the three is called, once, now or later.
// Dropped without any, the client gets 500.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual void respond(HttpResponse response) = 0;
  // `head.body` is ignored. The events outlive the stream.
  virtual std::shared_ptr<HttpStream> stream(HttpResponse head, HttpStreamEvents& events) = 0;
  // The events outlive the socket. A request that does not want a WebSocket gets 426; the socket is
  // then closed from the start, and on_closed follows.
  virtual std::shared_ptr<WebSocket> upgrade(const WebSocketLimits& limits,
                                             WebSocketEvents& events) = 0;
  // The client sends no more, most likely since it has hung up: an answer would go nowhere then.
  virtual bool is_gone() const = 0;
};

struct HttpAdmission {
  std::optional<HttpResponse> refuse;       // sent instead of reading the body; the connection ends
  std::size_t body_bytes_max = 16UL << 20;  // a longer body: 413
  std::int64_t refuse_after_ms = 0;         // how long the refusal is held back
  bool is_known = false;        // with credentials that are good: the connection is no stranger's
  std::string credential = {};  // their name, which has so many connections; empty: any number
};

// A request by HEAD comes as GET; what is answered is sent without its body.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // Somebody has connected, and most likely still waits: what the kernel tells of it can be asked
  // with the descriptor, and noted in the peer. On a unix socket the result names an insider: the
  // session that shares its places. Empty: the owner, who has all places.
  virtual std::string on_accept(int /*descriptor*/, HttpPeer& /*peer*/) { return {}; }
  // The head is there, the body not yet.
  virtual HttpAdmission on_head(const HttpRequest& head) = 0;
  virtual void on_request(HttpRequest request, std::shared_ptr<HttpExchange> exchange) = 0;
};

struct HttpServerLimits {
  std::size_t head_bytes_max = 16UL << 10;  // more: 431
  std::size_t connections_max = perdure::connections_max;
  // Of connections_max, for the owner at the unix socket.
  std::size_t unix_reserved = connections_unix_reserved;
  std::size_t insiders_max = http_insiders_max;
  std::size_t insiders_per_session_max = http_insiders_per_session_max;
  std::size_t per_credential_max = connections_per_credential_max;
  std::size_t strangers_max = http_strangers_max;
  std::size_t strangers_per_source_max = http_strangers_per_source_max;
  std::int64_t stranger_ms = http_stranger_ms;
  std::int64_t handshake_ms = 10'000;  // for TLS to be agreed on; then the connection ends
  std::int64_t head_ms = 10'000;       // for a whole head, once its first byte is there
  std::int64_t body_ms = 60'000;       // without a byte of the body: 408
  std::int64_t body_grace_ms = http_body_grace_ms;
  std::size_t body_bytes_per_second_min = http_body_bytes_per_second_min;
  std::int64_t body_total_ms = http_body_total_ms;
  std::int64_t idle_ms = 75'000;                    // between two requests
  std::int64_t write_ms = 30'000;                   // without a byte taken by the peer: cut
  std::size_t stream_unsent_bytes_max = 4UL << 20;  // beyond it the stream is cut (STREAM4)
};

struct TlsFiles {
  std::string certificate;  // PEM, the chain
  std::string key;
};

class KeptListeners;

class HttpServer {
 public:
  // The io, the handler and `kept` outlive it. Destroying it closes every connection at once;
  // exchanges, streams and sockets that are still held do nothing then, and no event follows. With
  // `kept` the addresses stay taken when it has gone.
  static std::unique_ptr<HttpServer> create(HttpIo& io, HttpHandler& handler,
                                            HttpServerLimits limits = {},
                                            KeptListeners* kept = nullptr);
  virtual ~HttpServer() = default;

  struct TcpAddress {
    std::string host;        // a numeric address
    std::uint16_t port = 0;  // 0: any that is free
  };
  // Gives the port. `unavailable` names the address when it is taken.
  virtual Result<std::uint16_t> listen_tcp(const TcpAddress& address,
                                           const std::optional<TlsFiles>& tls) = 0;
  // `folder/name`, bound through the folder's descriptor, mode 0600. A socket file that is there
  // is replaced: whoever calls holds the lock of the data folder.
  virtual Result<> listen_unix(const std::string& folder, const std::string& name) = 0;
  // No new connection is accepted, idle ones are closed; open answers and streams go on.
  virtual void stop_accepting() = 0;
  virtual std::size_t connections() const = 0;
};

}  // namespace perdure
