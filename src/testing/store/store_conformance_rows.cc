// Conformance of data stored with records: outbox, answers, refs, blobs, snapshots, cursors; and of
// the removal of sessions.
#include "testing/store/store_conformance_tests.h"

namespace perdure {

namespace {

const SessionId first = conformance_session(1);
const SessionId second = conformance_session(2);

void outbox_adds_and_ends(ConformanceBench& bench) {
  bench.append(
      {.session = first, .records = {"a"}, .outbox_add = {{1, "one"}, {2, "two"}, {5, "five"}}});
  bench.append({.session = second, .records = {"a"}, .outbox_add = {{1, "other"}}});
  EXPECT_EQ(*bench.store().outbox(first),
            (std::vector<OutboxRow>{{1, "one"}, {2, "two"}, {5, "five"}}));
  EXPECT_EQ(bench.append({.session = first,
                          .expected_head = 1,
                          .outbox_add = {{6, std::string("s\0x", 3)}},
                          .outbox_done = {2, 1, 77}}),
            std::nullopt);
  const std::vector<OutboxRow> left{{5, "five"}, {6, std::string("s\0x", 3)}};
  EXPECT_EQ(*bench.store().outbox(first), left);
  EXPECT_EQ(*bench.store().outbox(second), (std::vector<OutboxRow>{{1, "other"}}));
  bench.crash_reopen();
  EXPECT_EQ(*bench.store().outbox(first), left);
  EXPECT_EQ(bench.append({.session = first, .expected_head = 1, .outbox_done = {5, 6, 6}}),
            std::nullopt);
  EXPECT_TRUE(bench.store().outbox(first)->empty());
}

void outbox_follows_within_a_group(ConformanceBench& bench) {
  bench.queue({.session = first, .records = {"a"}, .outbox_add = {{1, "one"}, {2, "two"}}});
  bench.queue({.session = first, .expected_head = 1, .records = {"b"}, .outbox_done = {1}});
  bench.pump();
  EXPECT_EQ(*bench.store().outbox(first), (std::vector<OutboxRow>{{2, "two"}}));
}

void answers_are_kept(ConformanceBench& bench) {
  const StoredAnswer forever{.key = "k1", .body = sha256("body 1"), .answer = "{\"ok\":1}"};
  const StoredAnswer passing{
      .key = "k2", .body = sha256("body 2"), .answer = "", .expires = Timestamp{123'456}};
  bench.append({.session = first, .records = {"a"}, .answers = {forever, passing}});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(*bench.store().answer("k1"), forever);
    EXPECT_EQ(*bench.store().answer("k2"), passing);
    EXPECT_EQ(*bench.store().answer("k"), std::nullopt);
    EXPECT_EQ(*bench.store().answer("k11"), std::nullopt);
    bench.crash_reopen();
  }
}

void a_key_has_one_answer(ConformanceBench& bench) {
  bench.append({.session = first, .records = {"a"}, .answers = {{.key = "k", .answer = "1"}}});
  for (SessionId session : {first, second}) {
    EXPECT_EQ(
        bench.append({.session = session,
                      .expected_head = bench.head(session),
                      .records = {"b"},
                      .outbox_add = {{9, "no"}},
                      .answers = {{.key = "fresh", .answer = "2"}, {.key = "k", .answer = "2"}}}),
        Code::conflict);
  }
  // Twice in one batch: neither answer is the first, so the caller is wrong either way.
  const auto twice =
      bench.append({.session = second,
                    .records = {"b"},
                    .answers = {{.key = "d", .answer = "1"}, {.key = "d", .answer = "2"}}});
  EXPECT_TRUE(twice == Code::conflict || twice == Code::invalid_argument);
  EXPECT_EQ((*bench.store().answer("k"))->answer, "1");
  EXPECT_FALSE(bench.store().answer("fresh")->has_value());
  EXPECT_FALSE(bench.store().answer("d")->has_value());
  EXPECT_EQ(bench.head(first), 1U);
  EXPECT_TRUE(bench.store().outbox(first)->empty());
  EXPECT_EQ(bench.store().head(second).error().code(), Code::not_found);
  bench.crash_reopen();
  EXPECT_EQ(bench.append({.session = first,
                          .expected_head = 1,
                          .records = {"b"},
                          .answers = {{.key = "k", .answer = "2"}}}),
            Code::conflict);
  EXPECT_EQ(bench.append({.session = first,
                          .expected_head = 1,
                          .records = {"b"},
                          .answers = {{.key = "fresh", .answer = "2"}}}),
            std::nullopt);
}

void sessions_are_found_by_refs(ConformanceBench& bench) {
  bench.append({.session = first, .records = {"a"}, .refs = {"run_1", "agent session/ä"}});
  bench.append({.session = second, .records = {"a"}, .refs = {"run_2"}});
  // A repeated ref is not an error.
  EXPECT_EQ(bench.append({.session = first, .expected_head = 1, .refs = {"run_1", "run_3"}}),
            std::nullopt);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(*bench.store().find_ref("run_1"), first);
    EXPECT_EQ(*bench.store().find_ref("agent session/ä"), first);
    EXPECT_EQ(*bench.store().find_ref("run_2"), second);
    EXPECT_EQ(*bench.store().find_ref("run_3"), first);
    EXPECT_EQ(*bench.store().find_ref("run_"), std::nullopt);
    bench.crash_reopen();
  }
}

void blobs_are_kept_once(ConformanceBench& bench) {
  const Blob big = blob_of(std::string(3UL << 20, 'b') + std::string("\0\xff", 2));
  const Blob small = blob_of("");
  bench.append({.session = first, .records = {"a"}, .blobs = {big, small}});
  EXPECT_EQ(bench.append({.session = second, .records = {"a"}, .blobs = {big, small, big}}),
            std::nullopt);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(*bench.store().blob(big.hash) == big.bytes);
    EXPECT_TRUE(*bench.store().blob(small.hash) == small.bytes);
    bench.crash_reopen();
  }
}

void a_blob_goes_with_the_last_who_has_it(ConformanceBench& bench) {
  const Blob blob = blob_of(std::string(300UL << 10, 'b'));
  const SessionId third = conformance_session(3);
  bench.append({.session = first, .records = {"a"}, .blobs = {blob}});
  EXPECT_EQ(bench.append({.session = second, .records = {"a"}, .blob_refs = {blob.hash}}),
            std::nullopt);
  EXPECT_EQ(bench.append({.session = third, .records = {"a"}, .blob_refs = {sha256("none")}}),
            Code::not_found);
  EXPECT_EQ(bench.head(third), 0U);
  ASSERT_TRUE(bench.store().remove(first));
  for (int i = 0; i < 2; ++i) {
    bench.pump();
    EXPECT_TRUE(bench.store().blob(blob.hash).value_or("") == blob.bytes);
    bench.crash_reopen();
  }
  // A blob named twice is owned once.
  EXPECT_EQ(bench.append({.session = third, .records = {"a"}, .blob_refs = {blob.hash, blob.hash}}),
            std::nullopt);
  ASSERT_TRUE(bench.store().remove(second));
  bench.pump();
  EXPECT_TRUE(bench.store().blob(blob.hash));
  ASSERT_TRUE(bench.store().remove(third));
  for (int i = 0; i < 2; ++i) {
    bench.pump();
    EXPECT_FALSE(bench.store().blob(blob.hash));
    EXPECT_EQ(bench.append({.session = first, .records = {"a"}, .blob_refs = {blob.hash}}),
              Code::not_found);
    bench.crash_reopen();
  }
}

void a_blob_can_be_shared_within_a_group(ConformanceBench& bench) {
  const Blob blob = blob_of("of both");
  const std::size_t giver = bench.queue({.session = first, .records = {"a"}, .blobs = {blob}});
  const std::size_t taker =
      bench.queue({.session = second, .records = {"a"}, .blob_refs = {blob.hash}});
  bench.pump();
  EXPECT_EQ(bench.refusal(giver), std::nullopt);
  EXPECT_EQ(bench.refusal(taker), std::nullopt);
  ASSERT_TRUE(bench.store().remove(first));
  bench.crash_reopen();
  EXPECT_TRUE(bench.store().blob(blob.hash));
}

// A redaction removes a blob from all sessions: it contains the secret.
void a_redacted_blob_is_nobodys(ConformanceBench& bench) {
  const Blob blob = blob_of("secret blob");
  bench.append({.session = first, .records = {"a"}, .blobs = {blob}});
  bench.append({.session = second, .records = {"b"}, .blob_refs = {blob.hash}});
  ASSERT_TRUE(bench.store().redact(
      {.session = first, .seq = 1, .replacement = "gone", .blobs = {blob.hash}}));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(bench.store().blob(blob.hash).error().code(), Code::not_found);
    EXPECT_EQ(bench.store().read(second, {.after = 0, .limit = 9})->records,
              std::vector<std::string>{"b"});
    bench.crash_reopen();
  }
  EXPECT_TRUE(bench.store().remove(first));
  EXPECT_TRUE(bench.store().remove(second));
}

