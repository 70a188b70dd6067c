// The daemon's end of a link to an agentctl: packets out, events in. It checks that frames arrive
// in order and without gaps; the listener interprets them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/wire/agentctl/agentctl.h"
#include "core/wire/agentctl/effect.h"
#include "env/link.h"

namespace perdure {

// Called on the loop. The client may be destroyed within any of them except on_frame.
class AgentctlClientEvents {
 public:
  virtual ~AgentctlClientEvents() = default;
  virtual void on_attached(const AttachedPacket& attached) = 0;
  // The agentctl rejects us; on_closed follows.
  virtual void on_refused(const RefusedPacket& refused) = 0;
  virtual void on_frame(FrameNo number, std::string_view frame) = 0;
  virtual void on_acted(std::uint64_t number) = 0;
  virtual void on_reply(std::uint64_t call, Result<std::string> result) = 0;
  virtual void on_shell_news(const std::string& shell) = 0;
  virtual void on_health(const HealthPacket& health) = 0;
  // It ends in order: every frame is in its spool, and was sent if we read fast enough.
  virtual void on_leaving(const std::string& reason) = 0;
  // The last call. It says nothing about the agentctl itself.
  virtual void on_closed(const std::string& why) = 0;
};

class AgentctlClient final : private LinkEvents {
 public:
  AgentctlClient(std::unique_ptr<Link> link, AgentctlClientEvents& events);
  ~AgentctlClient() override { *exists_ = false; }

  // Send this or probe() first. Frames after `packet.after` follow.
  void attach(const AttachPacket& packet);
  void probe(const ProbePacket& packet);
  void command(const SendCommand& command);
  void ack(FrameNo frame);
  void stop(const std::string& reason);
  // Returns the number that the reply will carry.
  std::uint64_t call(std::string_view method, std::string_view params);

  // Stops all events, for owners that cannot destroy it within its own call.
  void leave() { *exists_ = false; }

  std::size_t unsent_bytes() const { return link_->unsent_bytes(); }

 private:
  void on_bytes(std::string_view bytes) override;
  void on_drained() override {}
  void on_closed() override;
  Result<> on_packet(const Packet& packet);
  template <class T>
  void send(const T& packet) {
    std::string bytes;
    append_packet(bytes, packet);
    link_->send(std::move(bytes));
  }

  std::unique_ptr<Link> link_;
  AgentctlClientEvents& events_;
  PacketReader reader_;
  FrameNo last_frame_ = 0;
  std::uint64_t calls_ = 0;
  std::shared_ptr<bool> exists_;  // false once destroyed, or left
};

}  // namespace perdure
