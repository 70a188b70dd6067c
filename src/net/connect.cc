#include "net/connect.h"

#include <utility>
#include <vector>

#include "net/tls/tls.h"

namespace perdure {
namespace {

constexpr std::int64_t unix_again_ms = 2;

class Attempt final : public Connecting,
                      public DescriptorEvents,
                      public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(HttpReactor& reactor, HttpEndpoint to, OnConnected done)
      : reactor_(reactor), to_(std::move(to)), done_(std::move(done)) {}

  void start() {
    if (!to_.unix_folder.empty()) return start_unix();
    if (const auto address = numeric_address(to_.host, to_.port)) {
      addresses_ = {*address};
      return later([](Attempt& self) { self.try_next(); });
    }
    reactor_.resolve(to_.host, to_.port, [weak = weak_from_this()](auto found) {
      const auto self = weak.lock();
      if (!self || !self->done_) return;
      if (!found) return self->tell(std::unexpected(std::move(found).error()));
      self->addresses_ = std::move(*found);
      self->try_next();
    });
  }
  void give_up() {
    done_ = nullptr;
    descriptor_.reset();
  }

  void on_readable() override {}
  void on_writable() override {
    const auto self = shared_from_this();
    if (auto outcome = connect_outcome(descriptor_->get()); !outcome) {
      last_error_ = std::move(outcome).error();
      return try_next();
    }
    // Ownership of the descriptor changes: a copy is passed on, the watched one is closed.
    auto socket = copy_socket(descriptor_->get());
    descriptor_.reset();
    if (!socket) return tell(std::unexpected(std::move(socket).error()));
    if (to_.silence_ms > 0) notice_silence(socket->get(), to_.silence_ms);
    tell(secure(make_plain_stream(reactor_, std::move(*socket))));
  }

 private:
  void later(void (*then)(Attempt&)) {
    reactor_.post([weak = weak_from_this(), then] {
      const auto self = weak.lock();
      if (self && self->done_) then(*self);
    });
  }

  void start_unix() {
    later([](Attempt& self) { self.try_unix(); });
  }
  void try_unix() {
    auto socket = connect_unix_socket_at({to_.unix_folder, to_.unix_name});
    if (socket) return tell(make_plain_stream(reactor_, std::move(*socket)));
    if (socket.error().code() != Code::limit_reached) {
      // For a client of the daemon, a missing socket and one without a listener are the same.
      return tell(fail(Code::unavailable, socket.error().message()));
    }
    // Its backlog is full. That is not a failure: connect as soon as a place is free.
    reactor_.after_ms(unix_again_ms, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self && self->done_) self->try_unix();
    });
  }

  void try_next() {
    descriptor_.reset();
    while (next_ < addresses_.size()) {
      auto socket = connect_tcp_socket(addresses_[next_++]);
      if (!socket) {
        last_error_ = std::move(socket).error();
        continue;
      }
      descriptor_ = reactor_.adopt(std::move(*socket), *this);
      return descriptor_->wait_writable();
    }
    const std::string why = last_error_.message();
    tell(fail(Code::unavailable, to_.host + " port " + std::to_string(to_.port) + ": " + why));
  }

  Result<std::shared_ptr<ByteStream>> secure(std::shared_ptr<ByteStream> stream) {
    if (!to_.tls) return stream;
    return make_tls_client_stream(reactor_, std::move(stream), to_.host);
  }

  void tell(Result<std::shared_ptr<ByteStream>> result) {
    if (auto done = std::exchange(done_, nullptr)) done(std::move(result));
  }

  HttpReactor& reactor_;
  HttpEndpoint to_;
  OnConnected done_;
  std::vector<SocketAddress> addresses_;
  std::size_t next_ = 0;
  Error last_error_{Code::unavailable, "it has no address"};
  std::unique_ptr<Descriptor> descriptor_;
};

class HeldAttempt final : public Connecting {
 public:
  explicit HeldAttempt(std::shared_ptr<Attempt> attempt) : attempt_(std::move(attempt)) {}
  ~HeldAttempt() override { attempt_->give_up(); }

 private:
  std::shared_ptr<Attempt> attempt_;
};

}  // namespace

std::unique_ptr<Connecting> connect_to(HttpReactor& reactor, const HttpEndpoint& to,
                                       OnConnected done) {
  auto attempt = std::make_shared<Attempt>(reactor, to, std::move(done));
  attempt->start();
  return std::make_unique<HeldAttempt>(std::move(attempt));
}

std::string host_header(const HttpEndpoint& to) {
  if (!to.unix_folder.empty()) return "localhost";
  const std::string host = to.host.contains(':') ? "[" + to.host + "]" : to.host;
  const std::uint16_t usual = to.tls ? 443 : 80;
  return to.port == usual ? host : host + ":" + std::to_string(to.port);
}

}  // namespace perdure