void the_newest_snapshot_counts(ConformanceBench& bench) {
  bench.append({.session = first, .records = records_of("a", 3), .snapshot = "at 3"});
  bench.append({.session = first, .expected_head = 3, .records = records_of("b", 2)});
  EXPECT_EQ((*bench.store().snapshot(first))->seq, 3U);
  const std::string binary("at 6\0\xfe", 6);
  bench.append({.session = first, .expected_head = 5, .records = {"c"}, .snapshot = binary});
  bench.append({.session = second, .records = {"c"}});
  for (int i = 0; i < 2; ++i) {
    auto snapshot = bench.store().snapshot(first);
    ASSERT_TRUE(snapshot && *snapshot);
    EXPECT_EQ((*snapshot)->seq, 6U);
    EXPECT_EQ((*snapshot)->bytes, binary);
    EXPECT_FALSE(bench.store().snapshot(second)->has_value());
    bench.crash_reopen();
  }
}

void the_cursor_stays_until_replaced(ConformanceBench& bench) {
  bench.append({.session = first, .records = {"a"}, .cursor = FrameCursor{conformance_exec(1), 7}});
  bench.append({.session = first, .expected_head = 1, .records = {"b"}});
  EXPECT_EQ(bench.store().head(first)->cursor, (FrameCursor{conformance_exec(1), 7}));
  const FrameCursor last{conformance_exec(2), ~std::uint64_t{0} >> 1};
  bench.append({.session = first, .expected_head = 2, .records = {"c"}, .cursor = last});
  bench.crash_reopen();
  EXPECT_EQ(*bench.store().head(first), (SessionHead{3, last}));
}

