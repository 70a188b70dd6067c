// Reads a process's figures from /proc, and measures the raw baselines on separate threads.
#include "figures.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure::load {
namespace {

constexpr std::chrono::milliseconds baseline_gap{100};
constexpr std::size_t sync_bytes = 4096;
constexpr std::size_t echo_bytes = 300;

// Two ends of a TCP connection over loopback.
struct Loopback {
  int near = -1;
  int far = -1;

  Loopback() {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    CHECK(::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0);
    CHECK(::listen(listener, 1) == 0);
    CHECK(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    near = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(::connect(near, reinterpret_cast<sockaddr*>(&address), size) == 0);
    far = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    CHECK(far >= 0);
    ::close(listener);
    const int on = 1;
    for (const int end : {near, far}) {
      CHECK(::setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
    }
  }
  ~Loopback() {
    ::close(near);
    ::close(far);
  }
};

bool read_all(int from, std::string& bytes) {
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t some = ::read(from, bytes.data() + got, bytes.size() - got);
    if (some <= 0) return false;
    got += static_cast<std::size_t>(some);
  }
  return true;
}

double clock_ms(auto now) {
  return std::chrono::duration<double, std::milli>(now.time_since_epoch()).count();
}

}  // namespace

double wall_ms() { return clock_ms(std::chrono::system_clock::now()); }
double steady_ms() { return clock_ms(std::chrono::steady_clock::now()); }

double Times::at(double share) const {
  if (all_.empty()) return 0;
  std::vector<double> sorted = all_;
  const auto n = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5);
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(n), sorted.end());
  return sorted[n];
}

std::string Times::text() const {
  return fmt::format("p50 {:.2f}  p99 {:.2f}  p99.9 {:.2f}  max {:.2f} ms ({})", at(0.5), at(0.99),
                     at(0.999), at(1.0), count());
}

Usage usage_of(pid_t process) {
  namespace fs = std::filesystem;
  const fs::path folder = "/proc/" + std::to_string(process);
  Usage out;
  std::error_code error;
  for (const auto& thread : fs::directory_iterator(folder / "task", error)) {
    std::ifstream times(thread.path() / "schedstat");
    double ran_ns = 0;
    times >> ran_ns;
    out.cpu_s += ran_ns / 1e9;
  }
  std::ifstream status(folder / "status");
  for (std::string line; std::getline(status, line);) {
    double kib = 0;
    if (std::sscanf(line.c_str(), "VmRSS: %lf", &kib) == 1) out.resident_mib = kib / 1024;
    if (std::sscanf(line.c_str(), "RssAnon: %lf", &kib) == 1) out.anonymous_mib = kib / 1024;
  }
  return out;
}

Baselines::Baselines(std::string folder) : folder_(std::move(folder)), thread_([this] { run(); }) {}

Baselines::~Baselines() {
  if (thread_.joinable()) take();
}

Baselines::Taken Baselines::take() {
  stopping_ = true;
  thread_.join();
  return std::move(taken_);
}

void Baselines::run() {
  const std::string path = folder_ + "/baseline";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  CHECK(file >= 0);
  const Loopback loopback;
  std::thread echoes([&] {
    std::string bytes(echo_bytes, ' ');
    while (read_all(loopback.far, bytes)) {
      if (::write(loopback.far, bytes.data(), bytes.size()) < 0) return;
    }
  });
  const std::string block(sync_bytes, 'x');
  std::string bytes(echo_bytes, 'x');
  while (!stopping_) {
    double begun = steady_ms();
    CHECK(::write(file, block.data(), block.size()) == static_cast<ssize_t>(block.size()));
    CHECK(::fdatasync(file) == 0);
    taken_.sync.add(steady_ms() - begun);
    begun = steady_ms();
    CHECK(::write(loopback.near, bytes.data(), bytes.size()) > 0 && read_all(loopback.near, bytes));
    taken_.echo.add(steady_ms() - begun);
    std::this_thread::sleep_for(baseline_gap);
  }
  ::shutdown(loopback.near, SHUT_WR);
  echoes.join();
  ::close(file);
}

}  // namespace perdure::load
