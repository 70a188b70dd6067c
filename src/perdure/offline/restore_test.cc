// Restoring a backup over the rest of a journal, and moving journals aside: acknowledged records
// are served or kept under their own name, and two journals are never mixed.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/setup/clean_start.h"
#include "daemon/setup/data_folder.h"
#include "daemon/setup/open_journal.h"
#include "daemon/setup/stored_epoch.h"
#include "perdure/offline/local_verbs.h"
#include "store/files/log/sealed.h"
#include "store/sqlite/sqlite_store.h"

namespace {

// Paths synced since a test set it.
std::vector<std::string>* synced_paths = nullptr;

}  // namespace

// Replaces libc's, so that a test sees the order in which things reach the disk.
extern "C" int fsync(int file) {
  if (synced_paths != nullptr) {
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    synced_paths->push_back(std::filesystem::read_symlink(link));
  }
  return static_cast<int>(::syscall(SYS_fsync, file));
}

namespace perdure {
namespace {

namespace fs = std::filesystem;

class Restore : public testing::Test {
 protected:
  Restore() {
    std::string pattern = (fs::temp_directory_path() / "perdure_restore_XXXXXX").string();
    home_ = ::mkdtemp(pattern.data());
    setenv("PERDURE_HOME", home_.c_str(), 1);
    EXPECT_TRUE(DataFolder::open(home_));
  }
  ~Restore() override {
    unsetenv("PERDURE_HOME");
    fs::remove_all(home_);
  }

  std::string path(const std::string& name) const { return home_ + "/" + name; }
  bool has(const std::string& name) const { return fs::exists(path(name)); }
  static SessionId session(std::uint64_t number = 1) { return SessionId(Ulid{1, number}); }
  static void put_one(StoreEngine& store, std::uint64_t number) {
    store.append(
        {.session = session(number), .epoch = store.epoch(), .records = {"{\"text\":\"one\"}"}},
        [](const Result<>& done) { EXPECT_TRUE(done) << done.error().message(); });
    while (store.step()) {}
  }
  // The first session is read-only, the second is not.
  static void expect_second_alone(StoreEngine& store) {
    std::vector<bool> taken;
    for (const std::uint64_t number : {1, 2}) {
      store.append({.session = session(number),
                    .epoch = store.epoch(),
                    .expected_head = 1,
                    .records = {"{\"text\":\"two\"}"}},
                   [&](const Result<>& done) { taken.push_back(done.has_value()); });
      while (store.step()) {}
    }
    EXPECT_EQ(taken, (std::vector<bool>{false, true}));
    EXPECT_EQ(store.read(session(2), {.limit = 9})->records.size(), 2U);
  }
  static void overwrite(const std::string& file, int at, const std::string& bytes) {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    ASSERT_TRUE(out.seekp(at).write(bytes.data(), static_cast<std::streamsize>(bytes.size())));
  }
  static void execute(const std::string& file, const char* sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
  std::unique_ptr<SqliteStore> open() const {
    auto opened = SqliteStore::open({.path = path("perdure.db"), .create = true});
    EXPECT_TRUE(opened) << opened.error().message();
    return *std::move(opened);
  }
  static void put(SqliteStore& store, Seq head, const std::string& record) {
    store.append(
        {.session = session(), .epoch = store.epoch(), .expected_head = head, .records = {record}},
        [](const Result<>& done) { EXPECT_TRUE(done) << done.error().message(); });
    while (store.step()) {}
  }
  std::vector<std::string> records() const {
    const auto page = open()->read(session(), {.limit = 1000});
    EXPECT_TRUE(page) << page.error().message();
    return page ? page->records : std::vector<std::string>();
  }
  // A backup of two records, and then commits that are only in the -wal, as after a kill.
  std::string backup_and_go_on() const {
    {
      const auto store = open();
      put(*store, 0, "one");
      put(*store, 1, "two");
      EXPECT_TRUE(store->shut_down());
    }
    const std::string file = path("saved");
    EXPECT_TRUE(verbs_.backup(file));
    const auto store = open();
    for (Seq head = 2; head < 40; ++head) put(*store, head, "not in the backup");
    return file;
  }
  // The folders in the archive.
  std::vector<std::string> archived() const {
    std::vector<std::string> out;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(path("archive"), error)) {
      out.push_back(entry.path());
    }
    return out;
  }