void redact_replaces_one_record(ConformanceBench& bench) {
  bench.append({.session = first,
                .records = {"one", "the secret word", "three"},
                .blobs = {blob_of("secret blob")},
                .snapshot = "with the secret"});
  bench.append({.session = second, .records = {"of another"}});
  ASSERT_TRUE(bench.store().redact(
      {.session = first, .seq = 2, .replacement = "gone", .blobs = {sha256("secret blob")}}));
  EXPECT_EQ(bench.store().redact({.session = first, .seq = 4, .replacement = "x"}).error().code(),
            Code::not_found);
  EXPECT_EQ(bench.store().redact({.session = first, .seq = 0, .replacement = "x"}).error().code(),
            Code::not_found);
  bench.append({.session = first, .expected_head = 3, .records = {"four"}});
  bench.pump();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(bench.store().read(first, {.after = 0, .limit = 9})->records,
              (std::vector<std::string>{"one", "gone", "three", "four"}));
    EXPECT_EQ(bench.store().read(first, {.after = 1, .limit = 1})->records,
              std::vector<std::string>{"gone"});
    EXPECT_EQ(bench.store().read(second, {.after = 0, .limit = 9})->records,
              std::vector<std::string>{"of another"});
    EXPECT_FALSE(bench.store().snapshot(first)->has_value());
    EXPECT_EQ(bench.store().blob(sha256("secret blob")).error().code(), Code::not_found);
    EXPECT_TRUE(bench.store().search({.query = "secret", .limit = 9})->empty());
    bench.crash_reopen();
  }
}

