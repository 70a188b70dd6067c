// The client side of HTTP/1.1, for the CLI, webhooks and tests: a request and its whole answer, an
// answer as a stream, or a WebSocket. One connection each; nothing is retried here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/io.h"
#include "http/message.h"
#include "http/server.h"

namespace perdure {

struct HttpEndpoint {
  std::string unix_folder;  // given: a unix socket, reached through its folder's descriptor
  std::string unix_name;
  std::string host;  // else TCP: a name or an address
  std::uint16_t port = 0;
  bool tls = false;  // certificates of the system's store are trusted, and the name is checked
  // Over TCP: a peer of which the kernel hears nothing for so long is gone; 0: that goes unnoticed.
  std::int64_t silence_ms = 0;
};

struct HttpCallLimits {
  std::int64_t connect_ms = 10'000;
  std::int64_t answer_ms = 120'000;  // without a byte of the answer: unavailable
  std::size_t body_bytes_max = 256UL << 20;
};

// A call under way; dropping it gives it up, and no callback follows. It may be dropped from inside
// of its own callback. It uses the io until it goes, so it has one owner, whose life ends before
// the io's: a task or a timer of a loop never holds one.
class HttpCall {
 public:
  virtual ~HttpCall() = default;
};

// `unavailable`: nobody there, or it ended early.
std::unique_ptr<HttpCall> http_fetch(HttpIo& io, const HttpEndpoint& to, HttpRequest request,
                                     const HttpCallLimits& limits,
                                     std::move_only_function<void(Result<HttpResponse>)> done);

// Calls by one owner. Each goes when it is over, and all of them with this.
class HttpCalls {
 public:
  using Done = std::move_only_function<void(Result<HttpResponse>)>;
  // The io outlives this.
  explicit HttpCalls(HttpIo& io) : io_(io) {}
  // `done` comes from the io, once, after the call has been dropped. The number is never used
  // again.
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
  // The last call; an error when the answer was cut.
  virtual void on_end(Result<> result) = 0;
};
// answer_ms counts between two portions of bytes.
std::unique_ptr<HttpCall> http_open(HttpIo& io, const HttpEndpoint& to, HttpRequest request,
                                    const HttpCallLimits& limits, HttpBodyEvents& events);

// on_closed tells a failure, too. request.method is ignored.
std::shared_ptr<WebSocket> http_websocket(HttpIo& io, const HttpEndpoint& to, HttpRequest request,
                                          const WebSocketLimits& limits, WebSocketEvents& events);

// Blocks: runs the io until the answer is there. For the CLI and tests.
Result<HttpResponse> http_call(HttpIo& io, const HttpEndpoint& to, HttpRequest request,
                               const HttpCallLimits& limits = {});

}  // namespace perdure
