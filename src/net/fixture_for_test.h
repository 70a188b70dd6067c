// Shared by the tests of this folder: a server whose handler is a lambda, and a client that sends
// any bytes and keeps the answer, both on one loop that runs until a condition holds.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/client.h"
#include "net/io.h"
#include "net/server/server.h"
#include "net/socket.h"

namespace perdure::http_test {

inline bool until(HttpIo& io, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    io.run_for_ms(1);
  }
  return true;
}

class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "perdure_http_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(std::string_view name = {}) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// Sends any bytes and keeps what it receives; never blocks.
class RawClient {
 public:
  RawClient(HttpIo& io, Socket socket) : io_(io), socket_(std::move(socket)) {}

  static RawClient tcp(HttpIo& io, std::uint16_t port) {
    return {io, connect_tcp_socket(*numeric_address("127.0.0.1", port)).value()};
  }

  // Sends as much as possible while the loop runs.
  void send(std::string_view bytes) {
    while (!bytes.empty() && !broken_) {
      const auto sent = send_some(socket_.get(), std::span(&bytes, 1));
      if (sent.how == Transfer::some) bytes.remove_prefix(sent.bytes);
      if (sent.how == Transfer::broken) broken_ = true;
      if (sent.how == Transfer::would_wait) io_.run_for_ms(1);
    }
  }
  void end_sending() { ::shutdown(socket_.get(), SHUT_WR); }
  void close() { socket_ = Socket(); }
  int descriptor() const { return socket_.get(); }

  // Whether the connection ended.
  bool receive() {
    std::array<char, 65536> buffer;
    for (;;) {
      const auto got = receive_some(socket_.get(), buffer);
      if (got.how == Transfer::some) received.append(buffer.data(), got.bytes);
      if (got.how == Transfer::would_wait) return false;
      if (got.how == Transfer::ended || got.how == Transfer::broken) return true;
    }
  }
  bool until_received(std::string_view text) {
    return until(io_, [&] {
      receive();
      return received.contains(text);
    });
  }
  bool until_ended() {
    return until(io_, [&] { return receive(); });
  }
  // Reads to the connection's end and returns the status of the first answer, or 0 without one.
  int status_at_end() {
    if (!until_ended()) return -1;
    return received.size() > 12 ? std::stoi(received.substr(9, 3)) : 0;
  }

  std::string received;

 private:
  HttpIo& io_;
  Socket socket_;
  bool broken_ = false;
};

class LambdaHandler final : public HttpHandler {
 public:
  std::string on_accept(int, HttpPeer&) override {
    ++accepted;
    return insider;
  }
  HttpAdmission on_head(const HttpRequest& head) override {
    ++heads;
    return admit ? admit(head) : HttpAdmission{};
  }
  void on_request(HttpRequest request, std::shared_ptr<HttpExchange> exchange) override {
    ++requests;
    if (answer) return answer(std::move(request), std::move(exchange));
    exchange->respond({.body = request.method + " " + request.path + " " + request.body});
  }

  std::string insider;  // the session of the next caller over a unix socket
  std::function<HttpAdmission(const HttpRequest&)> admit;
  std::function<void(HttpRequest, std::shared_ptr<HttpExchange>)> answer;
  int accepted = 0;
  int heads = 0;
  int requests = 0;
};

struct StreamRecorder final : HttpStreamEvents {
  void on_drained() override { ++drained; }
  void on_closed() override { ++closed; }
  int drained = 0;
  int closed = 0;
};

class ServerTest : public testing::Test {
 protected:
  void listen(HttpServerLimits limits = {}) {
    server = HttpServer::create(*io, handler, limits);
    const auto listening = server->listen_tcp({.host = "127.0.0.1", .port = 0}, std::nullopt);
    ASSERT_TRUE(listening) << listening.error().message();
    port = *listening;
  }
  RawClient connect() { return RawClient::tcp(*io, port); }
  bool until(const std::function<bool()>& condition) { return http_test::until(*io, condition); }
  HttpEndpoint endpoint() const { return {.host = "127.0.0.1", .port = port}; }

  Scratch scratch;
  std::unique_ptr<HttpIo> io = HttpIo::create();
  LambdaHandler handler;
  std::unique_ptr<HttpServer> server;
  std::uint16_t port = 0;
};

inline std::string get(std::string_view path, std::string_view more = {}) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" + std::string(more) + "\r\n";
}

}  // namespace perdure::http_test
