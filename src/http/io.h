// The one thread of a program that speaks HTTP: an Asio context, and beside it any other loop that
// has a descriptor (EpollLoop::descriptor, EpollLoop::pump). Asio itself is seen by http/*.cc only.
#pragma once

#include <functional>
#include <memory>

namespace perdure {

class HttpIo {
 public:
  static std::unique_ptr<HttpIo> create();
  virtual ~HttpIo() = default;

  // Calls `pump` whenever the descriptor is readable, for as long as the io lives.
  virtual void drive(int descriptor, std::move_only_function<void()> pump) = 0;
  // Runs until stop(). Blocks.
  virtual void run() = 0;
  virtual void stop() = 0;
  // Runs what is ready, waiting at most this long for the first of it. For tests and the CLI.
  virtual void run_for_ms(int wait_ms) = 0;
};

}  // namespace perdure