  const cli::LocalVerbs verbs_ = local_verbs("/nowhere/perdure");
  std::string home_;
};

TEST_F(Restore, S13_S7_the_log_of_a_lost_journal_is_not_laid_over_the_backup) {
  const std::string backup = backup_and_go_on();
  ASSERT_GT(fs::file_size(path("perdure.db-wal")), 100'000U);
  fs::remove(path("perdure.db"));
  std::ofstream(path("perdure.db-wal.redo")) << "left by a cut";
  const auto restored = verbs_.restore({.file = backup});
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ(records(), (std::vector<std::string>{"one", "two"}));
  ASSERT_EQ(archived().size(), 1U);
  EXPECT_GT(fs::file_size(archived()[0] + "/perdure.db-wal"), 100'000U);
  EXPECT_TRUE(fs::exists(archived()[0] + "/perdure.db-wal.redo"));
  EXPECT_FALSE(has("perdure.db-wal.redo"));
}

// For example a file from the archive, of a daemon that was killed.
TEST_F(Restore, S13_a_file_with_commits_in_its_wal_is_restored_with_them) {
  (void)backup_and_go_on();
  const std::size_t before = records().size();
  ASSERT_EQ(before, 40U);
  const std::string kept = put_aside(home_, Aside::journal).value();
  ASSERT_GT(fs::file_size(kept + "/perdure.db-wal"), 0U);
  const auto restored = verbs_.restore({.file = kept + "/perdure.db"});
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ(records().size(), before);
}

// The parts of a journal move one by one. After an interruption, the rest is not opened as if it
// were complete, and the next call finishes the move.
TEST_F(Restore, S13_U12_a_journal_half_put_aside_is_refused_and_not_opened) {
  const std::string backup = backup_and_go_on();
  // One part cannot be moved, because it contains the archive.
  fs::create_directory(path("commits"));
  fs::create_directory_symlink("commits", path("archive"));
  EXPECT_FALSE(verbs_.restore({.file = backup, .replace = true}));
  EXPECT_FALSE(has("perdure.db"));
  EXPECT_TRUE(has("perdure.db-wal"));
  const auto refused = open_journal({.path = path("perdure.db")}, {.create = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::damaged) << refused.error().message();

  fs::remove(path("archive"));
  fs::rename(path("commits"), path("kept"));
  const auto restored = verbs_.restore({.file = backup});
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ(records(), (std::vector<std::string>{"one", "two"}));
}

TEST_F(Restore, S13_S8_a_restored_journal_is_of_a_later_epoch_than_the_one_it_replaces) {
  const std::string backup = backup_and_go_on();
  for (int life = 0; life < 5; ++life) open();
  const std::uint64_t before = open()->epoch();
  ASSERT_TRUE(verbs_.restore({.file = backup, .replace = true}));
  EXPECT_GT(open()->epoch(), before);
}

// The most common reason to restore: the current journal cannot be opened.
TEST_F(Restore, S13_S8_the_epoch_does_not_go_back_where_the_present_journal_does_not_open) {
  const std::string backup = backup_and_go_on();
  for (int life = 0; life < 5; ++life) open();
  const auto damage_and_restore = [&] {
    // The damage varies: opening fails, and the epoch may be readable or not.
    EXPECT_EQ(open_journal({.path = path("perdure.db")}, {}).error().code(), Code::damaged);
    const auto restored = verbs_.restore({.file = backup, .replace = true});
    ASSERT_TRUE(restored) << restored.error().message();
  };
  std::uint64_t before = open()->epoch();
  ASSERT_GT(fs::file_size(path("perdure.db-wal")), 50'000U);
  overwrite(path("perdure.db-wal"), 9000, "~");
  damage_and_restore();
  EXPECT_GT(open()->epoch(), before);

  before = open()->epoch();
  EXPECT_TRUE(open()->shut_down());
  execute(path("perdure.db"), "PRAGMA user_version = 0");
  damage_and_restore();
  EXPECT_GT(open()->epoch(), before) << "the backup is the same, and that life was restored too";
}

TEST_F(Restore, S13_S8_a_backup_of_files_is_restored_with_a_later_epoch) {
  const StorePlace place{.engine = EngineName::files, .path = home_};
  for (int life = 0; life < 5; ++life) EXPECT_TRUE(open_journal(place, {.create = true}));
  ASSERT_TRUE(verbs_.backup(path("saved")));
  EXPECT_GT(stored_epoch({.engine = EngineName::files, .path = path("saved")}), 5U);
  const std::uint64_t before = open_journal(place, {}).value()->epoch();
  // On another machine, which has nothing but the backup.
  fs::remove(path("store.json"));
  ASSERT_TRUE(verbs_.restore({.file = path("saved")}));
  const std::uint64_t after = open_journal(place, {}).value()->epoch();
  EXPECT_GT(after, before);
  // Over a journal that has a readable store.json and still cannot be opened.
  std::ofstream(path("sessions/" + session().text() + ".rows.json"))
      << seal(R"({"format":99})") << "\n";
  ASSERT_FALSE(open_journal(place, {}));
  ASSERT_TRUE(verbs_.restore({.file = path("saved"), .replace = true}));
  EXPECT_GT(open_journal(place, {}).value()->epoch(), after);
}

TEST_F(Restore, S13_DISK3_G9_a_backup_with_a_damaged_session_is_restored_and_names_it) {
  {
    const auto store = open();
    for (const std::uint64_t number : {1, 2}) put_one(*store, number);
    EXPECT_TRUE(store->shut_down());
  }
  ASSERT_TRUE(verbs_.backup(path("saved")));
  execute(path("saved"),
          "UPDATE extents SET packed = x'00' WHERE sid = (SELECT min(sid) FROM extents)");
  const auto restored = verbs_.restore({.file = path("saved"), .replace = true});
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ(restored->sessions, 2U);
  ASSERT_EQ(restored->damaged.size(), 1U);
  EXPECT_EQ(restored->damaged[0].session, session().text());
  expect_second_alone(*open());
}

TEST_F(Restore, S13_DISK3_G9_a_folder_with_a_damaged_session_is_restored_and_names_it) {
  const StorePlace place{.engine = EngineName::files, .path = home_};
  {
    const auto store = open_journal(place, {.create = true}).value();
    for (const std::uint64_t number : {1, 2}) put_one(*store, number);
    EXPECT_TRUE(store->shut_down());
  }
  ASSERT_TRUE(verbs_.backup(path("saved")));
  overwrite(path("saved/sessions/" + session().text() + ".messages.jsonl"), 5, "~");
  const auto restored = verbs_.restore({.file = path("saved"), .replace = true});
  ASSERT_TRUE(restored) << restored.error().message();
  ASSERT_EQ(restored->damaged.size(), 1U);
  EXPECT_EQ(restored->damaged[0].session, session().text());
  expect_second_alone(*open_journal(place, {}).value());
}

TEST_F(Restore, S13_S1_C20_a_folder_with_a_torn_end_is_restored_with_a_word) {
  const StorePlace place{.engine = EngineName::files, .path = home_};
  put_one(*open_journal(place, {.create = true}).value(), 2);
  const std::string kept = put_aside(home_, Aside::journal).value();
  const std::string log = fs::directory_iterator(kept + "/commits")->path();
  std::ofstream(log, std::ios::app) << "{\"crc\":\"half a gro";
  const auto restored = verbs_.restore({.file = kept});
  ASSERT_TRUE(restored) << restored.error().message();
  ASSERT_EQ(restored->damaged.size(), 1U);
  EXPECT_EQ(restored->damaged[0].session, "");
  EXPECT_TRUE(restored->damaged[0].message.contains("was cut")) << restored->damaged[0].message;
  EXPECT_EQ(open_journal(place, {}).value()->read(session(2), {.limit = 9})->records.size(), 1U);
}

TEST_F(Restore, S13_DISK3_a_file_that_is_damaged_itself_changes_nothing) {
  const std::string backup = backup_and_go_on();
  execute(backup, "PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE name = 'refs_sid'");
  EXPECT_EQ(verbs_.restore({.file = backup, .replace = true}).error().code(), Code::damaged);
  EXPECT_EQ(records().size(), 40U);
}

TEST_F(Restore, C20_S7_a_decayed_commit_log_is_salvaged_beside_a_copy) {
  const StorePlace place{.engine = EngineName::files, .path = home_};
  {
    const auto store = open_journal(place, {.create = true}).value();
    for (const std::uint64_t number : {1, 2}) {
      store->append({.session = SessionId(Ulid{1, number}),
                     .epoch = store->epoch(),
                     .records = {"{\"text\":\"one\"}"}},
                    [](const Result<>& done) { EXPECT_TRUE(done); });
      while (store->step()) {}
    }
  }
  const std::string log = fs::directory_iterator(path("commits"))->path();
  {
    std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(10).put('~');
  }
  EXPECT_EQ(verbs_.verify("").error().code(), Code::damaged);
  fs::create_directories(path("commits.damaged"));  // left by an earlier salvage
  std::vector<std::string> synced;
  synced_paths = &synced;
  const auto salvaged = verbs_.store_salvage("");
  synced_paths = nullptr;
  ASSERT_TRUE(salvaged) << salvaged.error().message();
  const std::string copy = path("commits.damaged.2");
  EXPECT_EQ(salvaged->kept, std::vector<std::string>{copy});
  // The original is removed afterwards.
  for (const std::string& kept : {copy + "/" + fs::path(log).filename().string(), copy,
                                  fs::path(copy).parent_path().string()}) {
    EXPECT_TRUE(fs::exists(kept));
    EXPECT_NE(std::ranges::find(synced, fs::canonical(kept).string()), synced.end()) << kept;
  }
  const auto store = open_journal(place, {}).value();
  EXPECT_EQ(store->read(SessionId(Ulid{1, 2}), {.limit = 10})->records.size(), 1U);
}

TEST_F(Restore, S7_an_index_that_cannot_be_read_is_built_anew) {
  (void)backup_and_go_on();
  EXPECT_TRUE(open()->shut_down());
  execute(path("perdure.db"), "UPDATE extents SET packed = x'00'");
  const cli::VerifyReport damaged = verbs_.verify("").value();
  ASSERT_EQ(damaged.damaged.size(), 1U);
  EXPECT_TRUE(damaged.damaged[0].message.contains("perdure store salvage"));
  const auto salvaged = verbs_.store_salvage("");
  ASSERT_TRUE(salvaged) << salvaged.error().message();
  EXPECT_EQ(salvaged->indexes_rebuilt, 1U);
  EXPECT_TRUE(salvaged->kept.empty() && salvaged->damaged.empty());
  EXPECT_EQ(records().size(), 40U);
}

TEST_F(Restore, U12_a_clean_start_takes_what_is_left_of_a_journal) {
  EXPECT_EQ(put_aside(home_, Aside::everything).value(), "") << "there is nothing";
  (void)backup_and_go_on();
  fs::remove(path("perdure.db"));
  const std::string kept = put_aside(home_, Aside::everything).value();
  EXPECT_TRUE(fs::exists(kept + "/perdure.db-wal"));
  EXPECT_TRUE(fs::exists(kept + "/perdure.db.reserve"));
  open();
  EXPECT_EQ(open()->head(session()).error().code(), Code::not_found);
}

}  // namespace
}  // namespace perdure
