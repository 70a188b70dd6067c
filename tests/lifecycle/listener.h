// A server that the daemon calls and that never responds: a webhook, a container engine. It closes
// each call at once, or holds it open until the listener ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace perdure {

class SilentListener {
 public:
  enum class Does { hang_up, hold, alternate };  // alternate: closes the first call, holds the next
  static std::unique_ptr<SilentListener> on_tcp(Does does);
  static std::unique_ptr<SilentListener> on_socket(const std::string& path, Does does);
  ~SilentListener();
  SilentListener(const SilentListener&) = delete;
  SilentListener& operator=(const SilentListener&) = delete;

  std::uint16_t port() const { return port_; }
  std::size_t calls() const { return calls_; }

 private:
  SilentListener(int fd, std::uint16_t port, Does does);
  void run();

  int fd_;
  std::uint16_t port_;
  Does does_;
  std::atomic<std::size_t> calls_ = 0;
  std::atomic<bool> stopping_ = false;
  std::vector<int> held_;
  std::thread thread_;
};

}  // namespace perdure
