// The protocol between a daemon and an agentctl: packets on a byte stream over any transport. A
// packet is a length, a type and a body; docs/protocol/agentctl.md is its contract. This file
// defines only the format; agentctl/supervisor and daemon/hosting define which side may send what
// and when.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/json/fields.h"
#include "base/json/json.h"
#include "base/result.h"
#include "core/session/values.h"

namespace perdure {

// Protocol versions that this build supports, negotiated at every attach (X32).
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
  std::uint64_t epoch = 0;   // of the owner; lower than a previous one: refused
  FrameNo after = 0;         // the last frame that the daemon has
  std::uint64_t window = 0;  // how many frames may be in flight without an ack
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
// Requests one health packet; the agentctl then closes the link. Nothing else changes.
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
  std::string build;  // of the agentctl: a newer daemon asks an older one to exit when idle
  FrameNo first = 0;  // the spool holds first … last
  FrameNo last = 0;
  std::uint64_t acted = 0;  // the highest command executed
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
  std::string code;  // empty: success
  std::string message;
  FIELDS {
    visit("id", self.id);
    visit("result", self.result);
    visit("code", self.code);
    visit("message", self.message);
  }
};
// L23: the capabilities of this executor and its agent, measured where they run.
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

// A shell has unread output or has ended. Sent once until the output is read.
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

// The health as JSON: the reply to both Health and Capabilities.
std::string encode_health(const HealthPacket& packet);

// Decode the body of a packet of that type from any bytes; unknown members are ignored.
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

// A frame packet: its number, then the bytes of core/wire/agentctl/frame.h as in the spool.
void append_frame_packet(std::string& out, FrameNo number, std::string_view frame);
struct NumberedFrame {
  FrameNo number = 0;
  std::string_view frame;
};
Result<NumberedFrame> decode_frame_packet(std::string_view body);

struct Packet {
  PacketType type{};  // may be unknown to this build: then ignored
  std::string_view body;
};

// Splits a stream into packets.
class PacketReader {
 public:
  void feed(std::string_view bytes) { buffer_ += bytes; }
  // The next whole packet; absent if more bytes are needed; limit_reached if a packet is longer
  // than packet_bytes_max, which makes the link unusable. The body is valid until the next call.
  Result<std::optional<Packet>> next();
  std::size_t buffered_bytes() const { return buffer_.size() - at_; }

 private:
  std::string buffer_;
  std::size_t at_ = 0;
};

// The version to speak, or an error that states why the versions do not fit.
struct VersionRange {
  std::int64_t min = 0;
  std::int64_t max = 0;
};
Result<std::int64_t> agree_on_version(VersionRange theirs);

}  // namespace perdure
