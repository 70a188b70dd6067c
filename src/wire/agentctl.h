// The protocol between a daemon and an agentctl: packets on one stream of bytes, whatever carries
// it. A packet is a length, a type and a body; docs/protocol/agentctl.md is its contract. Here is
// only form: who may send what when is the business of supervisor/ and executors/.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "base/json.h"
#include "base/result.h"
#include "session/values.h"

namespace perdure {

// Versions of the protocol that this build speaks. They are agreed on at every attach (X32).
inline constexpr std::int64_t agentctl_version_min = 1;
inline constexpr std::int64_t agentctl_version_max = 1;

enum class PacketType : std::uint8_t {
  // To the agentctl.
  attach = 1,
  probe = 2,
  command = 3,
  ack = 4,
  stop = 5,
  call = 6,
  // From the agentctl.
  attached = 65,
  refused = 66,
  frame = 67,
  acted = 68,
  reply = 69,
  shell_news = 70,
  health = 71,
  leaving = 72,
};

// The first packet of a daemon that wants to own the agentctl.
struct AttachPacket {
  std::int64_t version_min = agentctl_version_min;
  std::int64_t version_max = agentctl_version_max;
  std::string secret;
  std::uint64_t epoch = 0;   // of the owner; a lower one than the last is refused
  FrameNo after = 0;         // the last frame that the daemon has
  std::uint64_t window = 0;  // how many frames may be on their way without an ack
  BootId boot;
  FIELDS {
    visit("version_min", self.version_min);
    visit("version_max", self.version_max);
    visit("secret", self.secret);
    visit("epoch", self.epoch);
    visit("after", self.after);
    visit("window", self.window);
    visit("boot_id", self.boot);
  }
};
// Asks for one health packet; the agentctl then closes the link. Nothing else changes.
struct ProbePacket {
  std::int64_t version_min = agentctl_version_min;
  std::int64_t version_max = agentctl_version_max;
  std::string secret;
  FIELDS {
    visit("version_min", self.version_min);
    visit("version_max", self.version_max);
    visit("secret", self.secret);
  }
};
struct AckPacket {
  FrameNo frame = 0;
  FIELDS { visit("frame", self.frame); }
};
struct StopPacket {
  std::string reason;
  FIELDS { visit("reason", self.reason); }
};
struct CallPacket {
  std::uint64_t id = 0;
  std::string method;
  RawJson params;
  FIELDS {
    visit("id", self.id);
    visit("method", self.method);
    visit("params", self.params);
  }
};
struct AttachedPacket {
  std::int64_t version = 0;
  std::string instance;
  ExecId exec;
  SessionId session;
  Gen gen = 0;
  std::int64_t pid = 0;
  std::int64_t pid_started = 0;
  std::string host_boot;
  std::string build;  // of the agentctl: a newer daemon asks an older one to leave when idle
  FrameNo first = 0;  // the spool holds first … last
  FrameNo last = 0;
  std::uint64_t acted = 0;  // the highest command acted on
  FIELDS {
    visit("version", self.version);
    visit("instance", self.instance);
    visit("exec_id", self.exec);
    visit("session_id", self.session);
    visit("gen", self.gen);
    visit("pid", self.pid);
    visit("pid_started", self.pid_started);
    visit("host_boot", self.host_boot);
    visit("build", self.build);
    visit("first", self.first);
    visit("last", self.last);
    visit("acted", self.acted);
  }
};
struct RefusedPacket {
  std::string code;  // of base/result.h
  std::string message;
  FIELDS {
    visit("code", self.code);
    visit("message", self.message);
  }
};
struct ActedPacket {
  std::uint64_t number = 0;
  FIELDS { visit("number", self.number); }
};
struct ReplyPacket {
  std::uint64_t id = 0;
  RawJson result;
  std::string code;  // empty: it went well
  std::string message;
  FIELDS {
    visit("id", self.id);
    visit("result", self.result);
    visit("code", self.code);
    visit("message", self.message);
  }
};
// L23: what this executor and its agent can do, measured where it was.
struct HealthPacket {
  std::int64_t version = 0;
  std::string instance;
  ExecId exec;
  Gen gen = 0;
  std::string build;
  std::string agent;  // none, starting, ready, busy, stopping, failed
  bool attached = false;
  bool supports_workspace_only = true;
  bool supports_session_resume = false;
  std::optional<bool> requires_new_session;  // derived; absent before an agent answered
  std::uint64_t frames_unacked = 0;
  std::uint64_t spool_bytes = 0;
  std::uint64_t shells = 0;
  std::int64_t uptime_ms = 0;
  FIELDS {
    visit("version", self.version);
    visit("instance", self.instance);
    visit("exec_id", self.exec);
    visit("gen", self.gen);
    visit("build", self.build);
    visit("agent", self.agent);
    visit("attached", self.attached);
    visit("supports_workspace_only", self.supports_workspace_only);
    visit("supports_session_resume", self.supports_session_resume);
    visit("requires_new_session", self.requires_new_session);
    visit("frames_unacked", self.frames_unacked);
    visit("spool_bytes", self.spool_bytes);
    visit("shells", self.shells);
    visit("uptime_ms", self.uptime_ms);
  }
};
struct LeavingPacket {
  std::string reason;
  FIELDS { visit("reason", self.reason); }
};

// A shell has output that was not read yet, or has ended. Told once until it is read.
struct ShellNewsPacket {
  std::string shell;
  FIELDS { visit("shell_id", self.shell); }
};

// Appends one packet.
void append_packet(std::string& out, PacketType type, std::string_view body);
void append_packet(std::string& out, const AttachPacket& packet);
void append_packet(std::string& out, const ProbePacket& packet);
void append_packet(std::string& out, const AckPacket& packet);
void append_packet(std::string& out, const StopPacket& packet);
void append_packet(std::string& out, const CallPacket& packet);
void append_packet(std::string& out, const AttachedPacket& packet);
void append_packet(std::string& out, const RefusedPacket& packet);
void append_packet(std::string& out, const ActedPacket& packet);
void append_packet(std::string& out, const ReplyPacket& packet);
void append_packet(std::string& out, const HealthPacket& packet);
void append_packet(std::string& out, const LeavingPacket& packet);
void append_packet(std::string& out, const ShellNewsPacket& packet);

// The health as JSON: the same answer to the calls Health and Capabilities.
std::string encode_health(const HealthPacket& packet);

// Takes the body of a packet of that type, any bytes; members that are not known are passed over.
Result<AttachPacket> decode_attach(std::string_view body);
Result<ProbePacket> decode_probe(std::string_view body);
Result<AckPacket> decode_ack(std::string_view body);
Result<StopPacket> decode_stop(std::string_view body);
Result<CallPacket> decode_call(std::string_view body);
Result<AttachedPacket> decode_attached(std::string_view body);
Result<RefusedPacket> decode_refused(std::string_view body);
Result<ActedPacket> decode_acted(std::string_view body);
Result<ReplyPacket> decode_call_reply(std::string_view body);
Result<HealthPacket> decode_health(std::string_view body);
Result<LeavingPacket> decode_leaving(std::string_view body);
Result<ShellNewsPacket> decode_shell_news(std::string_view body);

// A frame packet: its number, then the bytes of wire/frame.h as the spool has them.
void append_frame_packet(std::string& out, FrameNo number, std::string_view frame);
struct NumberedFrame {
  FrameNo number = 0;
  std::string_view frame;
};
Result<NumberedFrame> decode_frame_packet(std::string_view body);

struct Packet {
  PacketType type{};  // may be one that this build does not know: to be ignored
  std::string_view body;
};

// Cuts a stream into packets.
class PacketReader {
 public:
  void feed(std::string_view bytes) { buffer_ += bytes; }
  // The next whole packet, nothing when more bytes are needed, limit_reached when a packet is
  // longer than packet_bytes_max: the link is then of no more use. The body is valid until the next
  // call.
  Result<std::optional<Packet>> next();
  std::size_t buffered_bytes() const { return buffer_.size() - at_; }

 private:
  std::string buffer_;
  std::size_t at_ = 0;
};

// Says why the other side's versions do not fit, or the version to speak.
struct VersionRange {
  std::int64_t min = 0;
  std::int64_t max = 0;
};
Result<std::int64_t> agree_on_version(VersionRange theirs);

}  // namespace perdure
