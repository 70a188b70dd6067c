// What this engine has besides the suite: migrations, leases and epochs, errors of the server, a
// damaged row, search by message.
#include <gtest/gtest.h>

#include "store_postgres/pg_words.h"
#include "testing/postgres_fixture.h"
#include "wire/record.h"

namespace perdure {
namespace {

using postgres_test::PostgresTest;
using postgres_test::session;

class PostgresEngine : public PostgresTest {};

TEST_F(PostgresEngine, J6_a_newer_schema_is_refused_and_left_as_it_is) {
  options_.create = false;
  const auto none = PostgresStore::open(options_);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::not_found);
  options_.create = true;
  open();
  ASSERT_TRUE(put(1, 0, {"a"}));
  store_.reset();
  sql("UPDATE perdure.meta SET value = '99' WHERE name = 'version'");
  const auto newer = PostgresStore::open(options_);
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code(), Code::format_too_new) << newer.error().message();
  sql("UPDATE perdure.meta SET value = '2' WHERE name = 'version'");
  open();
  EXPECT_EQ(all(1), std::vector<std::string>{"a"});
}

TEST_F(PostgresEngine, J6_a_store_of_the_first_version_is_migrated_unless_another_node_uses_it) {
  open();
  ASSERT_TRUE(put(1, 0, {"a"}));
  store_.reset();
  sql("ALTER TABLE perdure.nodes DROP home, DROP address; ALTER TABLE perdure.leases DROP offered, "
      "ADD expires timestamptz NOT NULL DEFAULT now(); DROP FUNCTION perdure.remove_session, "
      "perdure.drop_blobs; UPDATE perdure.meta SET value = '1' WHERE name = 'version';"
      "INSERT INTO perdure.nodes VALUES('old', 'x', 900, now())");
  const auto refused = PostgresStore::open(options_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::conflict) << refused.error().message();
  sql("UPDATE perdure.nodes SET heartbeat = now() - interval '1 hour'");
  open();
  EXPECT_EQ(all(1), std::vector<std::string>{"a"});
  EXPECT_TRUE(put(1, 1, {"b"}));
  EXPECT_TRUE(store_->remove(session(1)));
}

TEST_F(PostgresEngine, a_damaged_hash_is_an_error_and_ends_no_daemon) {
  open();
  ASSERT_TRUE(put(1, 0, {"a"}));
  sql("INSERT INTO perdure.answers VALUES('key', 'short', 'x')");
  const auto answer = store_->answer("key");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Code::damaged);
  EXPECT_EQ(store_->answers("", 10).error().code(), Code::damaged);
  sql("INSERT INTO perdure.blob_owners SELECT session, 'short' FROM perdure.records LIMIT 1");
  EXPECT_EQ(store_->belongings(session(1)).error().code(), Code::damaged);
}

TEST_F(PostgresEngine, C19_another_instance_of_the_node_shuts_the_older_one_out) {
  open();
  ASSERT_TRUE(put(1, 0, {"a"}));
  auto next = PostgresStore::open(options_);
  ASSERT_TRUE(next) << next.error().message();
  const Result<> stale = put(1, 1, {"of the older"});
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code(), Code::stale_owner);
  EXPECT_EQ(put(2, 0, {"new"}).error().code(), Code::stale_owner);
  EXPECT_EQ(store_->remove(session(1)).error().code(), Code::stale_owner);
  EXPECT_EQ(fatal_, 1);
  store_ = *std::move(next);
  ASSERT_TRUE(put(1, 1, {"of the newer"}));
  EXPECT_EQ(all(1), (std::vector<std::string>{"a", "of the newer"}));
}

TEST_F(PostgresEngine, a_lease_of_another_node_refuses_that_session_and_no_other) {
  open();
  ASSERT_TRUE(put(1, 0, {"a"}));
  ASSERT_TRUE(put(2, 0, {"a"}));
  sql("INSERT INTO perdure.nodes VALUES('two', 'x', 900, now() + interval '1 hour');"
      "UPDATE perdure.leases SET node = 'two', epoch = 900 WHERE session = "
      "(SELECT id FROM perdure.sessions ORDER BY id LIMIT 1)");
  std::optional<Result<>> first;
  std::optional<Result<>> second;
  queue({.session = session(1), .expected_head = 1, .records = {"b"}}, first);
  queue({.session = session(2), .expected_head = 1, .records = {"b"}}, second);
  store_->step();
  EXPECT_EQ(first->error().code(), Code::stale_owner);
  EXPECT_TRUE(*second) << second->error().message();
  EXPECT_EQ(all(1), std::vector<std::string>{"a"});
  options_.alone = true;
  const auto refused = PostgresStore::open(options_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::conflict) << refused.error().message();
  EXPECT_TRUE(refused.error().message().contains("'two'"));
}

