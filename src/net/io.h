// The single thread of a program that uses HTTP: an Asio context that also drives another loop with
// a descriptor (EpollLoop::descriptor, EpollLoop::pump). Only net/ sees Asio itself.
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
  // Runs what is ready, and waits at most this long for the first event. For tests and the CLI.
  virtual void run_for_ms(int wait_ms) = 0;
};

}  // namespace perdure
