// Hashes compared with published vectors (FIPS 180-4's examples, RFC 4231), and their text form.
#include "base/bytes/hash.h"

#include <array>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace perdure {
namespace {

TEST(Sha256, known_vectors) {
  EXPECT_EQ(sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc").hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").hex(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')).hex(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, one_context_serves_many_messages) {
  const Hash before = sha256("abc");
  for (int i = 0; i < 100; ++i) (void)sha256(std::string(static_cast<std::size_t>(i), 'x'));
  EXPECT_EQ(sha256("abc"), before);
  EXPECT_NE(sha256(std::string("a\0b", 3)), sha256("a"));
}

TEST(Sha256, what_comes_in_pieces_has_the_hash_of_the_whole) {
  Sha256 pieces;
  pieces.add("a");
  pieces.add("");
  Sha256 moved = std::move(pieces);
  moved.add("bc");
  EXPECT_EQ(moved.take(), sha256("abc"));
  EXPECT_EQ(Sha256().take(), sha256(""));
}

TEST(HmacSha256, known_vectors) {
  EXPECT_EQ(hmac_sha256(std::string(20, '\x0b'), "Hi There").hex(),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac_sha256("Jefe", "what do ya want for nothing?").hex(),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac_sha256(std::string(131, '\xaa'),
                        "Test Using Larger Than Block-Size Key - Hash Key First")
                .hex(),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(hmac_sha256("", "").hex(),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(Hash, text_is_64_lower_case_digits_and_nothing_else) {
  const std::string good = sha256("abc").hex();
  EXPECT_EQ(Hash::parse_hex(good), sha256("abc"));
  EXPECT_FALSE(Hash::parse_hex("").has_value());
  EXPECT_FALSE(Hash::parse_hex(good.substr(1)).has_value());
  EXPECT_FALSE(Hash::parse_hex(good + "0").has_value());
  for (const char letter : std::string("gG:/BAF \xff") + '\0') {
    std::string bad = good;
    bad[10] = letter;
    EXPECT_EQ(Hash::parse_hex(bad).error().code(), Code::invalid_argument);
  }
}

TEST(Hash, constant_time_comparison_sees_every_bit) {
  const Hash hash = sha256("abc");
  EXPECT_TRUE(equal_constant_time(hash, hash));
  for (std::size_t bit = 0; bit < 256; ++bit) {
    Hash flipped = hash;
    flipped.bytes[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
    EXPECT_FALSE(equal_constant_time(hash, flipped)) << bit;
  }
}

RC_GTEST_PROP(HashProperties, hex_round_trip, ()) {
  Hash hash;
  for (unsigned char& byte : hash.bytes) byte = *rc::gen::arbitrary<unsigned char>();
  RC_ASSERT((hash.hex().size() == 64U));
  RC_ASSERT((Hash::parse_hex(hash.hex()) == hash));
}

}  // namespace
}  // namespace perdure
