// Conformance of append(): numbers, refusals, order, groups.
#include <algorithm>

#include "base/limits.h"
#include "testing/store/store_conformance_tests.h"

namespace perdure {

namespace {

const SessionId first = conformance_session(1);
const SessionId second = conformance_session(2);

// A batch with one of everything, to check that a refused one leaves nothing.
Append laden_batch(SessionId session, Seq expected_head, const std::string& name) {
  return {.session = session,
          .expected_head = expected_head,
          .records = records_of(name, 2),
          .outbox_add = {{100 + expected_head, "effect " + name}},
          .cursor = FrameCursor{conformance_exec(9), 9},
          .answers = {{.key = "key " + name, .answer = "answer"}},
          .refs = {"ref " + name},
          .blobs = {blob_of("blob " + name)},
          .snapshot = "snapshot " + name,
          .listing = Listing{.open = true, .updated = Timestamp{5}, .summary = name}};
}

void expect_nothing_of(Store& store, const std::string& name) {
  EXPECT_FALSE(store.answer("key " + name)->has_value());
  EXPECT_FALSE(store.find_ref("ref " + name)->has_value());
  EXPECT_FALSE(store.blob(sha256("blob " + name)));
}

void records_are_numbered(ConformanceBench& bench) {
  EXPECT_EQ(bench.append({.session = first, .records = records_of("a", 3)}), std::nullopt);
  EXPECT_EQ(bench.append({.session = first, .expected_head = 3, .records = records_of("b", 2)}),
            std::nullopt);
  EXPECT_EQ(bench.head(first), 5U);
  auto page = bench.store().read(first, {.after = 0, .limit = 100});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->first, 1U);
  EXPECT_EQ(page->records, (std::vector<std::string>{"a-1", "a-2", "a-3", "b-1", "b-2"}));
}

void nothing_happens_before_the_writer_runs(ConformanceBench& bench) {
  const std::size_t number = bench.queue({.session = first, .records = {"a"}});
  EXPECT_EQ(bench.runs(number), 0);
  EXPECT_EQ(bench.store().head(first).error().code(), Code::not_found);
  bench.pump();
  EXPECT_EQ(bench.runs(number), 1);
  EXPECT_EQ(bench.head(first), 1U);
}

void a_wrong_head_is_a_conflict(ConformanceBench& bench) {
  EXPECT_EQ(bench.append(laden_batch(first, 1, "early")), Code::conflict);
  EXPECT_EQ(bench.store().head(first).error().code(), Code::not_found);
  expect_nothing_of(bench.store(), "early");
  EXPECT_EQ(bench.append({.session = first, .records = records_of("a", 3)}), std::nullopt);
  for (Seq wrong : {0, 1, 2, 4, 1000}) {
    EXPECT_EQ(bench.append(laden_batch(first, wrong, "wrong")), Code::conflict) << wrong;
  }
  EXPECT_EQ(bench.head(first), 3U);
  EXPECT_TRUE(bench.store().outbox(first)->empty());
  EXPECT_FALSE(bench.store().snapshot(first)->has_value());
  EXPECT_TRUE(bench.store().open_sessions()->empty());
  EXPECT_EQ(bench.store().head(first)->cursor, std::nullopt);
  expect_nothing_of(bench.store(), "wrong");
  bench.crash_reopen();
  EXPECT_EQ(bench.head(first), 3U);
  expect_nothing_of(bench.store(), "wrong");
}

void a_lower_epoch_is_stale(ConformanceBench& bench) {
  const std::uint64_t before = bench.store().epoch();
  EXPECT_EQ(bench.append({.session = first, .records = {"a"}}), std::nullopt);
  bench.reopen();
  ASSERT_GT(bench.store().epoch(), before);
  Append stale = laden_batch(first, 1, "stale");
  stale.epoch = before;
  EXPECT_EQ(bench.append_as_is(stale), Code::stale_owner);
  EXPECT_EQ(bench.head(first), 1U);
  expect_nothing_of(bench.store(), "stale");
  EXPECT_EQ(bench.append({.session = first, .expected_head = 1, .records = {"b"}}), std::nullopt);
}

void a_null_session_is_refused(ConformanceBench& bench) {
  EXPECT_EQ(bench.append({.records = {"a"}}), Code::invalid_argument);
  EXPECT_TRUE(bench.store().list(SessionId(), 10)->empty());
}

void dones_run_once_and_in_order(ConformanceBench& bench) {
  std::vector<std::size_t> numbers;
  for (Seq head = 0; head < 50; ++head) {
    for (SessionId session : {first, second}) {
      numbers.push_back(bench.queue({.session = session, .expected_head = head, .records = {"r"}}));
    }
    if (head % 7 == 0) bench.pump();
  }
  bench.pump();
  for (std::size_t number : numbers) EXPECT_EQ(bench.runs(number), 1);
  // In order per session: even numbers are the first's, odd ones the second's.
  for (std::size_t parity : {0, 1}) {
    std::vector<std::size_t> of_session;
    for (std::size_t number : bench.order()) {
      if (number % 2 == parity) of_session.push_back(number);
    }
    EXPECT_TRUE(std::ranges::is_sorted(of_session));
  }
}

void a_done_may_append_and_read(ConformanceBench& bench) {
  Store& store = bench.store();
  int taken = 0;
  Seq seen = 0;
  store.append({.session = first, .epoch = store.epoch(), .records = {"a"}}, [&](Result<> result) {
    ASSERT_TRUE(result);
    ++taken;
    seen = store.head(first)->seq;
    store.append({.session = first, .epoch = store.epoch(), .expected_head = 1, .records = {"b"}},
                 [&](Result<> again) { taken += again ? 1 : 0; });
  });
  bench.pump();
  EXPECT_EQ(taken, 2);
  EXPECT_EQ(seen, 1U);
  EXPECT_EQ(bench.head(first), 2U);
}

void batches_of_a_group_build_on_each_other(ConformanceBench& bench) {
  const std::size_t one = bench.queue({.session = first, .records = records_of("a", 2)});
  const std::size_t two =
      bench.queue({.session = first, .expected_head = 2, .records = records_of("b", 2)});
  const std::size_t other = bench.queue({.session = second, .records = {"c"}});
  bench.pump();
  for (std::size_t number : {one, two, other}) EXPECT_EQ(bench.refusal(number), std::nullopt);
  EXPECT_EQ(bench.head(first), 4U);
  EXPECT_EQ(bench.head(second), 1U);
}

void a_bad_batch_does_not_spoil_its_group(ConformanceBench& bench) {
  const std::size_t good = bench.queue({.session = first, .records = {"a"}});
  const std::size_t conflict = bench.queue(laden_batch(first, 5, "conflict"));
  const std::size_t keyed = bench.queue(
      {.session = second, .records = {"x"}, .answers = {{.key = "k", .answer = "first"}}});
  const std::size_t again = bench.queue({.session = first,
                                         .expected_head = 1,
                                         .records = {"no"},
                                         .answers = {{.key = "k", .answer = "second"}},
                                         .blobs = {blob_of("no")}});
  Append stale = laden_batch(second, 1, "stale");
  stale.epoch = bench.store().epoch() - 1;
  const std::size_t late = bench.queue_as_is(stale);
  const std::size_t last =
      bench.queue({.session = first, .expected_head = 1, .records = {"b"}, .essential = true});
  bench.pump();
  EXPECT_EQ(bench.refusal(good), std::nullopt);
  EXPECT_EQ(bench.refusal(conflict), Code::conflict);
  EXPECT_EQ(bench.refusal(keyed), std::nullopt);
  EXPECT_EQ(bench.refusal(again), Code::conflict);
  EXPECT_EQ(bench.refusal(late), Code::stale_owner);
  EXPECT_EQ(bench.refusal(last), std::nullopt);
  EXPECT_EQ(bench.store().read(first, {.after = 0, .limit = 9})->records,
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ((*bench.store().answer("k"))->answer, "first");
  EXPECT_FALSE(bench.store().blob(sha256("no")));
  expect_nothing_of(bench.store(), "conflict");
  expect_nothing_of(bench.store(), "stale");
}

void a_batch_may_have_no_records(ConformanceBench& bench) {
  EXPECT_EQ(bench.append({.session = first, .records = {"a"}}), std::nullopt);
  EXPECT_EQ(bench.append({.session = first,
                          .expected_head = 1,
                          .cursor = FrameCursor{conformance_exec(1), 4},
                          .snapshot = "s"}),
            std::nullopt);
  EXPECT_EQ(bench.append({.session = first, .expected_head = 0, .snapshot = "old"}),
            Code::conflict);
  bench.crash_reopen();
  EXPECT_EQ(bench.head(first), 1U);
  EXPECT_EQ(bench.store().head(first)->cursor, (FrameCursor{conformance_exec(1), 4}));
  auto snapshot = bench.store().snapshot(first);
  ASSERT_TRUE(snapshot && *snapshot);
  EXPECT_EQ((*snapshot)->seq, 1U);
  EXPECT_EQ((*snapshot)->bytes, "s");
}

void a_batch_without_records_makes_a_session(ConformanceBench& bench) {
  EXPECT_EQ(bench.append({.session = first, .listing = Listing{.open = true}}), std::nullopt);
  ASSERT_TRUE(bench.store().head(first));
  EXPECT_EQ(bench.head(first), 0U);
  auto page = bench.store().read(first, {.after = 0, .limit = 5});
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->records.empty());
  EXPECT_EQ(bench.append({.session = first, .records = {"a"}}), std::nullopt);
}

void big_records(ConformanceBench& bench) {
  std::string biggest(record_bytes_max, 'x');
  for (std::size_t i = 0; i < biggest.size(); i += 4099) biggest[i] = static_cast<char>(i);
  EXPECT_EQ(bench.append({.session = first, .records = {"small", biggest, "behind"}}),
            std::nullopt);
  EXPECT_EQ(bench.append({.session = first,
                          .expected_head = 3,
                          .records = {std::string(record_bytes_max + 1, 'y')}}),
            Code::invalid_argument);
  EXPECT_EQ(bench.append({.session = first,
                          .expected_head = 3,
                          .records = {"r"},
                          .snapshot = std::string(append_bytes_max, 's')}),
            Code::invalid_argument);
  bench.crash_reopen();
  EXPECT_EQ(bench.head(first), 3U);
  auto page = bench.store().read(first, {.after = 1, .limit = 2});
  ASSERT_TRUE(page);
  ASSERT_EQ(page->records.size(), 1U) << "bytes_max is 16 MiB by itself";
  EXPECT_TRUE(page->records[0] == biggest);
  EXPECT_EQ(bench.store().read(first, {.after = 2, .limit = 2})->records,
            std::vector<std::string>{"behind"});
}

void many_records(ConformanceBench& bench) {
  Seq head = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    bench.queue({.session = first, .expected_head = head, .records = records_of("r", 200)});
    head += 200;
    if (i % 10 == 0) bench.pump();
  }
  bench.pump();
  EXPECT_EQ(bench.head(first), 20'000U);
  bench.crash_reopen();
  for (Seq after : {0, 199, 10'000, 19'990}) {
    auto page = bench.store().read(first, {.after = after, .limit = 10});
    ASSERT_TRUE(page);
    ASSERT_EQ(page->records.size(), 10U);
    EXPECT_EQ(page->first, after + 1);
    EXPECT_EQ(page->records[0], "r-" + std::to_string(after % 200 + 1));
  }
}

void many_sessions(ConformanceBench& bench) {
  constexpr std::uint64_t sessions = 1000;
  for (Seq head = 0; head < 3; ++head) {
    for (std::uint64_t n = 1; n <= sessions; ++n) {
      bench.queue({.session = conformance_session(n),
                   .expected_head = head,
                   .records = {std::to_string(n) + "/" + std::to_string(head + 1)}});
    }
    bench.pump();
  }
  bench.crash_reopen();
  for (std::uint64_t n = 1; n <= sessions; ++n) {
    auto page = bench.store().read(conformance_session(n), {.after = 0, .limit = 9});
    ASSERT_TRUE(page) << n;
    const std::string name = std::to_string(n);
    EXPECT_EQ(page->records, (std::vector<std::string>{name + "/1", name + "/2", name + "/3"}));
  }
}

constexpr ConformanceTest tests[] = {
    {"O7_J1_RecordsAreNumberedWithoutGap", records_are_numbered},
    {"NothingHappensBeforeTheWriterRuns", nothing_happens_before_the_writer_runs},
    {"J1_AWrongHeadIsAConflictAndLeavesNothing", a_wrong_head_is_a_conflict},
    {"S8_ALowerEpochIsAStaleOwner", a_lower_epoch_is_stale},
    {"ANullSessionIsRefused", a_null_session_is_refused},
    {"DonesRunOnceInTheOrderOfTheirSession", dones_run_once_and_in_order},
    {"ADoneMayAppendAndRead", a_done_may_append_and_read},
    {"J1_BatchesOfAGroupBuildOnEachOther", batches_of_a_group_build_on_each_other},
    {"J3_ABadBatchDoesNotSpoilItsGroup", a_bad_batch_does_not_spoil_its_group},
    {"ABatchMayHaveNoRecords", a_batch_may_have_no_records},
    {"ABatchWithoutRecordsMakesASession", a_batch_without_records_makes_a_session},
    {"X22_BigRecords", big_records},
    {"X22_ManyRecords", many_records},
    {"ManySessionsShareGroups", many_sessions},
};

}  // namespace

std::span<const ConformanceTest> conformance_append_tests() { return tests; }

}  // namespace perdure
