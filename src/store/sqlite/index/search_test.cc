// The full-text index by message: chunks that share a word, crashes between slices, redaction, and
// files indexed in the earlier form.
#include "store/sqlite/index/search.h"

#include <map>

#include <sqlite3.h>

#include "core/wire/journal/record.h"
#include "store/sqlite/store_fixture_test.h"

namespace perdure {
namespace {

using store_test::session;
using store_test::slurp;

class SqliteSearch : public store_test::StoreTest {
 protected:
  void SetUp() override {
    options_ = options();
    options_.search_piece = search_piece;
    open(options_);
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
  // Idles until unfinished messages are indexed too.
  void settle() {
    for (int i = 0; i < 50; ++i) idle(*store_);
  }
  void exec(const char* sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
  std::vector<SearchHit> find(std::string query) {
    auto hits = store_->search({.query = std::move(query), .limit = 10});
    EXPECT_TRUE(hits) << hits.error().message();
    return hits ? *hits : std::vector<SearchHit>();
  }

  SqliteOptions options_;
  std::map<std::uint64_t, Seq> heads_;
};

TEST_F(SqliteSearch, A23_a_word_and_a_phrase_across_chunks_are_found) {
  say(1, {MessageUser{.prompt = {.text = "explain"}}});
  say(1, {MessageAgent{.text = "a race con"}});
  say(2, {MessageAgent{.text = "another session"}});
  idle(*store_);
  say(1, {MessageAgent{.text = "dition in"}});
  say(1, {MessageAgent{.text = " the scheduler"}, RunCompleted{}});
  idle(*store_);
  const auto hits = find("\"race condition in the scheduler\"");
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].session, session(1));
  EXPECT_EQ(hits[0].seq, 2U);
  EXPECT_EQ(hits[0].kind, "message.agent");
  EXPECT_EQ(hits[0].at.ms, 2000);
  EXPECT_EQ(hits[0].snippet, "a \x02race condition in the scheduler\x03");
  EXPECT_TRUE(find("con").empty()) << "half a word is no word";
  EXPECT_TRUE(find("\"condition race\"").empty());
  EXPECT_EQ(find("scheduler race").size(), 1U);
}

TEST_F(SqliteSearch, a_message_that_is_being_written_is_found_when_nothing_else_is_to_do) {
  say(1, {MessageAgent{.text = "long enough a beginning "}});
  idle(*store_);
  say(1, {MessageAgent{.text = "marmalade"}});
  idle(*store_);
  EXPECT_TRUE(find("marmalade").empty()) << "else each chunk would write the whole text again";
  settle();
  EXPECT_EQ(find("marmalade").size(), 1U);
}

TEST_F(SqliteSearch, a_crash_between_two_slices_goes_on_with_the_same_message) {
  say(1, {MessageAgent{.text = "mar"}});
  idle(*store_);
  store_.reset();  // closing writes nothing
  open(options_);
  say(1, {MessageAgent{.text = "malade"}, RunCompleted{}});
  idle(*store_);
  const auto hits = find("marmalade");
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].seq, 1U);
  ASSERT_TRUE(store_->rebuild_search());
  EXPECT_TRUE(find("marmalade").empty());
  idle(*store_);
  EXPECT_EQ(find("marmalade").size(), 1U);
}

TEST_F(SqliteSearch, filters_take_kind_time_and_sessions) {
  say(1, {MessageUser{.prompt = {.text = "needle one"}}, MessageAgent{.text = "needle two"}});
  say(2, {MessageUser{.prompt = {.text = "needle three"}}});
  settle();
  const auto count = [&](SearchAsk ask) {
    ask.query = "needle";
    return store_->search(ask)->size();
  };
  EXPECT_EQ(count({.query = {}}), 3U);
  EXPECT_EQ(count({.query = {}, .kind = "message.user"}), 2U);
  EXPECT_EQ(count({.query = {}, .kind = "message"}), 3U);
  EXPECT_EQ(count({.query = {}, .kind = "mess"}), 0U);
  EXPECT_EQ(count({.query = {}, .since = Timestamp{2000}}), 1U);
  EXPECT_EQ(count({.query = {}, .until = Timestamp{2000}}), 2U);
  EXPECT_EQ(
      count({.query = {}, .limit = 1, .is_wanted = [](SessionId id) { return id == session(1); }}),
      1U);
  EXPECT_EQ(count({.query = {}, .is_wanted = [](SessionId) { return false; }}), 0U);
}

