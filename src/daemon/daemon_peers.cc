// The daemon's relation to others on one store: its name and address, its calls to them, and their
// notifications.
#include "daemon/daemon.h"

namespace perdure {

Result<> Daemon::meet_peers() {
  if (!store_->is_shared()) return {};
  if (!setting_.config.advertise.empty()) TRY(parse_node_address(setting_.config.advertise));
  peers_ = std::make_unique<HttpPeers>(
      HttpPeers::World{*io_, *shared_loop_, *clock_, random_, [this] { return store_->nodes(); }},
      HttpPeers::Setting{.node = node_name_, .key = key_});
  return {};
}

void Daemon::give_peer_hooks() {
  if (!peers_) return;
  world_->node_name = node_name_;
  world_->peer_key = key_;
  world_->owner = [this](SessionId session) { return runtime_->owner(session); };
  world_->owners = [this](std::span<const SessionId> sessions) { return store_->owners(sessions); };
  world_->nodes = [this]() -> Result<std::vector<ServedNode>> {
    std::vector<ServedNode> out;
    for (const StoreNode& node : TRY(peers_->nodes())) {
      out.push_back({.name = node.name,
                     .address = node.address,
                     .home = node.home,
                     .heard_ms = node.heard_ms,
                     .is_self = node.is_self,
                     .is_silent = node.is_silent});
    }
    return out;
  };
  world_->call_peer = [this](const std::string& node, PeerCall call, ApiWorld::OnPeerAnswer done) {
    peers_->call(node, std::move(call), std::move(done));
  };
}

// Daemons on one host find each other by their sockets. One that listens on the network publishes
// its address; if it listens on all addresses, a person must configure one.
Result<> Daemon::announce(const ListenAddress& address) {
  if (!peers_) return {};
  std::string where = setting_.config.advertise;
  if (where.empty()) {
    where = address.reach == Reach::network ? url_ : "unix:" + data_->run() + "/perdure.sock";
  }
  TRY_VOID(store_->announce(where));
  log_->note("node " + node_name_ + " is reached at " + where);
  return {};
}

void Daemon::hear_of(std::vector<SessionId> sessions) {
  shared_loop_->post([this, sessions = std::move(sessions)] {
    if (runtime_) runtime_->hint(sessions);
    // Entries that cannot be read now are read with the next notification.
    if (node_) std::ignore = node_->catch_up();
    if (audit_) std::ignore = audit_->catch_up();
  });
}

}  // namespace perdure
