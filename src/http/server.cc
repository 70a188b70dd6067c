#include "http/server.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/check.h"
#include "http/acceptor.h"
#include "http/connection.h"
#include "http/tls.h"

namespace perdure {
namespace {

// How often deadlines are looked at: finely enough for the shortest of them.
std::int64_t tick_of(const HttpServerLimits& limits) {
  const auto shortest = std::min({limits.head_ms, limits.body_ms, limits.idle_ms, limits.write_ms});
  return std::clamp<std::int64_t>(shortest / 8, 5, 1000);
}

class ServerCore final : public ConnectionHost, public std::enable_shared_from_this<ServerCore> {
 public:
  ServerCore(HttpReactor& reactor, HttpHandler& handler, HttpServerLimits limits)
      : reactor_(reactor), handler_(handler), limits_(limits) {}
  ~ServerCore() override { CHECK(connections_.empty()); }

  HttpReactor& reactor() override { return reactor_; }
  HttpHandler& handler() override { return handler_; }
  const HttpServerLimits& limits() const override { return limits_; }
  bool is_down() const override { return is_down_; }
  void schedule(std::shared_ptr<Connection> connection) override;
  void forget(Connection& connection) override;

  // With TLS where there is an identity.
  void listen(Socket socket, std::shared_ptr<TlsIdentity> identity);
  void stop_accepting();
  void shut_down();
  std::size_t connections() const { return connections_.size(); }

 private:
  void adopt(Socket socket, const TlsIdentity* identity);
  void run_round();
  void arm_tick();
  void tick();

  HttpReactor& reactor_;
  HttpHandler& handler_;
  HttpServerLimits limits_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::vector<std::shared_ptr<Connection>> scheduled_;
  Loop::TimerId tick_ = 0;
  bool is_down_ = false;  // held by handles only; the reactor may be gone
};

void ServerCore::listen(Socket socket, std::shared_ptr<TlsIdentity> identity) {
  acceptors_.push_back(std::make_unique<Acceptor>(
      reactor_, std::move(socket), [this, identity = std::move(identity)](Socket accepted) {
        adopt(std::move(accepted), identity.get());
      }));
}

void ServerCore::adopt(Socket socket, const TlsIdentity* identity) {
  if (connections_.size() >= limits_.connections_max) return;  // closed as it goes out of scope
  auto peer = std::make_shared<const HttpPeer>(peer_of(socket.get()));
  auto stream = make_plain_stream(reactor_, std::move(socket));
  if (identity != nullptr)
    stream = make_tls_server_stream(reactor_, *identity, std::move(stream), limits_.handshake_ms);
  auto connection =
      std::make_shared<Connection>(shared_from_this(), std::move(stream), std::move(peer));
  connection->place = connections_.size();
  connections_.push_back(connection);
  connection->start();
  arm_tick();
}

void ServerCore::forget(Connection& connection) {
  CHECK(connections_[connection.place].get() == &connection);
  const std::size_t place = connection.place;
  std::swap(connections_[place], connections_.back());
  connections_[place]->place = place;
  connections_.pop_back();
}

void ServerCore::schedule(std::shared_ptr<Connection> connection) {
  if (std::exchange(connection->is_scheduled, true)) return;
  scheduled_.push_back(std::move(connection));
  if (scheduled_.size() > 1) return;
  reactor_.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->run_round();
  });
}

void ServerCore::run_round() {
  const auto round = std::exchange(scheduled_, {});
  for (const auto& connection : round) {
    connection->is_scheduled = false;
    connection->round();
  }
}

void ServerCore::arm_tick() {
  if (tick_ != 0) return;
  tick_ = reactor_.after_ms(tick_of(limits_), [this] {
    tick_ = 0;
    tick();
  });
}

void ServerCore::tick() {
  const std::int64_t now = reactor_.now_ms();
  // One that ends takes itself out of the list, and another comes into its place.
  for (std::size_t i = connections_.size(); i > 0; --i) {
    if (i > connections_.size()) continue;
    connections_[i - 1]->check_deadline(now);
  }
  if (!connections_.empty()) arm_tick();
}

void ServerCore::stop_accepting() {
  acceptors_.clear();
  const auto all = connections_;
  for (const auto& connection : all) connection->finish_and_close();
}

void ServerCore::shut_down() {
  is_down_ = true;
  acceptors_.clear();
  reactor_.cancel(std::exchange(tick_, 0));
  scheduled_.clear();
  const auto all = std::exchange(connections_, {});
  for (const auto& connection : all) connection->abandon();
}

class RealServer final : public HttpServer {
 public:
  RealServer(HttpIo& io, HttpHandler& handler, HttpServerLimits limits)
      : core_(std::make_shared<ServerCore>(reactor_of(io), handler, limits)) {}
  ~RealServer() override { core_->shut_down(); }

  Result<std::uint16_t> listen_tcp(const TcpAddress& address,
                                   const std::optional<TlsFiles>& tls) override {
    std::shared_ptr<TlsIdentity> identity;
    if (tls) identity = TRY(load_tls_identity(*tls));
    const auto numeric = numeric_address(address.host, address.port);
    if (!numeric) return fail(Code::invalid_argument, "not an address: " + address.host);
    const std::string shown = address.host + " port " + std::to_string(address.port);
    Socket socket = TRY(listen_tcp_socket(*numeric, shown));
    const std::uint16_t port = TRY(local_port(socket));
    core_->listen(std::move(socket), std::move(identity));
    return port;
  }

  Result<> listen_unix(const std::string& folder, const std::string& name) override {
    core_->listen(TRY(listen_unix_socket({.folder = folder, .name = name})), nullptr);
    return {};
  }

  void stop_accepting() override { core_->stop_accepting(); }
  std::size_t connections() const override { return core_->connections(); }

 private:
  std::shared_ptr<ServerCore> core_;
};

}  // namespace

std::unique_ptr<HttpServer> HttpServer::create(HttpIo& io, HttpHandler& handler,
                                               HttpServerLimits limits) {
  return std::make_unique<RealServer>(io, handler, limits);
}

}  // namespace perdure
