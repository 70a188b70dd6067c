// One connection to an agentctl: turns bytes into packets and records when it came. The supervisor
// interprets the packets.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "agentctl/supervisor/supervisor.h"
#include "core/wire/agentctl/agentctl.h"
#include "env/link.h"

namespace perdure {

class Supervisor::Peer final : private LinkEvents {
 public:
  Peer(Supervisor& supervisor, std::uint64_t number, std::unique_ptr<Link> link)
      : number_(number), supervisor_(supervisor), link_(std::move(link)) {
    link_->set_events(*this);
  }

  std::uint64_t number() const { return number_; }
  std::size_t unsent_bytes() const { return link_->unsent_bytes(); }
  void send(std::string bytes) { link_->send(std::move(bytes)); }
  template <class T>
  void send_packet(const T& packet) {
    std::string bytes;
    append_packet(bytes, packet);
    send(std::move(bytes));
  }

  bool is_dropped = false;  // sends and receives nothing more; destroyed soon

 private:
  void on_bytes(std::string_view bytes) override;
  void on_drained() override { supervisor_.pump(); }
  void on_closed() override { supervisor_.on_peer_closed(*this); }

  std::uint64_t number_;
  Supervisor& supervisor_;
  std::unique_ptr<Link> link_;
  PacketReader reader_;
};

}  // namespace perdure
