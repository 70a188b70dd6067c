// Idle event streams: the daemon's memory per stream, and the time of a broadcast to all of them.
// The clients are a forked process, so that only the server's memory is counted.
//   perdure-bench-http [STREAMS]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "net/server/server.h"
#include "net/socket.h"

namespace perdure {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t heap_bytes() { return ::mallinfo2().uordblks; }

class Streams final : public HttpHandler, public HttpStreamEvents {
 public:
  HttpAdmission on_head(const HttpRequest& /*head*/) override { return {}; }
  void on_request(HttpRequest /*request*/, std::shared_ptr<HttpExchange> exchange) override {
    open.push_back(exchange->stream({.headers = {{"Content-Type", "text/event-stream"}}}, *this));
  }
  void on_drained() override { ++drained; }
  void on_closed() override { ++closed; }

  std::vector<std::shared_ptr<HttpStream>> open;
  std::size_t drained = 0;
  std::size_t closed = 0;
};

// Opens the streams, then reads everything until it is killed.
[[noreturn]] void play_clients(std::uint16_t port, std::size_t count) {
  std::vector<Socket> sockets;
  const std::string text = "GET /s HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string_view request = text;
  std::vector<char> buffer(65536);
  for (std::size_t i = 0; i < count; ++i) {
    auto made = connect_tcp_socket(*numeric_address("127.0.0.1", port));
    CHECK(made.has_value());
    while (send_some(made->get(), std::span(&request, 1)).how != Transfer::some) ::usleep(100);
    sockets.push_back(std::move(*made));
  }
  for (;;) {
    for (const Socket& socket : sockets) (void)receive_some(socket.get(), buffer);
    ::usleep(1000);
  }
}

void measure(std::size_t count) {
  const auto io = HttpIo::create();
  Streams handler;
  handler.open.reserve(count);
  const auto server = HttpServer::create(*io, handler);
  const std::uint16_t port = server->listen_tcp({.host = "127.0.0.1"}, std::nullopt).value();
  io->run_for_ms(1);
  const std::size_t heap_before = heap_bytes();
  const std::size_t resident_before = resident_bytes();
  const pid_t child = ::fork();
  CHECK(child >= 0);
  if (child == 0) play_clients(port, count);
  const double begun = seconds();
  while (handler.open.size() < count) io->run_for_ms(100);
  for (int i = 0; i < 10; ++i) io->run_for_ms(10);
  fmt::print("{} streams opened in {:.2f} s\n", count, seconds() - begun);
  const auto each = [&](std::size_t now, std::size_t before) {
    return static_cast<double>(now - before) / static_cast<double>(count);
  };
  fmt::print("memory a stream: {:.0f} bytes of heap, {:.0f} bytes resident\n",
             each(heap_bytes(), heap_before), each(resident_bytes(), resident_before));
  const auto text = std::make_shared<const std::string>("data: " + std::string(292, 'x') + "\n\n");
  for (int round = 0; round < 5; ++round) {
    handler.drained = 0;
    const double start = seconds();
    for (const auto& stream : handler.open) stream->write(text);
    while (handler.drained < count) io->run_for_ms(100);
    const double took = seconds() - start;
    fmt::print("300 bytes to all: {:.1f} ms, {:.2f} us each\n", took * 1e3,
               took * 1e6 / static_cast<double>(count));
  }
  fmt::print("after it: {:.0f} bytes of heap a stream\n", each(heap_bytes(), heap_before));
  CHECK(handler.closed == 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace perdure

int main(int argc, char** argv) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  perdure::measure(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 5000);
  return 0;
}
