// Snapshots: the state comes back whole, or not at all.
#include "wire/snapshot.h"

#include <gtest/gtest.h>

#include "testing/random_fields.h"

namespace perdure {
namespace {

TEST(Snapshot, gives_back_the_state) {
  EXPECT_EQ(decode_snapshot(encode_snapshot(State{})), State{});
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto fill = seed % 2 == 0 ? RandomFields::Fill::full : RandomFields::Fill::some;
    const State state = RandomFields(seed, fill).make<State>();
    const auto decoded = decode_snapshot(encode_snapshot(state));
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message();
    ASSERT_EQ(*decoded, state);
  }
}

TEST(Snapshot, finds_every_flipped_bit_and_every_cut) {
  std::string bytes = encode_snapshot(RandomFields(1).make<State>());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto flip = [&] { bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8)); };
    flip();
    ASSERT_FALSE(decode_snapshot(bytes).has_value());
    flip();
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(decode_snapshot(bytes.substr(0, size)).has_value());
  }
}

TEST(Snapshot, J6_refuses_another_version_and_garbage) {
  std::string bytes = encode_snapshot(State{});
  bytes.replace(bytes.find(" 1 "), 3, " 2 ");
  EXPECT_EQ(decode_snapshot(bytes).error().code(), Code::format_too_new);
  for (const std::string_view garbage :
       {"", "\n", "{}", "perdure-snapshot ", "perdure-snapshot 1\n{}"}) {
    EXPECT_FALSE(decode_snapshot(garbage).has_value()) << garbage;
  }
}

}  // namespace
}  // namespace perdure