TEST_F(SqliteSearch, a_redacted_chunk_is_not_found_and_the_rest_of_its_message_is) {
  for (const bool closed : {true, false}) {
    const std::uint64_t number = closed ? 1 : 2;
    say(number, {MessageAgent{.text = "the password is "}, MessageAgent{.text = "hunter2"},
                 MessageAgent{.text = " as agreed"}});
    if (closed) say(number, {RunCompleted{}});
    settle();
    ASSERT_EQ(find("hunter2").size(), 1U);
    const std::string record = all(number)[1];
    ASSERT_TRUE(store_->redact({.session = session(number),
                                .seq = 2,
                                .replacement = encode_tombstone(record).value(),
                                .blobs = {}}));
    EXPECT_TRUE(find("hunter2").empty());
    EXPECT_EQ(find("\"password is as agreed\"").size(), number);
  }
  say(2, {MessageAgent{.text = " and kept"}, RunCompleted{}});
  idle(*store_);
  EXPECT_TRUE(find("hunter2").empty());
  EXPECT_EQ(find("\"as agreed and kept\"").size(), 1U);
  ASSERT_TRUE(store_->shut_down());
  EXPECT_EQ(slurp(path()).find("hunter2"), std::string::npos);
}

// A reader with an old view keeps the log from being emptied. Redacted bytes are erased as soon as
// the reader ends, even if the store crashed in between.
TEST_F(SqliteSearch, J2_a_redaction_that_a_reader_holds_up_is_finished_when_it_lets_go) {
  const auto holds = [&] {
    return (slurp(path()) + slurp(path("journal.db-wal"))).find("hunter2") != std::string::npos;
  };
  for (const bool crashes : {false, true}) {
    const std::uint64_t number = crashes ? 2 : 1;
    say(number, {MessageAgent{.text = "hunter2"}, RunCompleted{}});
    settle();
    sqlite3* reader = nullptr;
    ASSERT_EQ(sqlite3_open_v2(path().c_str(), &reader, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM sqlite_master", nullptr, nullptr,
                           nullptr),
              SQLITE_OK);
    ASSERT_TRUE(store_->redact({.session = session(number),
                                .seq = 1,
                                .replacement = encode_tombstone(all(number)[0]).value(),
                                .blobs = {}}));
    (void)store_->idle_step();
    EXPECT_TRUE(holds()) << "the reader still sees the old file: this test shows nothing";
    EXPECT_EQ(all(number)[0].find("hunter2"), std::string::npos);
    ASSERT_EQ(sqlite3_close(reader), SQLITE_OK);
    if (crashes) {
      store_.reset();  // without shut_down(): no cleanup
      open(options_);
    }
    settle();
    EXPECT_FALSE(holds()) << crashes;
  }
}

TEST_F(SqliteSearch, a_removed_session_is_not_found_and_leaves_no_word) {
  say(1, {MessageAgent{.text = "marmalade "}, MessageAgent{.text = "toast"}});
  say(2, {MessageAgent{.text = "ordinary toast"}});
  settle();
  ASSERT_TRUE(store_->remove(session(1)));
  EXPECT_TRUE(find("marmalade").empty());
  idle(*store_);
  EXPECT_EQ(find("toast").size(), 1U);
  ASSERT_TRUE(store_->rebuild_search());
  idle(*store_);
  ASSERT_TRUE(store_->shut_down());
  EXPECT_EQ(slurp(path()).find("marmalade"), std::string::npos);
}

TEST_F(SqliteSearch, S10_a_file_indexed_by_record_is_indexed_anew) {
  say(1, {MessageAgent{.text = "mar"}, MessageAgent{.text = "malade"}, RunCompleted{}});
  idle(*store_);
  store_.reset();
  exec(
      "DROP TABLE texts; DROP TABLE text_pieces; DELETE FROM search; "
      "INSERT INTO search(rowid, text) VALUES(7, 'mar'); "
      "DELETE FROM meta WHERE name = 'search_version'");
  open(options_);
  EXPECT_TRUE(find("mar").empty());
  idle(*store_);
  EXPECT_EQ(find("marmalade").size(), 1U);
  EXPECT_TRUE(find("mar").empty());
}

TEST(SearchQuery, what_a_person_types_is_words_and_quoted_phrases) {
  EXPECT_EQ(search_query("race condition"), "\"race\" \"condition\"");
  EXPECT_EQ(search_query("\"race condition\" bug"), "\"race condition\" \"bug\"");
  EXPECT_EQ(search_query("open\"end of"), "\"open\" \"end of\"");
  EXPECT_EQ(search_query(" \"\" "), "");
  EXPECT_EQ(search_query("\""), "");
}

}  // namespace
}  // namespace perdure
