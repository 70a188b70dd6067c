// A listening socket that passes on accepted connections.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "net/reactor.h"
#include "net/socket.h"

namespace perdure {

class Acceptor final : public DescriptorEvents {
 public:
  using OnSocket = std::move_only_function<void(Socket)>;

  Acceptor(HttpReactor& reactor, Socket socket, OnSocket on_socket)
      : reactor_(reactor),
        descriptor_(reactor.adopt(std::move(socket), *this)),
        on_socket_(std::move(on_socket)) {
    descriptor_->wait_readable();
  }
  ~Acceptor() override { reactor_.cancel(rest_); }

  void on_readable() override {
    for (int i = 0; i < accepts_per_round; ++i) {
      auto socket = accept_socket(descriptor_->get());
      if (!socket) {
        rest_ = reactor_.after_ms(rest_ms, [this] { descriptor_->wait_readable(); });
        return;
      }
      if (!*socket) break;
      on_socket_(std::move(**socket));
    }
    descriptor_->wait_readable();
  }
  void on_writable() override {}

 private:
  static constexpr int accepts_per_round = 16;
  // Without descriptors callers stay in the backlog; an immediate retry would only use CPU time.
  static constexpr std::int64_t rest_ms = 100;

  HttpReactor& reactor_;
  std::unique_ptr<Descriptor> descriptor_;
  OnSocket on_socket_;
  Loop::TimerId rest_ = 0;
};

}  // namespace perdure
