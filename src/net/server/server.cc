#include "net/server/server.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/check.h"
#include "net/server/acceptor.h"
#include "net/server/connection.h"
#include "net/server/crowd.h"
#include "net/server/listeners.h"
#include "net/tls/tls.h"

namespace perdure {
namespace {

// How often deadlines are checked: frequently enough for the shortest of them.
std::int64_t tick_of(const HttpServerLimits& limits) {
  const auto shortest =
      std::min({limits.head_ms, limits.body_ms, limits.body_grace_ms, limits.body_total_ms,
                limits.stranger_ms, limits.idle_ms, limits.write_ms});
  return std::clamp<std::int64_t>(shortest / 8, 5, 1000);
}

class ServerCore final : public ConnectionHost, public std::enable_shared_from_this<ServerCore> {
 public:
  ServerCore(HttpReactor& reactor, HttpHandler& handler, HttpServerLimits limits)
      : reactor_(reactor),
        handler_(handler),
        limits_(limits),
        strangers_({.all_max = limits.strangers_max,
                    .per_source_max = limits.strangers_per_source_max,
                    .closes_busy = true}),
        insiders_({.all_max = std::min(limits.insiders_max, limits.connections_max / 4),
                   .per_source_max = limits.insiders_per_session_max}),
        known_({.per_source_max = limits.per_credential_max}) {}
  ~ServerCore() override { CHECK(connections_.empty()); }

  HttpReactor& reactor() override { return reactor_; }
  HttpHandler& handler() override { return handler_; }
  const HttpServerLimits& limits() const override { return limits_; }
  bool is_down() const override { return is_down_; }
  void schedule(std::shared_ptr<Connection> connection) override;
  bool note_known(Connection& connection, const std::string& credential) override;
  void forget(Connection& connection) override;

  // With TLS if there is an identity.
  void listen(Socket socket, std::shared_ptr<TlsIdentity> identity);
  void stop_accepting();
  void shut_down();
  std::size_t connections() const { return connections_.size(); }

 private:
  void adopt(Socket socket, const TlsIdentity* identity);
  Crowd* crowd_of(const HttpPeer& peer, const std::string& source);
  bool make_room(Crowd* crowd, const std::string& source);
  void run_round();
  void arm_tick();
  void tick();

  HttpReactor& reactor_;
  HttpHandler& handler_;
  HttpServerLimits limits_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  std::vector<std::shared_ptr<Connection>> connections_;
  // Every connection except the owner's at the unix socket is in one of these.
  Crowd strangers_;  // over TCP without credentials, by address
  Crowd insiders_;   // over the unix socket from sessions, by session
  Crowd known_;      // over TCP, by credential
  std::vector<std::shared_ptr<Connection>> scheduled_;
  Loop::TimerId tick_ = 0;
  bool is_down_ = false;  // only handles remain; the reactor may be destroyed
};

void ServerCore::listen(Socket socket, std::shared_ptr<TlsIdentity> identity) {
  acceptors_.push_back(std::make_unique<Acceptor>(
      reactor_, std::move(socket), [this, identity = std::move(identity)](Socket accepted) {
        adopt(std::move(accepted), identity.get());
      }));
}

void ServerCore::adopt(Socket socket, const TlsIdentity* identity) {
  HttpPeer caller = peer_of(socket.get());
  std::string source = handler_.on_accept(socket.get(), caller);
  if (!caller.is_unix) source = source_of(caller.address);
  Crowd* const crowd = crowd_of(caller, source);
  if (!make_room(crowd, source)) return;  // closed as it goes out of scope
  auto peer = std::make_shared<const HttpPeer>(std::move(caller));
  auto stream = make_plain_stream(reactor_, std::move(socket));
  if (identity != nullptr)
    stream = make_tls_server_stream(reactor_, *identity, std::move(stream), limits_.handshake_ms);
  auto connection =
      std::make_shared<Connection>(shared_from_this(), std::move(stream), std::move(peer));
  connection->place = connections_.size();
  connections_.push_back(connection);
  connection->is_stranger = crowd == &strangers_;
  if (crowd != nullptr) crowd->add(*connection, source);
  connection->start();
  arm_tick();
}

// Null: the owner at the unix socket, never kept out.
Crowd* ServerCore::crowd_of(const HttpPeer& peer, const std::string& source) {
  if (!peer.is_unix) return &strangers_;
  return source.empty() ? nullptr : &insiders_;
}

bool ServerCore::make_room(Crowd* crowd, const std::string& source) {
  if (crowd != nullptr && !crowd->make_room(source)) return false;
  const std::size_t reserved =
      crowd == nullptr ? 0 : std::min(limits_.unix_reserved, limits_.connections_max / 2);
  if (connections_.size() < limits_.connections_max - reserved) return true;
  return strangers_.drop_one();
}

bool ServerCore::note_known(Connection& connection, const std::string& credential) {
  if (!connection.is_stranger) return true;
  if (!credential.empty() && !known_.make_room(credential)) return false;
  connection.is_stranger = false;
  strangers_.remove(connection);
  if (!credential.empty()) known_.add(connection, credential);
  return true;
}

void ServerCore::forget(Connection& connection) {
  if (connection.crowd != nullptr) connection.crowd->remove(connection);
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
  // A connection that ends is removed from the list, and another takes its place.
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
  RealServer(HttpIo& io, HttpHandler& handler, HttpServerLimits limits, KeptListeners* kept)
      : core_(std::make_shared<ServerCore>(reactor_of(io), handler, limits)), kept_(kept) {}
  ~RealServer() override { core_->shut_down(); }

  Result<std::uint16_t> listen_tcp(const TcpAddress& address,
                                   const std::optional<TlsFiles>& tls) override {
    std::shared_ptr<TlsIdentity> identity;
    if (tls) identity = TRY(load_tls_identity(*tls));
    const auto numeric = numeric_address(address.host, address.port);
    if (!numeric) return fail(Code::invalid_argument, "not an address: " + address.host);
    const std::string shown = address.host + " port " + std::to_string(address.port);
    Socket socket =
        TRY(kept_ ? kept_->listen_tcp(*numeric, shown) : listen_tcp_socket(*numeric, shown));
    const std::uint16_t port = TRY(local_port(socket));
    core_->listen(std::move(socket), std::move(identity));
    return port;
  }

  Result<> listen_unix(const std::string& folder, const std::string& name) override {
    const UnixName at{.folder = folder, .name = name};
    core_->listen(TRY(kept_ ? kept_->listen_unix(at) : listen_unix_socket(at)), nullptr);
    return {};
  }

  void stop_accepting() override { core_->stop_accepting(); }
  std::size_t connections() const override { return core_->connections(); }

 private:
  std::shared_ptr<ServerCore> core_;
  KeptListeners* kept_;  // may be null
};

}  // namespace

std::unique_ptr<HttpServer> HttpServer::create(HttpIo& io, HttpHandler& handler,
                                               HttpServerLimits limits, KeptListeners* kept) {
  return std::make_unique<RealServer>(io, handler, limits, kept);
}

}  // namespace perdure
