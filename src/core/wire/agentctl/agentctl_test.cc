// Packets: every one decodes to what was encoded, a stream may be split anywhere, and any input
// from a peer is a packet or an error that ends only that peer's link.
#include "core/wire/agentctl/agentctl.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/limits.h"
#include "testing/random_fields.h"

namespace perdure {
namespace {

struct Taken {
  PacketType type{};
  std::string body;
  bool operator==(const Taken&) const = default;
};

// All whole packets. To see an error, the caller calls next() again.
std::vector<Taken> take_all(PacketReader& reader) {
  std::vector<Taken> out;
  while (true) {
    const auto packet = reader.next();
    if (!packet || !*packet) return out;
    out.push_back({(*packet)->type, std::string((*packet)->body)});
  }
}

std::vector<Taken> packets_of(std::string_view stream) {
  PacketReader reader;
  reader.feed(stream);
  return take_all(reader);
}

Code code_of(const auto& result) {
  EXPECT_FALSE(result.has_value());
  return result ? Code::internal : result.error().code();
}

template <class T>
struct Coder {
  PacketType type;
  Result<T> (*decode)(std::string_view);
};
const std::tuple coders{Coder<AttachPacket>{PacketType::attach, decode_attach},
                        Coder<ProbePacket>{PacketType::probe, decode_probe},
                        Coder<AckPacket>{PacketType::ack, decode_ack},
                        Coder<StopPacket>{PacketType::stop, decode_stop},
                        Coder<CallPacket>{PacketType::call, decode_call},
                        Coder<AttachedPacket>{PacketType::attached, decode_attached},
                        Coder<RefusedPacket>{PacketType::refused, decode_refused},
                        Coder<ActedPacket>{PacketType::acted, decode_acted},
                        Coder<ReplyPacket>{PacketType::reply, decode_call_reply},
                        Coder<HealthPacket>{PacketType::health, decode_health},
                        Coder<LeavingPacket>{PacketType::leaving, decode_leaving},
                        Coder<ShellNewsPacket>{PacketType::shell_news, decode_shell_news}};

void for_each_coder(auto visit) {
  std::apply([&](const auto&... coder) { (visit(coder), ...); }, coders);
}

template <class T>
void expect_reads_back(const Coder<T>& coder, std::uint64_t seed) {
  const auto fill = seed % 2 == 0 ? RandomFields::Fill::full : RandomFields::Fill::some;
  const T packet = RandomFields(seed, fill).make<T>();
  std::string bytes;
  append_packet(bytes, packet);
  const auto taken = packets_of(bytes);
  ASSERT_EQ(taken.size(), 1U);
  ASSERT_EQ(taken[0].type, coder.type);
  ASSERT_EQ(taken[0].body, encode_fields(packet));
  const auto decoded = coder.decode(taken[0].body);
  ASSERT_TRUE(decoded.has_value()) << taken[0].body << decoded.error().message();
  ASSERT_EQ(encode_fields(*decoded), taken[0].body);
}

TEST(WirePacket, every_type_reads_back) {
  for_each_coder([](const auto& coder) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) expect_reads_back(coder, seed);
  });
}

TEST(WirePacket, members_that_are_not_known_are_passed_over) {
  const auto attach = decode_attach(R"({"later":{"x":[1]},"epoch":7,"after":3,"window":9})");
  ASSERT_TRUE(attach.has_value());
  EXPECT_EQ(attach->epoch, 7U);
  EXPECT_EQ(attach->after, 3U);
  for_each_coder([](const auto& coder) {
    EXPECT_TRUE(coder.decode(R"({"of_a_later_version":null})").has_value());
  });
}

TEST(WirePacket, garbage_is_an_error) {
  for_each_coder([](const auto& coder) {
    for (const std::string_view garbage :
         {"", " ", "[]", "null", "1", "{", "{}x", "\xff", R"({"a":1,"a":1})"}) {
      EXPECT_EQ(code_of(coder.decode(garbage)), Code::invalid_argument) << garbage;
    }
  });
  EXPECT_EQ(code_of(decode_ack(R"({"frame":-1})")), Code::invalid_argument);
  EXPECT_EQ(code_of(decode_ack(R"({"frame":18446744073709551616})")), Code::invalid_argument);
  EXPECT_EQ(code_of(decode_ack(R"({"frame":"1"})")), Code::invalid_argument);
  EXPECT_EQ(code_of(decode_attached(R"({"exec_id":"run_1"})")), Code::invalid_argument);
  EXPECT_EQ(code_of(decode_frame_packet("1234567")), Code::invalid_argument);
}

