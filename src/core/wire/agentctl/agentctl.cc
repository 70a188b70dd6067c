// Packets: u32 length of the rest, u8 type, body; little-endian. Bodies are JSON objects encoded by
// the field codec, except frames, which have the spool's encoding.
#include "core/wire/agentctl/agentctl.h"

#include <algorithm>

#include "base/bytes/little_endian.h"
#include "base/check.h"
#include "base/json/fields_json.h"
#include "base/limits.h"

namespace perdure {
namespace {

constexpr std::size_t length_bytes = 4;
// A buffer that grew for one large packet is released.
constexpr std::size_t buffer_kept_bytes = 64UL << 10;

void append_heading(std::string& out, PacketType type, std::size_t body_bytes) {
  CHECK(body_bytes < packet_bytes_max, "a packet is too long");
  append_little_endian(out, static_cast<std::uint32_t>(body_bytes + 1));
  out += static_cast<char>(type);
}

template <class T>
void append_fields(std::string& out, PacketType type, const T& packet) {
  append_packet(out, type, encode_fields(packet));
}

template <class T>
Result<T> decode(std::string_view body) {
  auto decoded = decode_fields<T>(body);
  if (!decoded) return std::unexpected(std::move(decoded).error().with_context("packet"));
  return std::move(decoded->value);
}

}  // namespace

void append_packet(std::string& out, PacketType type, std::string_view body) {
  append_heading(out, type, body.size());
  out += body;
}

void append_packet(std::string& out, const AttachPacket& packet) {
  append_fields(out, PacketType::attach, packet);
}
void append_packet(std::string& out, const ProbePacket& packet) {
  append_fields(out, PacketType::probe, packet);
}
void append_packet(std::string& out, const AckPacket& packet) {
  append_fields(out, PacketType::ack, packet);
}
void append_packet(std::string& out, const StopPacket& packet) {
  append_fields(out, PacketType::stop, packet);
}
void append_packet(std::string& out, const CallPacket& packet) {
  append_fields(out, PacketType::call, packet);
}
void append_packet(std::string& out, const AttachedPacket& packet) {
  append_fields(out, PacketType::attached, packet);
}
void append_packet(std::string& out, const RefusedPacket& packet) {
  append_fields(out, PacketType::refused, packet);
}
void append_packet(std::string& out, const ActedPacket& packet) {
  append_fields(out, PacketType::acted, packet);
}
// A reply may be as long as an agent or a file makes it.
void append_packet(std::string& out, const ReplyPacket& packet) {
  std::string body = encode_fields(packet);
  if (body.size() >= packet_bytes_max) {
    body = encode_fields(ReplyPacket{
        .id = packet.id,
        .code = std::string(code_name(Code::too_large)),
        .message = "the answer exceeds " + std::to_string(packet_bytes_max >> 20U) + " MiB"});
  }
  append_packet(out, PacketType::reply, body);
}
void append_packet(std::string& out, const HealthPacket& packet) {
  append_fields(out, PacketType::health, packet);
}
void append_packet(std::string& out, const LeavingPacket& packet) {
  append_fields(out, PacketType::leaving, packet);
}

void append_packet(std::string& out, const ShellNewsPacket& packet) {
  append_fields(out, PacketType::shell_news, packet);
}

std::string encode_health(const HealthPacket& packet) { return encode_fields(packet); }

Result<AttachPacket> decode_attach(std::string_view body) { return decode<AttachPacket>(body); }
Result<ProbePacket> decode_probe(std::string_view body) { return decode<ProbePacket>(body); }
Result<AckPacket> decode_ack(std::string_view body) { return decode<AckPacket>(body); }
Result<StopPacket> decode_stop(std::string_view body) { return decode<StopPacket>(body); }
Result<CallPacket> decode_call(std::string_view body) { return decode<CallPacket>(body); }
Result<AttachedPacket> decode_attached(std::string_view body) {
  return decode<AttachedPacket>(body);
}
Result<RefusedPacket> decode_refused(std::string_view body) { return decode<RefusedPacket>(body); }
Result<ActedPacket> decode_acted(std::string_view body) { return decode<ActedPacket>(body); }
Result<ReplyPacket> decode_call_reply(std::string_view body) { return decode<ReplyPacket>(body); }
Result<HealthPacket> decode_health(std::string_view body) { return decode<HealthPacket>(body); }
Result<LeavingPacket> decode_leaving(std::string_view body) { return decode<LeavingPacket>(body); }
Result<ShellNewsPacket> decode_shell_news(std::string_view body) {
  return decode<ShellNewsPacket>(body);
}

void append_frame_packet(std::string& out, FrameNo number, std::string_view frame) {
  append_heading(out, PacketType::frame, 8 + frame.size());
  append_little_endian(out, number);
  out += frame;
}

Result<NumberedFrame> decode_frame_packet(std::string_view body) {
  if (body.size() < 8) return fail(Code::invalid_argument, "a frame packet is too short");
  return NumberedFrame{read_little_endian<std::uint64_t>(body), body.substr(8)};
}

Result<std::optional<Packet>> PacketReader::next() {
  const std::string_view rest = std::string_view(buffer_).substr(at_);
  const bool knows_length = rest.size() >= length_bytes;
  const std::size_t length = knows_length ? read_little_endian<std::uint32_t>(rest) : 0;
  if (knows_length && (length == 0 || length > packet_bytes_max)) {
    return fail(length == 0 ? Code::invalid_argument : Code::limit_reached,
                "a packet of " + std::to_string(length) + " bytes");
  }
  if (!knows_length || rest.size() < length_bytes + length) {
    // Packets returned earlier are consumed: drop their bytes.
    buffer_.erase(0, at_);
    at_ = 0;
    if (buffer_.empty() && buffer_.capacity() > buffer_kept_bytes) buffer_ = {};
    return std::nullopt;
  }
  at_ += length_bytes + length;
  return Packet{static_cast<PacketType>(rest[length_bytes]),
                rest.substr(length_bytes + 1, length - 1)};
}

Result<std::int64_t> agree_on_version(VersionRange theirs) {
  const std::int64_t version = std::min(theirs.max, agentctl_version_max);
  if (version >= std::max(theirs.min, agentctl_version_min)) return version;
  return fail(Code::format_too_new, "the other side speaks versions " + std::to_string(theirs.min) +
                                        " to " + std::to_string(theirs.max) + ", this one " +
                                        std::to_string(agentctl_version_min) + " to " +
                                        std::to_string(agentctl_version_max));
}

}  // namespace perdure