void remove_takes_everything(ConformanceBench& bench) {
  for (SessionId session : {first, second}) {
    const std::string name = session == first ? "first" : "second";
    bench.append({.session = session,
                  .records = records_of(name, 3),
                  .outbox_add = {{1, name}},
                  .cursor = FrameCursor{conformance_exec(1), 7},
                  .answers = {{.key = name, .answer = name}},
                  .refs = {"ref " + name},
                  .blobs = {blob_of("blob of both"), blob_of("blob of " + name)},
                  .snapshot = name,
                  .listing = Listing{.open = true, .summary = name}});
  }
  ASSERT_TRUE(bench.store().remove(first));
  bench.pump();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(bench.store().head(first).error().code(), Code::not_found);
    EXPECT_FALSE(bench.store().read(first, {.after = 0, .limit = 1}));
    EXPECT_FALSE(bench.store().find_ref("ref first")->has_value());
    EXPECT_EQ(*bench.store().open_sessions(), std::vector<SessionId>{second});
    EXPECT_EQ(bench.store().blob(sha256("blob of first")).error().code(), Code::not_found);
    EXPECT_TRUE(bench.store().blob(sha256("blob of both")));
    EXPECT_TRUE(bench.store().blob(sha256("blob of second")));
    EXPECT_EQ(bench.store().list(SessionId(), 9)->size(), 1U);
    if (auto outbox = bench.store().outbox(first)) EXPECT_TRUE(outbox->empty());
    if (auto snapshot = bench.store().snapshot(first)) EXPECT_FALSE(snapshot->has_value());
    EXPECT_EQ((*bench.store().answer("first"))->answer, "first") << "answers stay";
    EXPECT_EQ(bench.store().read(second, {.after = 0, .limit = 9})->records,
              records_of("second", 3));
    EXPECT_EQ(bench.store().outbox(second)->size(), 1U);
    EXPECT_EQ(*bench.store().find_ref("ref second"), second);
    bench.crash_reopen();
  }
  EXPECT_EQ(bench.append({.session = second, .expected_head = 3, .records = {"on"}}), std::nullopt);
}

constexpr ConformanceTest tests[] = {
    {"OutboxAddsAndEnds", outbox_adds_and_ends},
    {"OutboxFollowsWithinAGroup", outbox_follows_within_a_group},
    {"ACK3_AnswersAreKept", answers_are_kept},
    {"ACK2_AKeyHasOneAnswer", a_key_has_one_answer},
    {"O8_SessionsAreFoundByRefs", sessions_are_found_by_refs},
    {"BlobsAreKeptOnce", blobs_are_kept_once},
    {"ABlobGoesWithTheLastWhoHasIt", a_blob_goes_with_the_last_who_has_it},
    {"ABlobCanBeSharedWithinAGroup", a_blob_can_be_shared_within_a_group},
    {"ARedactedBlobIsNobodys", a_redacted_blob_is_nobodys},
    {"O2_TheNewestSnapshotCounts", the_newest_snapshot_counts},
    {"PROC5_TheCursorStaysUntilReplaced", the_cursor_stays_until_replaced},
    {"RemoveTakesEverythingButAnswers", remove_takes_everything},
    {"RedactReplacesOneRecord", redact_replaces_one_record},
};

}  // namespace

std::span<const ConformanceTest> conformance_row_tests() { return tests; }

}  // namespace perdure
