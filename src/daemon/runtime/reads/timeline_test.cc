// How records are counted over time, and which past states are kept.
#include "daemon/runtime/reads/timeline.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "core/wire/journal/record.h"
#include "daemon/runtime/reads/past.h"

namespace perdure {
namespace {

constexpr std::int64_t begin_ms = 1'763'000'000'000;

void add(Timeline& timeline, Seq seq, std::int64_t ms, EventBody body = RunResumed{}) {
  const Event event{.at = {begin_ms + ms}, .body = std::move(body)};
  ASSERT_TRUE(timeline.add(seq, encode_record(seq, {}, event)));
}

std::uint64_t total(const std::vector<Timeline::Bucket>& buckets) {
  std::uint64_t sum = 0;
  for (const Timeline::Bucket& bucket : buckets) sum += bucket.records;
  return sum;
}

TEST(Timeline, counts_each_record_where_it_fell) {
  Timeline timeline;
  add(timeline, 1, 0, MessageUser{});
  add(timeline, 2, 10);
  add(timeline, 3, 5'000);
  add(timeline, 4, 9'900, RunFailed{});
  const auto buckets = timeline.density({{begin_ms}, {begin_ms + 10'000}}, 10);
  ASSERT_EQ(buckets.size(), 10U);
  EXPECT_EQ(buckets[0].records, 2U);
  EXPECT_EQ(buckets[0].last_seq, 2U);
  EXPECT_EQ(buckets[5].first_seq, 3U);
  EXPECT_EQ(buckets[9].records, 1U);
  EXPECT_EQ(total(buckets), 4U);
  ASSERT_EQ(timeline.marks().size(), 2U);
  EXPECT_EQ(timeline.marks()[0].kind, MarkKind::prompt);
  EXPECT_EQ(timeline.marks()[1].kind, MarkKind::failure);
}

TEST(Timeline, a_record_given_twice_counts_once) {
  Timeline timeline;
  add(timeline, 1, 0);
  add(timeline, 1, 0);
  add(timeline, 2, 0);
  add(timeline, 1, 0);
  EXPECT_EQ(timeline.last(), 2U);
  EXPECT_EQ(total(timeline.density({{begin_ms}, {begin_ms}}, 4)), 2U);
}

TEST(Timeline, long_sessions_lose_fineness_and_no_record) {
  Timeline timeline;
  const Seq records = 3 * timeline_moments_max;
  for (Seq seq = 1; seq <= records; ++seq) add(timeline, seq, static_cast<std::int64_t>(seq) * 700);
  const auto span =
      Timeline::Span{{begin_ms}, {begin_ms + static_cast<std::int64_t>(records) * 700}};
  const auto buckets = timeline.density(span, 50);
  EXPECT_EQ(total(buckets), records);
  for (std::size_t i = 1; i < buckets.size(); ++i) {
    EXPECT_EQ(buckets[i].first_seq, buckets[i - 1].last_seq + 1);
  }
}

TEST(Timeline, a_clock_that_jumps_to_and_fro_stays_bounded_and_counts_all) {
  Timeline timeline;
  const Seq records = 2 * timeline_moments_max + 7;
  for (Seq seq = 1; seq <= records; ++seq) add(timeline, seq, seq % 2 == 0 ? 0 : 1LL << 40U);
  EXPECT_EQ(total(timeline.density({{begin_ms}, {begin_ms + 1000}}, 5)), records);
}

TEST(StateMarks, keeps_a_bounded_number_and_finds_the_last_before) {
  StateMarks marks;
  EXPECT_EQ(marks.before(7).seq, 0U);
  for (Seq seq = 1; seq <= 1'000'000; ++seq) {
    if (seq % 1024 != 0) continue;
    State state;
    state.head = seq;
    marks.offer(seq, state);
  }
  EXPECT_LE(marks.size(), past_states_max);
  EXPECT_GE(marks.size(), past_states_max / 3);
  const StateMarks::At found = marks.before(500'000);
  EXPECT_LE(found.seq, 500'000U);
  EXPECT_GT(found.seq, 460'000U);
  EXPECT_EQ(found.state.head, found.seq);
}

}  // namespace
}  // namespace perdure
