// Times: text and number are one to one over years 0000 to 9999; a deadline runs on the boot clock
// within a host boot and on the wall clock after, and never gives more than was granted.
#include "base/time.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace perdure {
namespace {

constexpr std::int64_t first_ms = -62'167'219'200'000;  // 0000-01-01T00:00:00.000Z
constexpr std::int64_t last_ms = 253'402'300'799'999;   // 9999-12-31T23:59:59.999Z

TEST(Timestamp, known_moments) {
  EXPECT_EQ(format_timestamp({0}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_timestamp({-1}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_timestamp({951'782'400'000}), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(format_timestamp({1'794'745'615'123}), "2026-11-15T12:26:55.123Z");
  EXPECT_EQ(format_timestamp({first_ms}), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(format_timestamp({last_ms}), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(parse_timestamp("2038-01-19T03:14:08.000Z"), (Timestamp{2'147'483'648'000}));
}

TEST(Timestamp, leap_years_have_a_29_february_and_others_do_not) {
  for (const char* year : {"0000", "0004", "2000", "2024", "2400"}) {
    EXPECT_TRUE(parse_timestamp(std::string(year) + "-02-29T12:00:00.000Z").has_value()) << year;
  }
  for (const char* year : {"0001", "1900", "2023", "2100", "2200"}) {
    EXPECT_FALSE(parse_timestamp(std::string(year) + "-02-29T12:00:00.000Z").has_value()) << year;
  }
}

TEST(Timestamp, bad_text_is_refused) {
  for (const char* bad : {"",
                          "2026",
                          "2026-11-15T12:26:55Z",
                          "2026-11-15T12:26:55.123",
                          "2026-11-15t12:26:55.123z",
                          "2026-11-15 12:26:55.123Z",
                          "2026-00-15T12:26:55.123Z",
                          "2026-13-15T12:26:55.123Z",
                          "2026-11-00T12:26:55.123Z",
                          "2026-11-31T12:26:55.123Z",
                          "2026-04-31T12:26:55.123Z",
                          "2026-11-15T24:00:00.000Z",
                          "2026-11-15T12:60:55.123Z",
                          "2026-11-15T12:26:60.123Z",
                          "2026-11-15T12:26:55.12xZ",
                          "+026-11-15T12:26:55.123Z",
                          "-001-11-15T12:26:55.123Z",
                          "2026-11-15T12:26:55.1234Z",
                          "2026-11-15T12:26:55.123+00:00",
                          "2026-1 -15T12:26:55.123Z"}) {
    const auto parsed = parse_timestamp(bad);
    ASSERT_FALSE(parsed.has_value()) << bad;
    EXPECT_EQ(parsed.error().code(), Code::invalid_argument);
  }
}

TEST(Timestamp, every_day_of_400_years_round_trips_and_follows_the_one_before) {
  std::string before;
  for (std::int64_t day = 0; day < 146'097; ++day) {
    const Timestamp at{day * 86'400'000};
    const std::string text = format_timestamp(at);
    ASSERT_EQ(parse_timestamp(text), at) << text;
    ASSERT_LT(before, text);
    before = text;
  }
}

TEST(Timestamp, numbers_beyond_the_years_do_not_overflow) {
  EXPECT_EQ(format_timestamp({std::numeric_limits<std::int64_t>::min()}).size(), 24U);
  EXPECT_EQ(format_timestamp({std::numeric_limits<std::int64_t>::max()}).size(), 24U);
}

RC_GTEST_PROP(TimestampProperties, round_trip_and_order, ()) {
  const Timestamp a{*rc::gen::inRange<std::int64_t>(first_ms, last_ms + 1)};
  const Timestamp b{*rc::gen::inRange<std::int64_t>(first_ms, last_ms + 1)};
  RC_ASSERT((parse_timestamp(format_timestamp(a)) == a));
  RC_ASSERT(((a < b) == (format_timestamp(a) < format_timestamp(b))));
}

RC_GTEST_PROP(TimestampProperties, any_text_parses_to_itself_or_not_at_all, ()) {
  std::string text = format_timestamp({*rc::gen::inRange<std::int64_t>(first_ms, last_ms + 1)});
  text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
  const auto parsed = parse_timestamp(text);
  RC_ASSERT((!parsed || format_timestamp(*parsed) == text));
}

Moment moment(std::int64_t wall_ms, std::int64_t boot_ms, std::string host_boot) {
  return {{wall_ms}, {boot_ms}, std::move(host_boot)};
}

TEST(Deadline, X23_within_a_host_boot_the_wall_clock_does_not_matter) {
  const Deadline deadline = Deadline::after(moment(1'000'000, 5'000, "a"), 60'000);
  EXPECT_EQ(deadline.remaining_ms(moment(1'000'000, 5'000, "a")), 60'000);
  EXPECT_EQ(deadline.remaining_ms(moment(1'010'000, 15'000, "a")), 50'000);
  // Set back an hour, and forward an hour: the remaining time is unaffected.
  EXPECT_EQ(deadline.remaining_ms(moment(1'010'000 - 3'600'000, 15'000, "a")), 50'000);
  EXPECT_EQ(deadline.remaining_ms(moment(1'010'000 + 3'600'000, 15'000, "a")), 50'000);
}

TEST(Deadline, X23_suspended_time_counts) {
  const Deadline deadline = Deadline::after(moment(1'000'000, 5'000, "a"), 60'000);
  EXPECT_EQ(deadline.remaining_ms(moment(1'000'100, 5'000 + 8 * 3'600'000, "a")), 0);
}

TEST(Deadline, X23_after_a_reboot_the_wall_clock_decides) {
  const Deadline deadline = Deadline::after(moment(1'000'000, 5'000'000, "a"), 60'000);
  EXPECT_EQ(deadline.remaining_ms(moment(1'020'000, 100, "b")), 40'000);
  EXPECT_EQ(deadline.remaining_ms(moment(1'060'000, 100, "b")), 0);
  EXPECT_EQ(deadline.remaining_ms(moment(9'000'000, 100, "b")), 0);
}

TEST(Deadline, X23_a_reboot_with_the_clock_set_back_gives_no_more_than_was_granted) {
  const Deadline deadline = Deadline::after(moment(1'000'000, 5'000, "a"), 60'000);
  EXPECT_EQ(deadline.remaining_ms(moment(0, 100, "b")), 60'000);
}

TEST(Deadline, X23_a_boot_clock_that_went_back_gives_no_more_than_was_granted) {
  const Deadline deadline = Deadline::after(moment(1'000'000, 5'000, "a"), 60'000);
  EXPECT_EQ(deadline.remaining_ms(moment(1'000'000, 0, "a")), 60'000);
}

TEST(Deadline, a_grant_of_nothing_or_less_has_passed) {
  const Moment now = moment(1'000, 10, "a");
  EXPECT_EQ(Deadline::after(now, 0).remaining_ms(now), 0);
  EXPECT_EQ(Deadline::after(now, -5).remaining_ms(now), 0);
}

TEST(Deadline, a_grant_beyond_all_time_does_not_overflow) {
  const Moment now = moment(1'794'745'615'123, 10, "a");
  const Deadline deadline = Deadline::after(now, std::numeric_limits<std::int64_t>::max());
  EXPECT_GT(deadline.remaining_ms(now), last_ms);
  EXPECT_EQ(Deadline::after(now, 1).remaining_ms(now), 1);
  EXPECT_GT(deadline.remaining_ms(moment(1'794'745'615'123, 10, "b")), 0);
}

RC_GTEST_PROP(DeadlineProperties, any_stored_bytes_give_a_remaining_time_within_the_grant,
              (std::int64_t wall_ms, std::int64_t granted_ms, std::int64_t boot_ms,
               std::int64_t now_wall_ms, std::int64_t now_boot_ms)) {
  const Deadline deadline{{wall_ms}, granted_ms, {boot_ms}, "a"};
  for (const char* boot : {"a", "b"}) {
    const std::int64_t left = deadline.remaining_ms(moment(now_wall_ms, now_boot_ms, boot));
    RC_ASSERT(left >= 0);
    RC_ASSERT(left <= std::max<std::int64_t>(granted_ms, 0));
  }
}

RC_GTEST_PROP(DeadlineProperties, X23_never_negative_never_more_than_granted, ()) {
  const auto any = rc::gen::inRange<std::int64_t>(-last_ms, last_ms);
  const std::int64_t granted_ms = *any;
  const Deadline deadline = Deadline::after(moment(*any, *any, "a"), granted_ms);
  const std::string boot = *rc::gen::element<std::string>("a", "b");
  const std::int64_t left = deadline.remaining_ms(moment(*any, *any, boot));
  RC_ASSERT(left >= 0);
  RC_ASSERT(left <= std::max<std::int64_t>(granted_ms, 0));
}

}  // namespace
}  // namespace perdure
