// Conformance of the reads: ranges, limits, lists, search.
#include "testing/store/store_conformance_tests.h"

namespace perdure {

namespace {

const SessionId first = conformance_session(1);
const SessionId second = conformance_session(2);

void ranges(ConformanceBench& bench) {
  bench.append({.session = first, .records = records_of("r", 10)});
  struct Case {
    ReadRange range;
    Seq first;
    std::size_t count;
  };
  for (const Case& c :
       {Case{{.after = 0, .limit = 100}, 1, 10}, Case{{.after = 0, .limit = 3}, 1, 3},
        Case{{.after = 4, .limit = 3}, 5, 3}, Case{{.after = 9, .limit = 3}, 10, 1},
        Case{{.after = 10, .limit = 3}, 0, 0}, Case{{.after = 5, .limit = 0}, 0, 0}}) {
    auto page = bench.store().read(first, c.range);
    ASSERT_TRUE(page) << c.range.after;
    EXPECT_EQ(page->first, c.first) << c.range.after;
    ASSERT_EQ(page->records.size(), c.count) << c.range.after;
    for (std::size_t i = 0; i < c.count; ++i) {
      EXPECT_EQ(page->records[i], "r-" + std::to_string(c.first + i));
    }
  }
}

void beyond_the_head(ConformanceBench& bench) {
  bench.append({.session = first, .records = records_of("r", 10)});
  for (Seq after : {Seq{11}, Seq{12}, Seq{1'000'000}, ~Seq{0}}) {
    auto page = bench.store().read(first, {.after = after, .limit = 1});
    ASSERT_FALSE(page) << after;
    EXPECT_EQ(page.error().code(), Code::cursor_invalid) << after;
  }
}

void bytes_max(ConformanceBench& bench) {
  const std::string kilobyte(1000, 'k');
  bench.append({.session = first, .records = std::vector<std::string>(10, kilobyte)});
  auto count = [&](ReadRange range) { return bench.store().read(first, range)->records.size(); };
  EXPECT_EQ(count({.after = 0, .limit = 9, .bytes_max = 0}), 1U);
  EXPECT_EQ(count({.after = 0, .limit = 9, .bytes_max = 1}), 1U);
  EXPECT_EQ(count({.after = 0, .limit = 9, .bytes_max = 1000}), 1U);
  EXPECT_EQ(count({.after = 0, .limit = 9, .bytes_max = 1001}), 2U);
  EXPECT_EQ(count({.after = 7, .limit = 9, .bytes_max = 100'000}), 3U);
  EXPECT_EQ(count({.after = 0, .limit = 2, .bytes_max = 100'000}), 2U);
}

void unknown_things(ConformanceBench& bench) {
  Store& store = bench.store();
  bench.append({.session = second, .records = {"other"}});
  EXPECT_EQ(store.head(first).error().code(), Code::not_found);
  EXPECT_EQ(store.read(first, {.after = 0, .limit = 1}).error().code(), Code::not_found);
  EXPECT_EQ(store.blob(sha256("none")).error().code(), Code::not_found);
  ASSERT_TRUE(store.answer("none"));
  EXPECT_FALSE(store.answer("none")->has_value());
  ASSERT_TRUE(store.find_ref("none"));
  EXPECT_FALSE(store.find_ref("none")->has_value());
  // For an unknown session, both an error and an empty result are right.
  if (auto outbox = store.outbox(first)) EXPECT_TRUE(outbox->empty());
  if (auto snapshot = store.snapshot(first)) EXPECT_FALSE(snapshot->has_value());
}

void an_empty_store(ConformanceBench& bench) {
  EXPECT_TRUE(bench.store().open_sessions()->empty());
  EXPECT_TRUE(bench.store().list(SessionId(), 10)->empty());
  EXPECT_TRUE(bench.store().search({.query = "word", .limit = 10})->empty());
  bench.reopen();
  EXPECT_TRUE(bench.store().open_sessions()->empty());
  bench.crash_reopen();
  EXPECT_TRUE(bench.store().list(SessionId(), 10)->empty());
}

void list_pages(ConformanceBench& bench) {
  constexpr std::uint64_t sessions = 25;
  for (std::uint64_t n = sessions; n >= 1; --n) {
    bench.queue({.session = conformance_session(n),
                 .records = {"r"},
                 .listing = Listing{.open = n % 5 == 0,
                                    .archived = n % 2 == 0,
                                    .updated = Timestamp{static_cast<std::int64_t>(n)},
                                    .summary = "{\"n\":" + std::to_string(n) + "}"}});
  }
  bench.pump();
  SessionId after;
  std::uint64_t expected = 1;
  while (true) {
    auto page = bench.store().list(after, 10);
    ASSERT_TRUE(page);
    ASSERT_LE(page->size(), 10U);
    if (page->empty()) break;
    for (const ListedSession& listed : *page) {
      ASSERT_LE(expected, sessions) << "more than there are";
      EXPECT_EQ(listed.session, conformance_session(expected));
      EXPECT_EQ(listed.listing.updated.ms, static_cast<std::int64_t>(expected));
      EXPECT_EQ(listed.listing.archived, expected % 2 == 0);
      EXPECT_EQ(listed.listing.summary, "{\"n\":" + std::to_string(expected) + "}");
      ++expected;
    }
    after = page->back().session;
  }
  EXPECT_EQ(expected, sessions + 1);
  EXPECT_TRUE(bench.store().list(SessionId(), 0)->empty());
  EXPECT_EQ(bench.store().open_sessions()->size(), 5U);
}

void listings_are_replaced(ConformanceBench& bench) {
  bench.append(
      {.session = first, .records = {"a"}, .listing = Listing{.open = true, .summary = "1"}});
  EXPECT_EQ(*bench.store().open_sessions(), std::vector<SessionId>{first});
  bench.append({.session = first, .expected_head = 1, .records = {"b"}});
  EXPECT_EQ(*bench.store().open_sessions(), std::vector<SessionId>{first});
  bench.append(
      {.session = first, .expected_head = 2, .listing = Listing{.open = false, .summary = "2"}});
  EXPECT_TRUE(bench.store().open_sessions()->empty());
  bench.crash_reopen();
  EXPECT_TRUE(bench.store().open_sessions()->empty());
  EXPECT_EQ(bench.store().list(SessionId(), 9)->at(0).listing.summary, "2");
}

void sessions_without_a_listing_are_listed(ConformanceBench& bench) {
  bench.append({.session = second, .records = {"a"}, .listing = Listing{.summary = "s"}});
  bench.append({.session = first, .records = {"a"}});
  auto listed = bench.store().list(SessionId(), 9);
  ASSERT_EQ(listed->size(), 2U);
  EXPECT_EQ(listed->at(0).session, first);
  EXPECT_TRUE(listed->at(0).listing == Listing{});
}

void search_finds_the_newest_first(ConformanceBench& bench) {
  bench.append({.session = first, .records = {"alpha needle beta", "nothing here"}});
  bench.append({.session = second, .records = {"another needle"}});
  bench.append({.session = first, .expected_head = 2, .records = {"the needle again"}});
  auto hits = bench.store().search({.query = "needle", .limit = 10});
  ASSERT_TRUE(hits);
  ASSERT_EQ(hits->size(), 3U);
  EXPECT_EQ(hits->at(0).session, first);
  EXPECT_EQ(hits->at(0).seq, 3U);
  EXPECT_EQ(hits->at(1).session, second);
  EXPECT_EQ(hits->at(2).seq, 1U);
  EXPECT_TRUE(hits->at(2).snippet.contains("\x02needle\x03")) << hits->at(2).snippet;
  EXPECT_EQ(bench.store().search({.query = "needle", .limit = 2})->size(), 2U);
  EXPECT_TRUE(bench.store().search({.query = "absent", .limit = 10})->empty());
  // Any text that a person types is a query, not an error.
  for (const char* query : {"", "\"", "*", "a OR", "NEAR(", "col:x", "-", "'; --"}) {
    EXPECT_TRUE(bench.store().search({.query = query, .limit = 5})) << query;
  }
  bench.crash_reopen();
  bench.pump();
  EXPECT_EQ(bench.store().search({.query = "needle", .limit = 10})->size(), 3U);
  ASSERT_TRUE(bench.store().remove(first));
  bench.pump();
  EXPECT_EQ(bench.store().search({.query = "needle", .limit = 10})->size(), 1U);
}

constexpr ConformanceTest tests[] = {
    {"Ranges", ranges},
    {"STREAM3_BeyondTheHeadIsRefused", beyond_the_head},
    {"BytesMaxStopsBehindTheRecordThatReachesIt", bytes_max},
    {"UnknownThings", unknown_things},
    {"AnEmptyStore", an_empty_store},
    {"ListPagesInIdOrder", list_pages},
    {"ListingsAreReplaced", listings_are_replaced},
    {"SessionsWithoutAListingAreListed", sessions_without_a_listing_are_listed},
    {"SearchFindsTheNewestFirst", search_finds_the_newest_first},
};

}  // namespace

std::span<const ConformanceTest> conformance_read_tests() { return tests; }

}  // namespace perdure