TEST_F(PostgresEngine, DISK2_a_full_disk_of_the_server_is_refused_but_for_ends_and_passes) {
  open();
  ASSERT_TRUE(put(1, 0, {"a"}));
  sql("CREATE FUNCTION perdure.full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "IF length(NEW.bytes) > 10 THEN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END IF; "
      "RETURN NEW; END $$; CREATE TRIGGER full_disk BEFORE INSERT ON perdure.records "
      "FOR EACH ROW EXECUTE FUNCTION perdure.full()");
  std::optional<Result<>> big;
  std::optional<Result<>> end;
  queue({.session = session(1), .expected_head = 1, .records = {"a long record"}}, big);
  queue({.session = session(2), .records = {"end"}, .essential = true}, end);
  store_->step();
  EXPECT_EQ(big->error().code(), Code::disk_full);
  EXPECT_TRUE(*end) << end->error().message();
  EXPECT_TRUE(store_->totals().disk_full);
  sql("DROP TRIGGER full_disk ON perdure.records");
  idle();
  EXPECT_TRUE(put(1, 1, {"a long record"}));
  EXPECT_EQ(all(1).size(), 2U);
}

TEST_F(PostgresEngine, a_deadlock_or_a_timeout_is_tried_again_and_any_other_error_concerns_one) {
  open();
  ASSERT_TRUE(put(1, 0, {"a"}));
  for (const std::string state : {"40001", "40P01", "57014"}) {
    sql("CREATE SEQUENCE perdure.tries; CREATE FUNCTION perdure.once() RETURNS trigger LANGUAGE "
        "plpgsql AS $$ BEGIN IF nextval('perdure.tries') = 1 THEN RAISE EXCEPTION 'passes' USING "
        "ERRCODE = '" +
        state +
        "'; END IF; RETURN NEW; END $$; "
        "CREATE TRIGGER once BEFORE INSERT ON perdure.records FOR EACH ROW EXECUTE FUNCTION "
        "perdure.once()");
    const Seq head = store_->head(session(1))->seq;
    const Result<> done = put(1, head, {"b"});
    EXPECT_TRUE(done) << state << done.error().message();
    EXPECT_EQ(store_->head(session(1))->seq, head + 1);
    sql("DROP TRIGGER once ON perdure.records; DROP FUNCTION perdure.once(); "
        "DROP SEQUENCE perdure.tries");
  }
  sql("ALTER TABLE perdure.records ADD CONSTRAINT odd CHECK (bytes <> 'bad')");
  std::optional<Result<>> good;
  std::optional<Result<>> bad;
  queue({.session = session(2), .records = {"good"}}, good);
  queue({.session = session(3), .records = {"bad"}}, bad);
  store_->step();
  EXPECT_TRUE(*good) << good->error().message();
  EXPECT_EQ(bad->error().code(), Code::internal);
}

TEST_F(PostgresEngine, a_connection_that_the_server_ends_is_made_anew) {
  open();
  ASSERT_TRUE(put(1, 0, {"a"}));
  EXPECT_EQ(all(1).size(), 1U);
  sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
      "WHERE datname = current_database() AND pid <> pg_backend_pid()");
  EXPECT_TRUE(put(1, 1, {"b"}));
  EXPECT_EQ(all(1).size(), 2U);
}

TEST_F(PostgresEngine, DISK3_a_changed_row_is_noticed_before_it_is_served_and_only_there) {
  open();
  ASSERT_TRUE(put(1, 0, {"one", "two", "three"}));
  ASSERT_TRUE(put(2, 0, {"other"}));
  sql("UPDATE perdure.records SET bytes = 'TWO' WHERE bytes = 'two'");
  EXPECT_EQ(all(1), std::vector<std::string>{"one"});
  EXPECT_EQ(store_->read(session(1), {.after = 1, .limit = 5}).error().code(), Code::damaged);
  const auto report = store_->verify();
  ASSERT_TRUE(report) << report.error().message();
  ASSERT_EQ(report->damages.size(), 1U);
  EXPECT_EQ(report->damages[0].good, 1U);
  EXPECT_EQ(report->session_count, 2U);
  EXPECT_EQ(put(1, 3, {"four"}).error().code(), Code::damaged);
  EXPECT_TRUE(put(2, 1, {"more"}));
  sql("UPDATE perdure.records SET bytes = 'two' WHERE bytes = 'TWO'");
  EXPECT_TRUE(store_->verify()->damages.empty());
  EXPECT_TRUE(put(1, 3, {"four"}));
  sql("DELETE FROM perdure.records WHERE bytes = 'two'");
  EXPECT_EQ(store_->verify()->damages.size(), 1U);
}

TEST_F(PostgresEngine, TOK5_a_place_with_a_password_is_refused_and_not_repeated) {
  const std::string secret = "hunter2";
  for (const std::string& place :
       {"postgres://me:" + secret + "@localhost/db", "host=x password=" + secret,
        "postgres://me@localhost/db?password=" + secret,
        "postgres://me:" + secret + "@[broken/db"}) {
    const Result<> checked = check_postgres_place(place);
    ASSERT_FALSE(checked) << place;
    EXPECT_EQ(checked.error().code(), Code::invalid_argument);
    EXPECT_FALSE(checked.error().message().contains(secret));
  }
  EXPECT_TRUE(check_postgres_place("postgres://me@localhost/db"));
}

