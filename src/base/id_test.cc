// Ids: text and value are one to one, they sort by time, and equal sources give equal ids.
#include "base/id.h"

#include <set>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace perdure {
namespace {

constexpr std::int64_t ms_max = (std::int64_t{1} << 48) - 1;

TEST(Ulid, text_of_known_values) {
  EXPECT_EQ((Ulid{0, 0}).text(), "00000000000000000000000000");
  EXPECT_EQ((Ulid{0, 31}).text(), "0000000000000000000000000z");
  EXPECT_EQ((Ulid{0, 32}).text(), "00000000000000000000000010");
  EXPECT_EQ((Ulid{~0ULL, ~0ULL}).text(), "7zzzzzzzzzzzzzzzzzzzzzzzzz");
  // The time of the ULID specification's own example, 01ARYZ6S41…
  EXPECT_TRUE(Ulid::make({1469918176385}, 0, 0).text().starts_with("01aryz6s41"));
}

TEST(Ulid, the_time_takes_48_bits_and_the_randomness_80) {
  const Ulid ulid = Ulid::make({ms_max}, ~0ULL, ~0ULL);
  EXPECT_EQ(ulid, (Ulid{~0ULL, ~0ULL}));
  EXPECT_EQ(Ulid::make({1}, 0x1234'0000'0000'0000ULL, 0), (Ulid{1ULL << 16, 0}));
}

TEST(Ulid, bad_text_is_refused) {
  const std::string good = "01aryz6s41tsv4rrffq69g5fav";
  ASSERT_TRUE(Ulid::parse(good).has_value());
  EXPECT_EQ(Ulid::parse("").error().code(), Code::invalid_argument);
  EXPECT_FALSE(Ulid::parse(good.substr(1)).has_value());
  EXPECT_FALSE(Ulid::parse(good + "0").has_value());
  EXPECT_FALSE(Ulid::parse("80000000000000000000000000").has_value());  // over 128 bits
  EXPECT_FALSE(Ulid::parse("z0000000000000000000000000").has_value());
  for (const char letter : std::string("ilouA-_ \xff") + '\0') {
    std::string bad = good;
    bad[5] = letter;
    EXPECT_FALSE(Ulid::parse(bad).has_value()) << "letter " << static_cast<int>(letter);
  }
}

RC_GTEST_PROP(UlidProperties, text_round_trip, (std::uint64_t high, std::uint64_t low)) {
  const Ulid ulid{high, low};
  RC_ASSERT((ulid.text().size() == 26U));
  RC_ASSERT((Ulid::parse(ulid.text()) == ulid));
}

RC_GTEST_PROP(UlidProperties, text_sorts_as_the_value, (std::uint64_t a, std::uint64_t b)) {
  const Ulid first{a, b};
  const Ulid second{b, a};
  RC_ASSERT(((first < second) == (first.text() < second.text())));
}

RC_GTEST_PROP(UlidProperties, later_is_greater, (std::uint64_t random_a, std::uint64_t random_b)) {
  const auto ms = *rc::gen::inRange<std::int64_t>(0, ms_max);
  RC_ASSERT(Ulid::make({ms}, random_a, random_b) < Ulid::make({ms + 1}, random_b, random_a));
}

RC_GTEST_PROP(UlidProperties, any_text_parses_to_itself_or_not_at_all, (std::string text)) {
  const auto parsed = Ulid::parse(text);
  RC_ASSERT((!parsed || parsed->text() == text));
}

TEST(Id, the_prefix_is_part_of_the_text) {
  const SessionId session(Ulid::make({1469918176385}, 1, 2));
  EXPECT_TRUE(session.text().starts_with("sess_01aryz6s41"));
  EXPECT_EQ(SessionId::parse(session.text()), session);
  EXPECT_EQ(RunId::parse(session.text()).error().code(), Code::invalid_argument);
  EXPECT_FALSE(SessionId::parse(session.ulid().text()).has_value());
  EXPECT_FALSE(SessionId::parse("sess_").has_value());
  EXPECT_FALSE(SessionId::parse("SESS_" + session.ulid().text()).has_value());
  EXPECT_FALSE(SessionId::parse(session.text() + "\n").has_value());
}

TEST(Id, a_long_bad_id_is_not_repeated_in_whole) {
  const auto bad = SessionId::parse(std::string(100'000, 'x'));
  EXPECT_LT(bad.error().message().size(), 200U);
}

TEST(Id, prefixes_differ_and_no_kind_converts_to_another) {
  const std::set<std::string_view> prefixes{
      TaskId::prefix, SessionId::prefix, RunId::prefix,        ExecId::prefix,
      BootId::prefix, MessageId::prefix, PermissionId::prefix, WaitTokenId::prefix};
  EXPECT_EQ(prefixes.size(), 8U);
  EXPECT_FALSE((std::is_convertible_v<SessionId, RunId>));
  EXPECT_FALSE((std::is_constructible_v<RunId, SessionId>));
  EXPECT_FALSE((std::is_convertible_v<Ulid, RunId>));
}

TEST(Id, null_is_false) {
  EXPECT_FALSE(SessionId());
  EXPECT_TRUE(SessionId().is_null());
  EXPECT_TRUE(SessionId(Ulid{0, 1}));
}

RC_GTEST_PROP(IdSourceProperties, the_same_source_gives_the_same_ids, (std::uint64_t seed)) {
  const auto ms = *rc::gen::inRange<std::int64_t>(0, ms_max);
  IdSource first({ms}, seed);
  IdSource second({ms}, seed);
  std::set<RunId> seen;
  for (int i = 0; i < 100; ++i) {
    const auto id = first.next<RunId>();
    RC_ASSERT((id == second.next<RunId>()));
    RC_ASSERT((id.ulid().high >> 16U == static_cast<std::uint64_t>(ms)));
    RC_ASSERT(seen.insert(id).second);
  }
}

TEST(IdSource, neighbouring_seeds_share_no_id) {
  std::set<Ulid> seen;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    IdSource source({1000}, seed);
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(seen.insert(source.next<RunId>().ulid()).second);
  }
}

}  // namespace
}  // namespace perdure
