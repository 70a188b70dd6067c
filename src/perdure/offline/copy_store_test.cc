// Copies of stores between engines: there and back, byte for byte, with an unchanged transcript;
// and which engine a data folder has.
#include "perdure/offline/copy_store.h"

#include <filesystem>
#include <fstream>
#include <optional>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/limits.h"
#include "core/views/transcript.h"
#include "core/wire/journal/record.h"
#include "daemon/setup/data_folder.h"
#include "testing/postgres/postgres_server.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

class CopyStore : public testing::Test {
 protected:
  CopyStore() {
    std::string pattern = (fs::temp_directory_path() / "perdure_copy_XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~CopyStore() override { fs::remove_all(root_); }

  static SessionId session(std::uint64_t number) { return SessionId(Ulid{1, number}); }
  StorePlace place(EngineName engine, const std::string& name) const {
    return {.engine = engine, .path = root_ + "/" + name};
  }
  static std::unique_ptr<StoreEngine> open(const StorePlace& place) {
    auto opened = open_journal(place, {.create = true});
    EXPECT_TRUE(opened) << opened.error().message();
    return *std::move(opened);
  }
  static std::vector<std::string> golden() {
    std::ifstream in(PERDURE_SOURCE_DIR "/tests/golden/journal/v1.jsonl");
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    EXPECT_FALSE(lines.empty());
    return lines;
  }
  static void commit(StoreEngine& store, Append batch) {
    batch.epoch = store.epoch();
    store.append(std::move(batch),
                 [](const Result<>& done) { EXPECT_TRUE(done) << done.error().message(); });
    while (store.step()) {}
  }
  // The golden journal with a snapshot in its middle, a session of odd bytes, one without records.
  static void fill(StoreEngine& store) {
    const std::vector<std::string> lines = golden();
    commit(store, {.session = session(1),
                   .records = {lines.begin(), lines.begin() + 30},
                   .blobs = {{.hash = sha256("blob"), .bytes = "blob"}},
                   .snapshot = "the state at 30"});
    commit(store, {.session = session(1),
                   .expected_head = 30,
                   .records = {lines.begin() + 30, lines.end()},
                   .outbox_add = {{7, "effect"}, {9, std::string("\0\xff", 2)}},
                   .cursor = FrameCursor{ExecId(Ulid{1, 5}), 77},
                   .answers = {{.key = "k1", .body = sha256("b"), .answer = "one"},
                               {.key = "k2", .answer = "two", .expires = Timestamp{5}}},
                   .refs = {"wt_a", "perm_b"},
                   .listing = Listing{.open = true, .updated = Timestamp{9}, .summary = "{}"}});
    commit(store, {.session = session(2),
                   .records = {"", std::string("a\nb\0", 4), std::string(300'000, 'x')}});
    commit(store, {.session = session(3), .listing = Listing{.archived = true}});
  }
  static std::vector<std::string> records(StoreEngine& store, std::uint64_t number) {
    const auto page = store.read(session(number), {.after = 0, .limit = 1000});
    EXPECT_TRUE(page) << page.error().message();
    return page ? page->records : std::vector<std::string>();
  }
  static std::string transcript(StoreEngine& store) {
    std::vector<Record> decoded;
    for (const std::string& record : records(store, 1)) {
      decoded.push_back(decode_record(record).value().record);
    }
    return transcript_hash(fold_transcript(std::move(decoded))).hex();
  }
  static void expect_equal(StoreEngine& left, StoreEngine& right) {
    for (const std::uint64_t number : {1, 2, 3}) {
      SCOPED_TRACE(number);
      const SessionId id = session(number);
      EXPECT_TRUE(records(left, number) == records(right, number));
      EXPECT_EQ(*left.head(id), *right.head(id));
      EXPECT_EQ(*left.outbox(id), *right.outbox(id));
      EXPECT_EQ(left.belongings(id)->refs, right.belongings(id)->refs);
      EXPECT_EQ(left.belongings(id)->blobs, right.belongings(id)->blobs);
      const auto one = *left.snapshot(id);
      const auto other = *right.snapshot(id);
      ASSERT_EQ(one.has_value(), other.has_value());
      if (one) EXPECT_TRUE(one->seq == other->seq && one->bytes == other->bytes);
    }
    const auto listed = left.list(SessionId(), 10);
    const auto listed_too = right.list(SessionId(), 10);
    ASSERT_EQ(listed->size(), listed_too->size());
    for (std::size_t i = 0; i < listed->size(); ++i) {
      EXPECT_TRUE((*listed)[i].listing == (*listed_too)[i].listing);
    }
    EXPECT_EQ(*left.answers("", 10), *right.answers("", 10));
    EXPECT_EQ(left.blob(sha256("blob")).value(), right.blob(sha256("blob")).value());
    EXPECT_EQ(transcript(left), transcript(right));
    EXPECT_NE(left.log_id(), right.log_id());
  }

  std::string root_;
};

TEST_F(CopyStore, C7_J2_sqlite_to_files_to_sqlite_is_the_same_byte_for_byte) {
  const StorePlace first = place(EngineName::sqlite, "a.db");
  const StorePlace middle = place(EngineName::files, "b");
  const StorePlace last = place(EngineName::sqlite, "c.db");
  fill(*open(first));
  std::string told;
  auto copied = copy_store(
      {.from = first, .to = middle, .on_progress = [&](const std::string& line) { told = line; }});
  ASSERT_TRUE(copied) << copied.error().message();
  EXPECT_EQ(copied->sessions, 3U);
  EXPECT_EQ(copied->records, golden().size() + 3);
  EXPECT_EQ(copied->answers, 2U);
  EXPECT_EQ(copied->blobs, 1U);
  EXPECT_TRUE(told.contains("of 3 sessions compared")) << told;
  copied = copy_store({.from = middle, .to = last});
  ASSERT_TRUE(copied) << copied.error().message();
  const auto left = open(first);
  const auto right = open(last);
  expect_equal(*left, *right);
  expect_equal(*left, *open(middle));
}

TEST_F(CopyStore, C7_J2_sqlite_to_postgres_to_files_to_sqlite_is_the_same_byte_for_byte) {
  if (const std::string reason = PostgresServer::missing(); !reason.empty()) GTEST_SKIP() << reason;
  const auto database = [] {
    return StorePlace{.engine = EngineName::postgres,
                      .path = PostgresServer::shared().new_database()};
  };
  const StorePlace first = place(EngineName::sqlite, "a.db");
  const StorePlace second = database();
  const StorePlace third = place(EngineName::files, "b");
  const StorePlace last = place(EngineName::sqlite, "c.db");
  fill(*open(first));
  for (const auto& [from, to] : {std::pair(first, second), {second, third}, {third, last}}) {
    const auto copied = copy_store({.from = from, .to = to});
    ASSERT_TRUE(copied) << copied.error().message();
    EXPECT_EQ(copied->records, golden().size() + 3);
    EXPECT_EQ(copied->answers, 2U);
  }
  expect_equal(*open(first), *open(last));
  expect_equal(*open(first), *open(second));
  EXPECT_EQ(copy_store({.from = first, .to = second}).error().code(), Code::conflict);

  // A daemon that uses the database is not disturbed.
  StorePlace used = second;
  used.node = "a daemon";
  const auto daemon = open(used);
  const auto refused = copy_store({.from = second, .to = place(EngineName::sqlite, "d.db")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::conflict) << refused.error().message();

  const StorePlace broken = place(EngineName::sqlite, "broken.db");
  std::vector<std::string> lines = golden();
  lines[5].back() = ' ';
  lines[5] += '}';
  commit(*open(broken), {.session = session(1), .records = lines});
  const StorePlace nothing = database();
  EXPECT_EQ(copy_store({.from = broken, .to = nothing}).error().code(), Code::damaged);
  EXPECT_EQ(open_journal(nothing, {}).error().code(), Code::not_found) << "nothing is left of it";
}

// Agents that kept running obey no daemon of an earlier epoch than the last one they knew.
TEST_F(CopyStore, C7_S8_a_copy_is_of_a_later_epoch_than_what_it_was_made_of) {
  std::vector<StorePlace> places = {place(EngineName::sqlite, "a.db"),
                                    place(EngineName::files, "b"),
                                    place(EngineName::sqlite, "c.db")};
  if (PostgresServer::missing().empty()) {
    places.push_back(
        {.engine = EngineName::postgres, .path = PostgresServer::shared().new_database()});
    places.push_back(place(EngineName::files, "d"));
  }
  fill(*open(places.front()));
  std::uint64_t before = 0;
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    for (int life = 0; life < 5; ++life) before = open(places[i])->epoch();
    const auto copied = copy_store({.from = places[i], .to = places[i + 1]});
    ASSERT_TRUE(copied) << copied.error().message();
    const std::uint64_t after = open(places[i + 1])->epoch();
    EXPECT_GT(after, before) << places[i + 1].text();
    EXPECT_LT(after, before + 10) << places[i + 1].text();
  }
}

// Several hundred MB.
class CopyStoreLong : public CopyStore {};

TEST_F(CopyStoreLong, C7_a_session_may_have_more_blobs_than_an_append_takes) {
  const StorePlace from = place(EngineName::sqlite, "a.db");
  const StorePlace to = place(EngineName::sqlite, "b.db");
  constexpr std::size_t bytes = 45UL << 20;
  constexpr std::size_t count = append_bytes_max / bytes + 1;
  std::vector<Hash> hashes;
  {
    const auto store = open(from);
    for (std::size_t i = 0; i < count; ++i) {
      Blob blob{.hash = {}, .bytes = std::string(bytes, static_cast<char>('a' + i))};
      blob.hash = sha256(blob.bytes);
      hashes.push_back(blob.hash);
      commit(*store, {.session = session(1), .blobs = {std::move(blob)}});
    }
  }
  const auto copied = copy_store({.from = from, .to = to});
  ASSERT_TRUE(copied) << copied.error().message();
  EXPECT_EQ(copied->blobs, count);
  const auto store = open(to);
  EXPECT_EQ(store->belongings(session(1))->blobs.size(), count);
  for (const Hash& hash : hashes) EXPECT_EQ(store->blob(hash)->size(), bytes);
}

TEST_F(CopyStore, C7_a_data_folder_remembers_its_database) {
  const std::string data = root_ + "/data";
  fs::create_directory(data);
  const AskedStore asked = parse_asked_store("postgres://me@db/x").value();
  StorePlace chosen = choose_journal(data, asked).value();
  EXPECT_EQ(chosen.path, "postgres://me@db/x");
  EXPECT_FALSE(chosen.node.empty());
  chosen.node = "one";
  ASSERT_TRUE(note_journal(data, chosen));
  const StorePlace found = choose_journal(data, std::nullopt).value();
  EXPECT_EQ(found.engine, EngineName::postgres);
  EXPECT_EQ(found.path, chosen.path);
  EXPECT_EQ(choose_journal(data, asked)->node, "one");
  const AskedStore files{.engine = EngineName::files};
  EXPECT_EQ(choose_journal(data, files).error().code(), Code::conflict);
  EXPECT_EQ(parse_asked_store("postgres://me:hunter2@db/x").error().code(), Code::invalid_argument);
  EXPECT_EQ(parse_asked_store("mysql").error().code(), Code::invalid_argument);
}

TEST_F(CopyStore, C7_a_copy_takes_no_place_that_is_taken_and_leaves_nothing_of_a_failed_one) {
  const StorePlace from = place(EngineName::files, "a");
  fill(*open(from));
  const StorePlace taken = place(EngineName::sqlite, "taken.db");
  fill(*open(taken));
  EXPECT_EQ(copy_store({.from = from, .to = taken}).error().code(), Code::conflict);
  EXPECT_EQ(copy_store({.from = from, .to = from}).error().code(), Code::conflict);
  // The copy must not clean up the remains of a lost store.
  fs::remove(taken.path);
  ASSERT_TRUE(fs::exists(taken.path + "-wal"));
  EXPECT_EQ(copy_store({.from = from, .to = taken}).error().code(), Code::conflict);
  EXPECT_TRUE(fs::exists(taken.path + "-wal"));

  // A record that does not contain its predecessor's hash, but is valid otherwise.
  const StorePlace broken = place(EngineName::sqlite, "broken.db");
  std::vector<std::string> lines = golden();
  lines[5].back() = ' ';
  lines[5] += '}';
  commit(*open(broken), {.session = session(1), .records = lines});
  const StorePlace to = place(EngineName::files, "to");
  const auto copied = copy_store({.from = broken, .to = to});
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), Code::damaged) << copied.error().message();
  EXPECT_FALSE(fs::exists(landmark(to)));
  EXPECT_FALSE(fs::exists(to.path + "/sessions"));
}

TEST_F(CopyStore, S8_a_store_that_a_daemon_has_is_not_touched) {
  const std::string data = root_ + "/data";
  const auto folder = DataFolder::open(data).value();
  ASSERT_TRUE(folder->lock());
  fill(*open({.engine = EngineName::files, .path = data}));
  const auto copied = copy_store(
      {.from = parse_store_place(data).value(), .to = place(EngineName::sqlite, "out.db")});
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), Code::conflict);
  EXPECT_FALSE(fs::exists(root_ + "/out.db"));
}

TEST_F(CopyStore, C7_a_data_folder_keeps_its_engine_and_refuses_another) {
  const std::string data = root_ + "/data";
  fs::create_directory(data);
  EXPECT_EQ(choose_journal(data, std::nullopt)->engine, EngineName::sqlite);
  EXPECT_EQ(choose_journal(data, AskedStore{.engine = EngineName::files})->engine,
            EngineName::files);
  fill(*open(choose_journal(data, AskedStore{.engine = EngineName::files}).value()));
  EXPECT_EQ(choose_journal(data, std::nullopt)->engine, EngineName::files);
  const auto refused = choose_journal(data, AskedStore{.engine = EngineName::sqlite});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::conflict);
  EXPECT_TRUE(refused.error().message().contains("kept by the engine files"));
  fill(*open({.engine = EngineName::sqlite, .path = data + "/perdure.db"}));
  EXPECT_EQ(choose_journal(data, std::nullopt).error().code(), Code::conflict);
}

TEST_F(CopyStore, places_are_engine_and_path_or_what_is_there) {
  EXPECT_EQ(parse_store_place("files:/a/b/../c")->path, "/a/c");
  EXPECT_EQ(parse_store_place("sqlite:/a/x.db")->engine, EngineName::sqlite);
  EXPECT_EQ(parse_store_place("files:").error().code(), Code::invalid_argument);
  EXPECT_EQ(parse_store_place(root_).error().code(), Code::not_found);
  fill(*open(place(EngineName::files, "f")));
  EXPECT_EQ(parse_store_place(root_ + "/f")->engine, EngineName::files);
}

}  // namespace
}  // namespace perdure
