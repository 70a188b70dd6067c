// Stored bytes: values survive a round trip, and every flipped bit is detected.
#include "store/sqlite/index/codec.h"

#include <random>

#include <gtest/gtest.h>

#include "base/bytes/crc32c.h"
#include "store/sqlite/index/block.h"
#include "store/sqlite/index/extents.h"

namespace perdure {
namespace {

TEST(Crc32c, is_castagnoli_and_both_ways_agree) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 200; ++size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    EXPECT_EQ(crc32c(bytes), crc32c_portable(bytes));
    const std::string_view view(bytes);
    EXPECT_EQ(crc32c(view.substr(size / 2), crc32c(view.substr(0, size / 2))), crc32c(bytes));
  }
}

TEST(Codec, varints_come_back) {
  for (const std::uint64_t value : {0UL, 1UL, 127UL, 128UL, 300UL, 1UL << 40, UINT64_MAX}) {
    std::string bytes;
    append_varint(bytes, value);
    std::string_view rest(bytes);
    std::uint64_t out = 1;
    EXPECT_TRUE(take_varint(rest, out));
    EXPECT_EQ(out, value);
    EXPECT_TRUE(rest.empty());
    rest = std::string_view(bytes).substr(0, bytes.size() - 1);
    EXPECT_FALSE(take_varint(rest, out));
  }
}

TEST(Codec, a_seal_breaks_with_any_bit_of_key_or_payload) {
  const std::string sealed = seal("key", "payload");
  EXPECT_EQ(unseal("key", sealed), "payload");
  EXPECT_FALSE(unseal("kex", sealed));
  for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    std::string flipped = sealed;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(unseal("key", flipped));
  }
}

std::string one_entry(const EntryInput& input) {
  BlockBuilder builder;
  builder.start();
  const std::uint32_t at = builder.add(input);
  const std::string block(builder.finish());
  return block.substr(at, entry_length(std::string_view(block).substr(at)));
}

TEST(Block, X21_an_entry_with_any_flipped_bit_is_damaged) {
  const std::vector<std::string> records = {"first", "", std::string(300, 'x')};
  const EntryInput input{.sid = 7,
                         .first_seq = 1,
                         .records = records,
                         .session = SessionId(Ulid{1, 2}),
                         .cursor = FrameCursor{ExecId(Ulid{3, 4}), 99}};
  const std::string bytes = one_entry(input);
  const auto entry = parse_entry(bytes);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->head.sid, 7U);
  EXPECT_EQ(entry->head.session, input.session);
  EXPECT_EQ(entry->head.cursor, input.cursor);
  EXPECT_EQ(std::vector<std::string>(entry->records.begin(), entry->records.end()), records);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(parse_entry(flipped)) << bit;
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_entry(std::string_view(bytes).substr(0, size)));
  }
}

TEST(Block, an_erased_entry_keeps_its_length_and_no_byte_of_its_records) {
  const std::vector<std::string> records = {"secret", "more secret"};
  std::string bytes = one_entry({.sid = 7, .first_seq = 5, .records = records});
  const std::size_t size = bytes.size();
  erase_entry(bytes);
  EXPECT_EQ(bytes.size(), size);
  EXPECT_EQ(bytes.find("secret"), std::string::npos);
  const auto entry = parse_entry(bytes);
  ASSERT_TRUE(entry);
  EXPECT_TRUE(entry->head.removed);
  EXPECT_EQ(entry->head.first_seq, 5U);
}

TEST(Block, garbage_is_an_error) {
  std::mt19937 random(2);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random() % 100, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    EXPECT_FALSE(parse_entry(bytes));
    EXPECT_FALSE(parse_block_head(bytes));
  }
}

TEST(Extents, come_back_and_know_their_key) {
  const std::vector<EntryRef> refs = {{10, 24, 1}, {10, 400, 3}, {900'000, 0, 64}};
  const std::string packed = pack_extent({.sid = 3, .first_seq = 11}, refs);
  EXPECT_EQ(unpack_extent({.sid = 3, .first_seq = 11}, packed), refs);
  EXPECT_FALSE(unpack_extent({.sid = 4, .first_seq = 11}, packed));
  EXPECT_FALSE(unpack_extent({.sid = 3, .first_seq = 12}, packed));
  EXPECT_EQ(records_in(refs), 68U);
}

}  // namespace
}  // namespace perdure
