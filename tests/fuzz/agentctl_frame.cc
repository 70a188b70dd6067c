// Both ends of the link between daemon and agentctl, and the spool: any bytes are packets or an
// error, however they are cut; every decoded packet encodes and decodes without a difference; and
// bytes appended to a spool do not change its entries.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/json/fields_json.h"
#include "core/wire/agentctl/agentctl.h"
#include "core/wire/agentctl/bootstrap.h"
#include "core/wire/agentctl/effect.h"
#include "core/wire/agentctl/frame.h"
#include "core/wire/agentctl/spool.h"

namespace {

using namespace perdure;

struct Taken {
  PacketType type{};
  std::string body;
  bool operator==(const Taken&) const = default;
};
struct Stream {
  std::vector<Taken> packets;
  bool failed = false;
  bool operator==(const Stream&) const = default;
};

Stream read_in_pieces(std::string_view bytes, std::size_t piece) {
  Stream out;
  PacketReader reader;
  for (std::size_t at = 0; at < bytes.size() && !out.failed; at += piece) {
    reader.feed(bytes.substr(at, piece));
    while (true) {
      const auto packet = reader.next();
      out.failed = !packet;
      if (!packet || !*packet) break;
      out.packets.push_back({(*packet)->type, std::string((*packet)->body)});
    }
  }
  CHECK(reader.buffered_bytes() <= bytes.size());
  return out;
}

template <class T>
void check_decoder(Result<T> (*decode)(std::string_view), std::string_view body) {
  const auto packet = decode(body);
  if (!packet) return;
  const std::string written = encode_fields(*packet);
  const auto again = decode(written);
  CHECK(again.has_value());
  CHECK(encode_fields(*again) == written);
}

void check_frame(std::string_view bytes) {
  const auto frame = decode_frame(bytes);
  if (!frame) return;
  const std::string written = encode_frame(frame->run, frame->body);
  const auto again = decode_frame(written);
  CHECK(again.has_value());
  CHECK(again->run == frame->run);
  CHECK(again->body.index() == frame->body.index());
  CHECK(encode_frame(again->run, again->body) == written);
  // Line breaks between tokens of a stored value become spaces; otherwise it is unchanged.
  if (bytes.find_first_of("\r\n") == std::string_view::npos) CHECK(again->body == frame->body);
}

void check_command(std::string_view bytes) {
  const auto effect = decode_effect(bytes);
  if (!effect) return;
  const auto again = decode_effect(encode_effect(*effect));
  CHECK(again.has_value());
  CHECK(encode_effect(*again) == encode_effect(*effect));
}

void check_body(std::string_view body) {
  check_decoder(decode_attach, body);
  check_decoder(decode_probe, body);
  check_decoder(decode_ack, body);
  check_decoder(decode_stop, body);
  check_decoder(decode_call, body);
  check_decoder(decode_attached, body);
  check_decoder(decode_refused, body);
  check_decoder(decode_acted, body);
  check_decoder(decode_call_reply, body);
  check_decoder(decode_health, body);
  check_decoder(decode_leaving, body);
  check_decoder(decode_shell_news, body);
  check_decoder(decode_bootstrap, body);
  check_decoder(decode_bootstrap_answer, body);
  check_frame(body);
  check_command(body);
  if (const auto numbered = decode_frame_packet(body)) {
    std::string out;
    append_frame_packet(out, numbered->number, numbered->frame);
    CHECK(out.ends_with(body));
    check_frame(numbered->frame);
  }
}

std::size_t count_entries(std::string_view bytes) {
  std::size_t count = 0;
  SpoolWalk walk(bytes, 0);
  while (walk.next()) {
    std::string again;
    append_spool_entry(again, walk.entry().number, walk.entry().payload);
    CHECK(bytes.substr(0, walk.at()).ends_with(again));
    ++count;
  }
  CHECK(walk.at() <= bytes.size());
  CHECK(walk.wanted() == 0 || walk.wanted() > bytes.size() - walk.at());
  CHECK(!walk.next());
  return count;
}

// The input as frames of a spool, cut off at each place that the input names.
void check_spool(std::string_view bytes) {
  count_entries(bytes);
  std::string segment;
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; at < bytes.size() && ends.size() < 8;) {
    const std::size_t length = static_cast<unsigned char>(bytes[at]) % 64;
    append_spool_entry(segment, ends.size() + 1, bytes.substr(at + 1, length));
    ends.push_back(segment.size());
    at += 1 + length;
  }
  CHECK(count_entries(segment) == ends.size());
  if (segment.empty()) return;
  const std::size_t cut = static_cast<unsigned char>(bytes.back()) * segment.size() / 256;
  std::size_t whole = 0;
  while (whole < ends.size() && ends[whole] <= cut) ++whole;
  CHECK(count_entries(std::string_view(segment).substr(0, cut)) == whole);
  segment[cut] = static_cast<char>(segment[cut] ^ (1 << bytes.size() % 8));
  CHECK(count_entries(segment) == whole);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Stream stream = read_in_pieces(bytes, size + 1);
  CHECK(read_in_pieces(bytes, 1) == stream);
  CHECK(read_in_pieces(bytes, 7) == stream);
  std::string written;
  for (const Taken& packet : stream.packets) {
    append_packet(written, packet.type, packet.body);
    check_body(packet.body);
  }
  CHECK(bytes.starts_with(written));
  check_body(bytes);
  check_spool(bytes);
  return 0;
}