// Golden bytes: the header, the order of the numbers and the types are the protocol.
TEST(WirePacket, looks_like_this) {
  std::string out;
  append_packet(out, AckPacket{.frame = 7});
  EXPECT_EQ(out, std::string("\x0c\0\0\0\x04{\"frame\":7}", 16));
  out.clear();
  append_packet(out, AttachPacket{.secret = "s", .epoch = 2, .after = 5, .window = 64});
  EXPECT_EQ(out, std::string("\x4f\0\0\0\x01", 5) +
                     R"({"version_min":1,"version_max":1,"secret":"s","epoch":2,"after":5,)"
                     R"("window":64})");
  out.clear();
  append_frame_packet(out, 0x0201, "{}");
  EXPECT_EQ(out, std::string("\x0b\0\0\0\x43\x01\x02\0\0\0\0\0\0{}", 15));
  out.clear();
  append_packet(out, ShellNewsPacket{"sh_3"});
  EXPECT_EQ(out, std::string("\x14\0\0\0\x46{\"shell_id\":\"sh_3\"}", 24));
  out.clear();
  append_packet(out, PacketType::command, "{}");
  EXPECT_EQ(out, std::string("\x03\0\0\0\x03{}", 7));
}

TEST(WirePacket, the_numbers_of_the_types_never_change) {
  const std::vector<std::pair<PacketType, int>> numbers{
      {PacketType::attach, 1},    {PacketType::probe, 2},    {PacketType::command, 3},
      {PacketType::ack, 4},       {PacketType::stop, 5},     {PacketType::call, 6},
      {PacketType::attached, 65}, {PacketType::refused, 66}, {PacketType::frame, 67},
      {PacketType::acted, 68},    {PacketType::reply, 69},   {PacketType::shell_news, 70},
      {PacketType::health, 71},   {PacketType::leaving, 72}};
  for (const auto& [type, number] : numbers) EXPECT_EQ(std::to_underlying(type), number);
}

TEST(WirePacket, frames_are_carried_as_they_are) {
  const std::string any("\0\xff{\n", 4);
  std::string out;
  append_frame_packet(out, UINT64_MAX, any);
  const auto taken = packets_of(out);
  ASSERT_EQ(taken.size(), 1U);
  const auto frame = decode_frame_packet(taken[0].body);
  EXPECT_EQ(frame->number, UINT64_MAX);
  EXPECT_EQ(frame->frame, any);
  EXPECT_EQ(decode_frame_packet(std::string(8, '\0'))->frame, "");
}

std::string sample_stream() {
  std::string stream;
  append_packet(stream, AttachPacket{.secret = "s", .epoch = 1});
  append_packet(stream, static_cast<PacketType>(200), "of a later version");
  append_frame_packet(stream, 1, R"({"v":1,"kind":"plan"})");
  append_packet(stream, PacketType::stop, "");
  append_packet(stream, AckPacket{9});
  return stream;
}

TEST(WirePacketReader, cut_anywhere_it_gives_the_same) {
  const std::string stream = sample_stream();
  const auto whole = packets_of(stream);
  ASSERT_EQ(whole.size(), 5U);
  for (std::size_t first = 0; first <= stream.size(); ++first) {
    PacketReader reader;
    reader.feed(std::string_view(stream).substr(0, first));
    auto taken = take_all(reader);
    reader.feed(std::string_view(stream).substr(first));
    for (Taken& packet : take_all(reader)) taken.push_back(std::move(packet));
    ASSERT_EQ(taken, whole) << first;
    ASSERT_EQ(reader.buffered_bytes(), 0U);
  }
}

RC_GTEST_PROP(WirePacketReaderProperty, pieces_of_any_size_give_the_same, ()) {
  std::string stream;
  std::vector<Taken> packets;
  for (auto count = *rc::gen::inRange(0, 8); count > 0; --count) {
    const auto type = static_cast<PacketType>(*rc::gen::arbitrary<std::uint8_t>());
    packets.push_back({type, *rc::gen::arbitrary<std::string>()});
    append_packet(stream, type, packets.back().body);
  }
  PacketReader reader;
  std::vector<Taken> taken;
  for (std::size_t at = 0; at < stream.size();) {
    const auto bytes = *rc::gen::inRange<std::size_t>(0, 40);
    reader.feed(std::string_view(stream).substr(at, bytes));
    at += bytes;
    if (*rc::gen::inRange(0, 3) == 0) continue;
    for (Taken& packet : take_all(reader)) taken.push_back(std::move(packet));
  }
  for (Taken& packet : take_all(reader)) taken.push_back(std::move(packet));
  RC_ASSERT(taken == packets);
  RC_ASSERT(reader.buffered_bytes() == 0);
}

