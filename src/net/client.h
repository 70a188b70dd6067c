// The client side of HTTP/1.1, for the CLI, webhooks and tests: a request and its whole answer, an
// answer as a stream, or a WebSocket. Each uses one connection; nothing is retried here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/io.h"
#include "net/message.h"
#include "net/server/server.h"

namespace perdure {

struct HttpEndpoint {
  std::string unix_folder;  // if set: a unix socket, reached through its folder's descriptor
  std::string unix_name;
  std::string host;  // otherwise TCP: a name or an address
  std::uint16_t port = 0;
  bool tls = false;  // trusts the system's certificate store and checks the name
  // Over TCP: disconnects if the kernel hears nothing from the peer for this long; 0: never.
  std::int64_t silence_ms = 0;
};

struct HttpCallLimits {
  std::int64_t connect_ms = 10'000;
  std::int64_t answer_ms = 120'000;  // without a byte of the answer: unavailable
  std::size_t body_bytes_max = 256UL << 20;
};

// A call in progress. Destroying it cancels it without a callback, even within its own callback. It
// uses the io, so it needs one owner that is destroyed before the io; a task or timer of a loop
// must not hold it.
class HttpCall {
 public:
  virtual ~HttpCall() = default;
};

// `unavailable`: the connection was refused or ended early.
std::unique_ptr<HttpCall> http_fetch(HttpIo& io, const HttpEndpoint& to, HttpRequest request,
                                     const HttpCallLimits& limits,
                                     std::move_only_function<void(Result<HttpResponse>)> done);

// The calls of one owner. Each is destroyed when it ends, and all of them with this.
class HttpCalls {
 public:
  using Done = std::move_only_function<void(Result<HttpResponse>)>;
  // The io must outlive this.
  explicit HttpCalls(HttpIo& io) : io_(io) {}
  // `done` is called by the io, once, after the call has been destroyed. Numbers are never reused.
  std::uint64_t fetch(const HttpEndpoint& to, HttpRequest request, const HttpCallLimits& limits,
                      Done done);
  // No callback follows.
  void give_up(std::uint64_t number) { calls_.erase(number); }

 private:
  HttpIo& io_;
  std::map<std::uint64_t, std::unique_ptr<HttpCall>> calls_;
  std::uint64_t last_ = 0;
};

class HttpBodyEvents {
 public:
  virtual ~HttpBodyEvents() = default;
  virtual void on_head(const HttpResponse& head) = 0;
  virtual void on_bytes(std::string_view bytes) = 0;
  // The last call; an error if the answer was cut.
  virtual void on_end(Result<> result) = 0;
};
// answer_ms limits the time between two portions of bytes.
std::unique_ptr<HttpCall> http_open(HttpIo& io, const HttpEndpoint& to, HttpRequest request,
                                    const HttpCallLimits& limits, HttpBodyEvents& events);

// on_closed also reports failures. request.method is ignored.
std::shared_ptr<WebSocket> http_websocket(HttpIo& io, const HttpEndpoint& to, HttpRequest request,
                                          const WebSocketLimits& limits, WebSocketEvents& events);

// Blocks: runs the io until the answer arrives. For the CLI and tests.
Result<HttpResponse> http_call(HttpIo& io, const HttpEndpoint& to, HttpRequest request,
                               const HttpCallLimits& limits = {});

}  // namespace perdure