TEST_F(PostgresEngine, a_dump_that_was_restored_elsewhere_is_another_log) {
  open();
  EXPECT_EQ(store_->log_id(), "log");
  store_.reset();
  options_.new_log_id = "second";
  open();
  EXPECT_EQ(store_->log_id(), "log");
  sql("UPDATE perdure.meta SET value = 'another server' WHERE name = 'place'");
  open();
  EXPECT_EQ(store_->log_id(), "second");
}

class PostgresSearch : public PostgresTest {
 protected:
  void SetUp() override {
    PostgresTest::SetUp();
    if (IsSkipped()) return;
    options_.search_piece = search_piece;
    open();
  }
  void say(std::uint64_t number, std::vector<EventBody> bodies) {
    std::vector<std::string> records;
    Seq head = heads_[number];
    for (EventBody& body : bodies) {
      head += 1;
      const Timestamp at{static_cast<std::int64_t>(head) * 1000};
      records.push_back(encode_record(head, {}, Event{.at = at, .body = body}));
    }
    ASSERT_TRUE(put(number, heads_[number], records));
    heads_[number] = head;
  }
  std::vector<SearchHit> find(std::string query) {
    auto hits = store_->search({.query = std::move(query), .limit = 10});
    EXPECT_TRUE(hits) << hits.error().message();
    return hits ? *hits : std::vector<SearchHit>();
  }
  std::map<std::uint64_t, Seq> heads_;
};

TEST_F(PostgresSearch, A23_a_word_and_a_phrase_across_chunks_and_slices_are_found) {
  say(1, {MessageUser{.prompt = {.text = "explain"}}});
  say(1, {MessageAgent{.text = "a race con"}});
  say(2, {MessageAgent{.text = "another session"}});
  idle();
  open();  // a next life goes on with the same message
  say(1, {MessageAgent{.text = "dition in"}});
  say(1, {MessageAgent{.text = " the Scheduler"}, RunCompleted{}});
  idle();
  const auto hits = find("\"race condition in the scheduler\"");
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].session, session(1));
  EXPECT_EQ(hits[0].seq, 2U);
  EXPECT_EQ(hits[0].kind, "message.agent");
  EXPECT_EQ(hits[0].at.ms, 2000);
  EXPECT_EQ(hits[0].snippet, "a \x02race condition in the Scheduler\x03");
  EXPECT_TRUE(find("con").empty()) << "half a word is no word";
  EXPECT_TRUE(find("\"condition race\"").empty());
  EXPECT_EQ(find("scheduler race").size(), 1U);
  const auto count = [&](SearchAsk ask) { return store_->search(ask)->size(); };
  EXPECT_EQ(count({.query = "race", .kind = "message"}), 1U);
  EXPECT_EQ(count({.query = "race", .kind = "mess"}), 0U);
  EXPECT_EQ(count({.query = "race", .since = Timestamp{2001}}), 0U);
  EXPECT_EQ(count({.query = "race", .is_wanted = [](SessionId) { return false; }}), 0U);
}

TEST_F(PostgresSearch, a_redacted_chunk_is_not_found_and_the_rest_of_its_message_is) {
  say(1, {MessageAgent{.text = "the password is "}, MessageAgent{.text = "hunter2"},
          MessageAgent{.text = " as agreed"}, RunCompleted{}});
  idle();
  ASSERT_EQ(find("hunter2").size(), 1U);
  ASSERT_TRUE(store_->redact({.session = session(1),
                              .seq = 2,
                              .replacement = encode_tombstone(all(1)[1]).value(),
                              .blobs = {}}));
  EXPECT_TRUE(find("hunter2").empty());
  idle();
  EXPECT_TRUE(find("hunter2").empty());
  EXPECT_EQ(find("\"password is as agreed\"").size(), 1U);
}

TEST(PostgresWords, words_are_letters_and_digits_without_case) {
  const auto words = [](std::string_view text) {
    std::vector<std::string> out;
    for (const FoundWord& found : words_of(text)) out.push_back(found.word);
    return out;
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(words("src/Store_files.cc:42"), (Words{"src", "store", "files", "cc", "42"}));
  EXPECT_EQ(words("„Größe“ – naïve\u00a0x"), (Words{"größe", "naïve", "x"}));
  EXPECT_EQ(words(std::string_view("\0\xff\xe2\x80", 4)), (Words{"\xff\xe2\x80"}));
  EXPECT_EQ(phrases_of("a-b \"c d\" e"), (Phrases{{"a", "b"}, {"c", "d"}, {"e"}}));
  EXPECT_TRUE(phrases_of("\" - \"").empty());
  EXPECT_EQ(snippet_of("one Two three", {{"two"}}), "one \x02Two\x03 three");
  EXPECT_EQ(snippet_of("one two", {{"two", "one"}}), std::nullopt);
}

}  // namespace
}  // namespace perdure
