// Messages between daemons decode to what was encoded, and a signature is valid only for its own
// letter, path, key and time.
#include "core/wire/peer.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "testing/random_fields.h"

namespace perdure {
namespace {

TEST(WirePeer, submits_and_calls_read_back) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto fill = seed % 2 == 0 ? RandomFields::Fill::full : RandomFields::Fill::some;
    RandomFields random(seed, fill);
    auto submit = random.make<PeerSubmit>();
    auto call = random.make<PeerCall>();
    submit.version = call.version = peer_version;
    EXPECT_EQ(decode_peer_submit(encode_peer_submit(submit)), submit);
    EXPECT_EQ(decode_peer_call(encode_peer_call(call)), call);
  }
}

TEST(WirePeer, refuses_what_is_not_wholly_understood) {
  EXPECT_EQ(decode_peer_call(R"({"v":2})").error().code(), Code::format_too_new);
  EXPECT_EQ(decode_peer_call(R"({"v":1,"urgent":true})").error().code(), Code::format_too_new);
  EXPECT_EQ(decode_peer_call(R"({"v":0})").error().code(), Code::invalid_argument);
  EXPECT_EQ(decode_peer_submit(R"({"v":1,"key":7})").error().code(), Code::invalid_argument);
  EXPECT_EQ(decode_peer_submit("nothing").error().code(), Code::invalid_argument);
}

TEST(WirePeer, a_signature_serves_its_letter_and_no_other) {
  constexpr Timestamp now{.ms = 1'700'000'000'000};
  const Hash body = sha256("the body");
  const std::string value =
      sign_peer_letter("key", {std::string(peer_call_path), "me", now, "once", body});
  const Result<PeerLetter> good = check_peer_header("key", {peer_call_path, "me", value}, now);
  ASSERT_TRUE(good) << good.error().message();
  EXPECT_EQ(good->body_hash, body);
  EXPECT_EQ(good->nonce, "once");
  EXPECT_EQ(good->at, now);
  const auto code = [&](std::string_view key, const PeerHeader& header, Timestamp at) {
    const Result<PeerLetter> checked = check_peer_header(key, header, at);
    EXPECT_FALSE(checked) << header.value;
    return checked ? Code::internal : checked.error().code();
  };
  EXPECT_EQ(code("other", {peer_call_path, "me", value}, now), Code::unauthenticated);
  EXPECT_EQ(code("", {peer_call_path, "me", value}, now), Code::unauthenticated);
  EXPECT_EQ(code("key", {peer_submit_path, "me", value}, now), Code::unauthenticated);
  EXPECT_EQ(code("key", {peer_call_path, "you", value}, now), Code::unauthenticated);
  for (std::size_t i = 0; i < value.size(); ++i) {
    std::string changed = value;
    changed[i] = changed[i] == '1' ? '2' : '1';
    EXPECT_EQ(code("key", {peer_call_path, "me", changed}, now), Code::unauthenticated) << i;
    EXPECT_EQ(code("key", {peer_call_path, "me", value.substr(0, i)}, now), Code::unauthenticated)
        << i;
  }
  const std::string without =
      sign_peer_letter("key", {std::string(peer_call_path), "me", now, "", body});
  EXPECT_EQ(code("key", {peer_call_path, "me", without}, now), Code::unauthenticated);
}

TEST(WirePeer, a_letter_acts_once_and_never_in_a_later_life) {
  constexpr Timestamp now{.ms = 1'700'000'000'000};
  const auto letter = [&](std::string nonce, std::int64_t later_ms) {
    return PeerLetter{.path = {},
                      .receiver = {},
                      .at = {now.ms + later_ms},
                      .nonce = std::move(nonce),
                      .body_hash = {}};
  };
  PeerNonces nonces(now);
  EXPECT_TRUE(nonces.take(letter("a", peer_clock_ms), {.ms = 0}));
  EXPECT_FALSE(nonces.take(letter("a", peer_clock_ms), {.ms = 0}));
  EXPECT_TRUE(nonces.take(letter("b", 0), {.ms = 1}));
  // Signed by a clock that is a minute ahead, it is valid for two minutes.
  EXPECT_FALSE(nonces.take(letter("a", peer_clock_ms), {.ms = 2 * peer_clock_ms - 1}));
  EXPECT_EQ(nonces.take(letter("c", -1), {.ms = 2}).error().code(), Code::unauthenticated);
  for (std::size_t i = 2; i < peer_nonces_max; ++i) {
    ASSERT_TRUE(nonces.take(letter("n" + std::to_string(i), 0), {.ms = 2})) << i;
  }
  EXPECT_EQ(nonces.take(letter("d", 0), {.ms = 2}).error().code(), Code::unavailable);
  EXPECT_TRUE(nonces.take(letter("d", 0), {.ms = 2 * peer_clock_ms + 2}));
}

TEST(WirePeer, a_signature_ages) {
  constexpr Timestamp now{.ms = 1'700'000'000'000};
  const std::string value =
      sign_peer_letter("key", {std::string(peer_submit_path), "me", now, "once", sha256("")});
  const auto is_good = [&](std::int64_t later_ms) {
    return check_peer_header("key", {peer_submit_path, "me", value}, {now.ms + later_ms})
        .has_value();
  };
  EXPECT_TRUE(is_good(peer_clock_ms) && is_good(-peer_clock_ms));
  EXPECT_FALSE(is_good(peer_clock_ms + 1) || is_good(-peer_clock_ms - 1));
}

}  // namespace
}  // namespace perdure
