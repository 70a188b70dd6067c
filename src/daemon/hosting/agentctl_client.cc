// Packets to events. A packet that breaks a rule ends the link, because the spool has everything.
#include "daemon/hosting/agentctl_client.h"

#include <utility>

namespace perdure {

AgentctlClient::AgentctlClient(std::unique_ptr<Link> link, AgentctlClientEvents& events)
    : link_(std::move(link)), events_(events), exists_(std::make_shared<bool>(true)) {
  link_->set_events(*this);
}

void AgentctlClient::attach(const AttachPacket& packet) {
  last_frame_ = packet.after;
  send(packet);
}

void AgentctlClient::probe(const ProbePacket& packet) { send(packet); }

void AgentctlClient::command(const SendCommand& command) {
  std::string bytes;
  append_packet(bytes, PacketType::command, encode_effect(command));
  link_->send(std::move(bytes));
}

void AgentctlClient::ack(FrameNo frame) { send(AckPacket{frame}); }

void AgentctlClient::stop(const std::string& reason) { send(StopPacket{reason}); }

std::uint64_t AgentctlClient::call(std::string_view method, std::string_view params) {
  send(CallPacket{.id = ++calls_, .method = std::string(method), .params = {std::string(params)}});
  return calls_;
}

void AgentctlClient::on_closed() {
  if (*exists_) events_.on_closed("the link was closed");
}

void AgentctlClient::on_bytes(std::string_view bytes) {
  const std::shared_ptr<bool> exists = exists_;
  reader_.feed(bytes);
  while (*exists) {
    const Result<std::optional<Packet>> packet = reader_.next();
    if (!packet) return events_.on_closed(packet.error().message());
    if (!*packet) return;
    const Result<> handled = on_packet(**packet);
    if (!handled) return events_.on_closed(handled.error().message());
  }
}

Result<> AgentctlClient::on_packet(const Packet& packet) {
  switch (packet.type) {
    case PacketType::frame: {
      const NumberedFrame frame = TRY(decode_frame_packet(packet.body));
      if (frame.number != last_frame_ + 1) {
        return fail(Code::damaged, "frame " + std::to_string(frame.number) + " came behind " +
                                       std::to_string(last_frame_));
      }
      last_frame_ = frame.number;
      events_.on_frame(frame.number, frame.frame);
      return {};
    }
    case PacketType::attached: events_.on_attached(TRY(decode_attached(packet.body))); return {};
    case PacketType::refused: events_.on_refused(TRY(decode_refused(packet.body))); return {};
    case PacketType::acted: events_.on_acted(TRY(decode_acted(packet.body)).number); return {};
    case PacketType::reply: {
      ReplyPacket reply = TRY(decode_call_reply(packet.body));
      if (reply.code.empty()) {
        events_.on_reply(reply.id, std::move(reply.result.text));
      } else {
        events_.on_reply(reply.id, fail(parse_code(reply.code), std::move(reply.message)));
      }
      return {};
    }
    case PacketType::shell_news:
      events_.on_shell_news(TRY(decode_shell_news(packet.body)).shell);
      return {};
    case PacketType::health: events_.on_health(TRY(decode_health(packet.body))); return {};
    case PacketType::leaving:
      events_.on_leaving(TRY(decode_leaving(packet.body)).reason);
      return {};
    default: return {};  // from a later version: ignore it
  }
}

}  // namespace perdure