TEST(WirePacketReader, X25_a_type_of_a_later_version_is_given_as_it_is) {
  std::string stream;
  append_packet(stream, static_cast<PacketType>(250), "what is this");
  EXPECT_EQ(packets_of(stream),
            (std::vector<Taken>{{static_cast<PacketType>(250), "what is this"}}));
}

TEST(WirePacketReader, a_packet_without_a_type_ends_the_link) {
  PacketReader reader;
  std::string stream;
  append_packet(stream, AckPacket{1});
  stream += std::string(4, '\0');
  append_packet(stream, AckPacket{2});
  reader.feed(stream);
  EXPECT_EQ(take_all(reader).size(), 1U);
  EXPECT_EQ(code_of(reader.next()), Code::invalid_argument);
  EXPECT_EQ(code_of(reader.next()), Code::invalid_argument);  // and it stays that way
}

TEST(WirePacketReader, a_packet_that_is_too_long_ends_the_link_before_it_is_read) {
  const auto heading = [](std::size_t length) {
    std::string bytes;
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(length >> (8 * i));
    return bytes;
  };
  for (const std::size_t length : {packet_bytes_max + 1, std::size_t{UINT32_MAX}}) {
    PacketReader reader;
    reader.feed(heading(length));
    EXPECT_EQ(code_of(reader.next()), Code::limit_reached);
  }
  PacketReader reader;
  reader.feed(heading(packet_bytes_max));
  EXPECT_TRUE(reader.next().has_value());
}

TEST(WirePacketReader, takes_the_longest_packet_there_may_be) {
  std::string stream;
  append_packet(stream, PacketType::reply, std::string(packet_bytes_max - 1, 'x'));
  ASSERT_EQ(stream.size(), 4 + packet_bytes_max);
  append_packet(stream, AckPacket{1});
  PacketReader reader;
  for (std::size_t at = 0; at < stream.size(); at += 1UL << 20) {
    reader.feed(std::string_view(stream).substr(at, 1UL << 20));
  }
  const auto first = reader.next();
  ASSERT_TRUE(first.has_value() && *first);
  EXPECT_EQ((*first)->body.size(), packet_bytes_max - 1);
  EXPECT_EQ(take_all(reader).size(), 1U);
}

// The largest frame fits into a packet: otherwise it could be spooled and never sent.
static_assert(frame_bytes_max + 9 <= packet_bytes_max);

TEST(WireVersion, X32_both_sides_speak_the_highest_version_that_they_share) {
  static_assert(agentctl_version_min == 1 && agentctl_version_max == 1);
  EXPECT_EQ(agree_on_version({1, 1}), 1);
  EXPECT_EQ(agree_on_version({1, 7}), 1);
  EXPECT_EQ(agree_on_version({-3, 1}), 1);
  for (const VersionRange none :
       {VersionRange{2, 7}, VersionRange{0, 0}, VersionRange{-5, -1}, VersionRange{1, 0},
        VersionRange{7, 2}, VersionRange{INT64_MAX, INT64_MIN}}) {
    EXPECT_EQ(code_of(agree_on_version(none)), Code::format_too_new) << none.min;
  }
  EXPECT_EQ(agree_on_version({2, 7}).error().message(),
            "the other side speaks versions 2 to 7, this one 1 to 1");
}

TEST(WireHealth, L23_says_what_it_supports_and_nothing_that_it_does_not_know) {
  HealthPacket health{.version = 1, .instance = "i", .agent = "none"};
  EXPECT_EQ(encode_health(health),
            R"({"version":1,"instance":"i","agent":"none","supports_workspace_only":true})");
  health.supports_session_resume = true;
  health.requires_new_session = false;
  EXPECT_TRUE(encode_health(health).contains(
      R"("supports_session_resume":true,"requires_new_session":false)"));
  EXPECT_FALSE(decode_health("{}")->requires_new_session.has_value());
}

}  // namespace
}  // namespace perdure
