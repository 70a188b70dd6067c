// The store's public behaviour: appends, refusals, reads, search, backup, removal.
#include "store/sqlite/sqlite_store.h"

#include "base/limits.h"
#include "store/sqlite/store_fixture_test.h"

namespace perdure::store_test {
namespace {

using testing::Test;

class SqliteStoreTest : public StoreTest {};

TEST_F(SqliteStoreTest, appends_come_back_in_order_and_after_reopening) {
  open();
  ASSERT_TRUE(put(1, 0, {"a", "b"}));
  ASSERT_TRUE(put(2, 0, {"x"}));
  ASSERT_TRUE(put(1, 2, {"c"}));
  EXPECT_EQ(all(1), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(all(2), std::vector<std::string>{"x"});
  const std::uint64_t epoch = store_->epoch();
  const std::string log_id = store_->log_id();
  open();
  EXPECT_GT(store_->epoch(), epoch);
  EXPECT_EQ(store_->log_id(), log_id);
  EXPECT_EQ(all(1), (std::vector<std::string>{"a", "b", "c"}));
  const auto page = store_->read(session(1), {.after = 1, .limit = 1});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->first, 2U);
  EXPECT_EQ(page->records, std::vector<std::string>{"b"});
  EXPECT_EQ(store_->read(session(1), {.after = 4, .limit = 1}).error().code(),
            Code::cursor_invalid);
  EXPECT_TRUE(store_->read(session(1), {.after = 3, .limit = 1})->records.empty());
  EXPECT_EQ(store_->read(session(9), {.limit = 1}).error().code(), Code::not_found);
}

TEST_F(SqliteStoreTest, J3_everything_of_a_batch_is_there_after_reopening) {
  open();
  const std::string payload(400'000, 'p');
  Append batch{.session = session(1), .records = {"r1"}};
  batch.outbox_add = {{1, "one"}, {2, "two"}};
  batch.cursor = FrameCursor{ExecId(Ulid{5, 6}), 17};
  batch.answers = {{.key = "k", .body = sha256("body"), .answer = "ok", .expires = Timestamp{5}}};
  batch.refs = {"wt_1", "wt_2"};
  batch.blobs = {{.hash = sha256(payload), .bytes = payload}};
  batch.snapshot = "state";
  batch.listing = Listing{.open = true, .updated = Timestamp{9}, .summary = "{}"};
  ASSERT_TRUE(commit(batch));
  ASSERT_TRUE(commit({.session = session(1), .expected_head = 1, .outbox_done = {1, 77}}));
  open();
  EXPECT_EQ(store_->head(session(1)), (SessionHead{.seq = 1, .cursor = batch.cursor}));
  EXPECT_EQ(*store_->outbox(session(1)), (std::vector<OutboxRow>{{2, "two"}}));
  EXPECT_EQ(*store_->answer("k"), batch.answers[0]);
  EXPECT_EQ(*store_->answer("other"), std::nullopt);
  EXPECT_EQ(*store_->find_ref("wt_2"), session(1));
  EXPECT_EQ(*store_->find_ref("wt_3"), std::nullopt);
  EXPECT_EQ(*store_->blob(sha256(payload)), payload);
  EXPECT_EQ(store_->blob(sha256("no")).error().code(), Code::not_found);
  EXPECT_EQ((*store_->snapshot(session(1)))->seq, 1U);
  EXPECT_EQ((*store_->snapshot(session(1)))->bytes, "state");
  EXPECT_EQ(*store_->open_sessions(), std::vector<SessionId>{session(1)});
  const auto listed = *store_->list(SessionId(), 10);
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].listing, *batch.listing);
  ASSERT_TRUE(store_->forget_answers(Timestamp{6}));
  EXPECT_EQ(*store_->answer("k"), std::nullopt);
}

TEST_F(SqliteStoreTest, a_bad_append_in_a_group_is_refused_alone) {
  open();
  std::vector<std::string> outcome;
  const auto note = [&](Result<> result) {
    outcome.emplace_back(result ? "ok" : code_name(result.error().code()));
  };
  const std::uint64_t epoch = store_->epoch();
  const auto add = [&](Append batch) { store_->append(std::move(batch), note); };
  add({.session = session(1), .epoch = epoch, .records = {"a"}});
  add({.session = session(1),
       .epoch = epoch,
       .expected_head = 1,
       .records = {"b"},
       .answers = {{.key = "k"}}});
  add({.session = session(1), .epoch = epoch, .expected_head = 1, .records = {"c"}});
  add({.session = session(2), .epoch = epoch - 1, .records = {"d"}});
  add({.session = session(3), .epoch = epoch, .expected_head = 5, .records = {"e"}});
  add({.session = session(4), .epoch = epoch, .records = {"f"}, .answers = {{.key = "k"}}});
  add({.session = session(5),
       .epoch = epoch,
       .records = {"g"},
       .blobs = {{.bytes = "not the hash"}}});
  add({.session = session(6), .epoch = epoch, .records = {"h"}});
  EXPECT_TRUE(outcome.empty());
  EXPECT_TRUE(store_->step());
  EXPECT_EQ(outcome, (std::vector<std::string>{"ok", "ok", "conflict", "stale_owner", "conflict",
                                               "conflict", "invalid_argument", "ok"}));
  EXPECT_EQ(store_->stats().commits, 1U);
  EXPECT_EQ(all(1), (std::vector<std::string>{"a", "b"}));
  for (const std::uint64_t number : {2, 3, 4, 5}) {
    EXPECT_EQ(store_->head(session(number)).error().code(), Code::not_found);
  }
  EXPECT_EQ(store_->list(SessionId(), 10)->size(), 2U);
}

TEST_F(SqliteStoreTest, S9_huge_records_and_large_batches_page_by_bytes) {
  open();
  EXPECT_EQ(put(1, 0, {std::string(record_bytes_max + 1, 'x')}).error().code(),
            Code::invalid_argument);
  std::vector<std::string> records(1000, std::string(1000, 's'));
  records[500] = std::string(record_bytes_max, 'L');
  ASSERT_TRUE(put(1, 0, records));
  ASSERT_TRUE(put(1, 1000, {"last"}));
  for (const bool flushed : {false, true}) {
    if (flushed) ASSERT_TRUE(store_->shut_down());
    const auto page = store_->read(session(1), {.after = 0, .limit = 5000});
    ASSERT_TRUE(page);
    EXPECT_EQ(page->records.size(), 501U);  // stops after the record that reaches bytes_max
    EXPECT_TRUE(page->records[500] == records[500]);
    EXPECT_EQ(store_->read(session(1), {.after = 1000, .limit = 1})->records[0], "last");
    EXPECT_EQ(store_->read(session(1), {.after = 501, .limit = 7})->records.size(), 7U);
  }
  open();
  EXPECT_EQ(store_->head(session(1))->seq, 1001U);
}

TEST_F(SqliteStoreTest, the_index_written_behind_equals_the_index_in_memory) {
  SqliteOptions with = options();
  with.flush_bytes_min = 1;
  with.flush_bytes_max = 1;
  with.sessions_cached_max = 3;
  open(with);
  std::vector<Seq> heads(20);
  for (int i = 0; i < 2000; ++i) {
    const auto number = static_cast<std::uint64_t>(i * 7 % 20);
    ASSERT_TRUE(put(number + 1, heads[number], {std::to_string(i), "second"}));
    heads[number] += 2;
  }
  EXPECT_GT(store_->stats().flushes, 100U);
  std::vector<std::vector<std::string>> seen;
  for (std::uint64_t number = 1; number <= 20; ++number) seen.push_back(all(number));
  ASSERT_TRUE(store_->rebuild_index());
  for (std::uint64_t number = 1; number <= 20; ++number) EXPECT_EQ(all(number), seen[number - 1]);
  open();
  for (std::uint64_t number = 1; number <= 20; ++number) {
    EXPECT_EQ(seen[number - 1].size(), 200U);
    EXPECT_EQ(all(number), seen[number - 1]);
  }
  EXPECT_TRUE(store_->verify()->damages.empty());
}

TEST_F(SqliteStoreTest, search_follows_behind_and_can_be_rebuilt) {
  open();
  ASSERT_TRUE(put(1, 0, {"the quick brown fox", "nothing here"}));
  ASSERT_TRUE(put(2, 0, {"a lazy dog", "another Quick one"}));
  EXPECT_TRUE(store_->search({.query = "quick", .limit = 10})->empty());
  idle(*store_);
  for (const bool rebuilt : {false, true}) {
    const auto hits = store_->search({.query = "quick", .limit = 10});
    ASSERT_TRUE(hits) << hits.error().message();
    ASSERT_EQ(hits->size(), 2U);
    EXPECT_EQ((*hits)[0].session, session(2));
    EXPECT_EQ((*hits)[0].seq, 2U);
    EXPECT_EQ((*hits)[0].snippet, "another \x02Quick\x03 one");
    EXPECT_EQ((*hits)[1].session, session(1));
    EXPECT_EQ(store_->search({.query = "quick", .limit = 1})->size(), 1U);
    EXPECT_TRUE(store_->search({.query = "quick dog", .limit = 10})->empty());
    EXPECT_TRUE(store_->search({.query = "\"quick AND (", .limit = 10}));
    EXPECT_TRUE(store_->search({.query = "  ", .limit = 10})->empty());
    if (rebuilt) break;
    ASSERT_TRUE(store_->rebuild_search());
    idle(*store_);
  }
}

TEST_F(SqliteStoreTest, removal_takes_everything_and_leaves_no_byte) {
  open();
  const std::string blob(1000, 'b');
  const std::string shared(1000, 'c');
  std::vector<std::string> outcomes;
  for (const std::uint64_t number : {1, 2}) {
    const std::string name = number == 1 ? "marmalade" : "ordinary";
    Append batch{
        .session = session(number), .epoch = store_->epoch(), .records = {name, name + " two"}};
    batch.outbox_add = {{1, name}};
    batch.refs = {"ref" + name};
    batch.snapshot = name;
    batch.listing = Listing{.open = true, .summary = name};
    batch.blobs = {{.hash = sha256(shared), .bytes = shared}};
    if (number == 1) batch.blobs.push_back({.hash = sha256(blob), .bytes = blob});
    store_->append(std::move(batch), [](Result<> result) { EXPECT_TRUE(result); });
  }
  EXPECT_TRUE(store_->step());  // both in one block
  ASSERT_TRUE(put(1, 2, {"marmalade alone in its block"}));
  idle(*store_);
  EXPECT_EQ(store_->search({.query = "marmalade", .limit = 10})->size(), 3U);
  ASSERT_TRUE(store_->remove(session(1)));
  EXPECT_EQ(store_->remove(session(1)).error().code(), Code::not_found);
  EXPECT_EQ(store_->head(session(1)).error().code(), Code::not_found);
  EXPECT_TRUE(store_->search({.query = "marmalade", .limit = 10})->empty());
  EXPECT_EQ(*store_->find_ref("refmarmalade"), std::nullopt);
  EXPECT_EQ(store_->open_sessions()->size(), 1U);
  EXPECT_EQ(store_->blob(sha256(blob)).error().code(), Code::not_found);
  EXPECT_EQ(*store_->blob(sha256(shared)), shared);
  idle(*store_);
  EXPECT_EQ(all(2), (std::vector<std::string>{"ordinary", "ordinary two"}));
  ASSERT_TRUE(store_->rebuild_search());
  idle(*store_);
  ASSERT_TRUE(store_->shut_down());
  EXPECT_EQ(slurp(path()).find("marmalade"), std::string::npos);
  ASSERT_TRUE(put(1, 0, {"a new life"}));
  open();
  EXPECT_EQ(all(1), std::vector<std::string>{"a new life"});
  EXPECT_EQ(all(2).size(), 2U);
  EXPECT_TRUE(store_->verify()->damages.empty());
}

TEST_F(SqliteStoreTest, S13_a_backup_taken_while_writing_is_a_consistent_prefix) {
  open();
  Seq head = 0;
  for (; head < 3000; ++head) ASSERT_TRUE(put(1, head, {std::string(2000, 'x')}));
  std::optional<Result<>> outcome;
  ASSERT_TRUE(
      store_->backup(path("copy.db"), [&](Result<> result) { outcome = std::move(result); }));
  EXPECT_EQ(store_->backup(path("other.db"), nullptr).error().code(), Code::conflict);
  int steps = 0;
  for (; !outcome && steps < 10'000; ++steps) {
    ASSERT_TRUE(put(1, head++, {"while it runs"}));
    store_->idle_step();
  }
  ASSERT_TRUE(outcome && *outcome) << outcome->error().message();
  EXPECT_GT(steps, 3);
  EXPECT_FALSE(fs::exists(path("copy.db-wal")));
  EXPECT_FALSE(store_->backup(path("copy.db"), nullptr));
  const auto copy = SqliteStore::open(options("copy.db"));
  ASSERT_TRUE(copy) << copy.error().message();
  EXPECT_NE((*copy)->log_id(), store_->log_id());
  EXPECT_EQ((*copy)->head(session(1))->seq, head);
  EXPECT_TRUE((*copy)->verify()->damages.empty());
  const std::string log_id = (*copy)->log_id();
  EXPECT_EQ((*SqliteStore::open(options("copy.db")))->log_id(), log_id);
}

TEST_F(SqliteStoreTest, the_wal_stays_bounded) {
  SqliteOptions with = options();
  with.checkpoint_bytes = 1UL << 20;
  open(with);
  for (Seq head = 0; head < 300; ++head) ASSERT_TRUE(put(1, head, {std::string(50'000, 'x')}));
  EXPECT_GT(store_->stats().checkpoints, 5U);
  EXPECT_LT(fs::file_size(path("journal.db-wal")), 4UL << 20);
}

TEST_F(SqliteStoreTest, a_hundred_thousand_sessions_are_not_in_memory) {
  SqliteOptions with = options();
  with.search_piece = nullptr;
  open(with);
  for (std::uint64_t base = 0; base < 100'000; base += 1000) {
    for (std::uint64_t number = base + 1; number <= base + 1000; ++number) {
      store_->append({.session = session(number),
                      .epoch = store_->epoch(),
                      .records = {"record of " + std::to_string(number)},
                      .listing = Listing{.open = number % 10'000 == 0}},
                     [](Result<> result) { EXPECT_TRUE(result); });
    }
    store_->step();
  }
  ASSERT_TRUE(store_->shut_down());
  open(with);
  EXPECT_EQ(store_->stats().unindexed_bytes, 0U);
  EXPECT_EQ(store_->open_sessions()->size(), 10U);
  for (const std::uint64_t number : {1, 777, 50'000, 100'000}) {
    EXPECT_EQ(all(number), std::vector<std::string>{"record of " + std::to_string(number)});
  }
  EXPECT_EQ(store_->list(session(99'998), 10)->size(), 2U);
}

// A group that contains only the refused append still commits.
TEST_F(SqliteStoreTest, J3_the_refused_first_append_of_a_session_leaves_none) {
  open();
  const auto refused = [&] {
    return commit(
        {.session = session(1), .records = {"a"}, .blob_refs = {sha256("nobody has it")}});
  };
  EXPECT_EQ(refused().error().code(), Code::not_found);
  EXPECT_EQ(store_->head(session(1)).error().code(), Code::not_found);
  EXPECT_EQ(store_->read(session(1), {.limit = 1}).error().code(), Code::not_found);
  ASSERT_TRUE(put(2, 0, {"of another"}));
  ASSERT_TRUE(put(1, 0, {"a"}));
  open();
  EXPECT_EQ(all(1), std::vector<std::string>{"a"});
  EXPECT_EQ(all(2), std::vector<std::string>{"of another"});
}

}  // namespace
}  // namespace perdure::store_test
