// Today's layout equals the committed one byte for byte, with the names and keys of the recovery
// plan, and the committed one can be read. PERDURE_WRITE_GOLDEN=1 rewrites it after an intended
// format change.
#include <cstdlib>
#include <filesystem>

#include "base/json/json.h"
#include "store/files/posix_disk.h"
#include "testing/store/files_fixture.h"

namespace perdure::files_test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t waiting_at = 26;  // records of the golden journal up to its question

const fs::path golden = fs::path(PERDURE_SOURCE_DIR) / "tests/golden/files";

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class FilesGolden : public FilesTest {
 protected:
  // The golden journal's session, waiting for a person, saved with all its files.
  void SetUp() override {
    open();
    std::vector<std::string> lines = lines_of(PERDURE_SOURCE_DIR "/tests/golden/journal/v1.jsonl");
    lines.resize(waiting_at);
    lines_ = lines;
    id_ = SessionId::parse("sess_01ka3qq5rk0000000000000001").value();
    ASSERT_TRUE(commit(
        {.session = id_,
         .records = std::move(lines),
         .outbox_add = {{3, "{\"effect\":\"notify\"}"}},
         .cursor = FrameCursor{ExecId::parse("exec_01ka3qq5rk000000000000000y").value(), 9},
         .answers = {{.key = "k-1", .body = sha256("run the tests"), .answer = "{\"seq\":16}"}},
         .refs = {"wt_01ka3qq5rk000000000000001w"},
         .listing = Listing{.open = true,
                            .updated = Timestamp{1763209621123},
                            .summary = "{\"title\":\"Fix the flaky test\"}"}}));
    settle();
  }
  std::string written(const std::string& tail) { return contents("sessions/" + id_.text() + tail); }
  std::vector<std::string> names() const {
    const std::string session = "sessions/" + id_.text();
    return {"answers.jsonl",
            "store.json",
            session + ".json",
            session + ".messages.jsonl",
            session + ".rows.json",
            session + ".tokens.json",
            session + ".messages.index"};
  }

  std::vector<std::string> lines_;
  SessionId id_;
};

TEST_F(FilesGolden, O2_O6_O7_O8_O36_todays_files_are_the_golden_ones) {
  const bool is_writing = std::getenv("PERDURE_WRITE_GOLDEN") != nullptr;
  for (const std::string& name : names()) {
    if (is_writing) {
      fs::create_directories((golden / name).parent_path());
      std::ofstream(golden / name, std::ios::binary) << contents(name);
    }
    EXPECT_TRUE(contents(name) == slurp(golden / name)) << name << "\n" << contents(name);
  }
}

TEST_F(FilesGolden, O6_the_snapshot_has_the_keys_of_the_plan) {
  const std::string text = written(".json");
  const JsonObject snapshot = JsonObject::parse(text).value();
  for (const char* const key : {"id", "title", "working_dir", "provider", "created_at",
                                "updated_at", "last_seq", "run", "recovery"}) {
    EXPECT_FALSE(snapshot.find(key).empty()) << key;
  }
  EXPECT_EQ(snapshot.find("last_seq"), std::to_string(waiting_at));
  const JsonObject run = JsonObject::parse(snapshot.find("run")).value();
  for (const char* const key : {"run_id", "boot_id", "started_at", "ended_at", "wait"}) {
    EXPECT_FALSE(run.find(key).empty()) << key;
  }
  const JsonObject wait = JsonObject::parse(run.find("wait")).value();
  for (const char* const key : {"kind", "since_seq", "resume_token_id", "deadline_at"}) {
    EXPECT_FALSE(wait.find(key).empty()) << key;
  }
  const JsonObject recovery = JsonObject::parse(snapshot.find("recovery")).value();
  EXPECT_FALSE(recovery.find("last_boot_seen").empty());
  EXPECT_EQ(recovery.find("interruption"), "null");
}

TEST_F(FilesGolden, O8_O19_the_token_index_holds_what_an_answer_needs_and_no_secret) {
  const std::string text = written(".tokens.json");
  const JsonObject file = JsonObject::parse(text).value();
  const JsonObject tokens = JsonObject::parse(file.find("tokens")).value();
  ASSERT_EQ(tokens.members().size(), 1U);
  const JsonObject token = JsonObject::parse(tokens.members()[0].second).value();
  EXPECT_EQ(token.find("status"), "\"active\"");
  for (const char* const key : {"secret_hash", "wait_kind", "run_id", "since_seq", "expires_at"}) {
    EXPECT_FALSE(token.find(key).empty()) << key;
  }
}

TEST_F(FilesGolden, O7_O36_C7_the_records_are_lines_that_anybody_can_read) {
  std::string expected;
  for (const std::string& line : lines_) expected += line + "\n";
  EXPECT_TRUE(written(".messages.jsonl") == expected);
}

TEST_F(FilesGolden, J6_the_golden_store_opens_and_gives_everything) {
  store_.reset();
  disk_ = FaultDisk(7);
  for (const std::string& name : names()) disk_.put(name, slurp(golden / name));
  open();
  EXPECT_TRUE(store_->notes().empty());
  EXPECT_TRUE(store_->verify()->damages.empty());
  const auto page = store_->read(id_, {.after = 0, .limit = 100});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->records, lines_);
  EXPECT_EQ((*store_->answer("k-1"))->answer, "{\"seq\":16}");
  EXPECT_EQ(*store_->find_ref("wt_01ka3qq5rk000000000000001w"), id_);
  EXPECT_EQ(store_->head(id_)->cursor->frame, 9U);
  EXPECT_EQ(store_->outbox(id_)->size(), 1U);
  EXPECT_EQ(*store_->open_sessions(), std::vector<SessionId>{id_});
}

// Uses the real disk for behaviour that only it has.
TEST(FilesOnDisk, S8_S13_one_owner_at_a_time_and_a_backup_is_a_life_of_its_own) {
  std::string pattern = (fs::temp_directory_path() / "perdure_files_XXXXXX").string();
  const fs::path folder = ::mkdtemp(pattern.data());
  FilesOptions options;
  options.disk = open_posix_disk(folder / "a", JournalOpen::create).value();
  options.new_log_id = "first";
  options.make_disk = [](const std::string& path) {
    return open_posix_disk(path, JournalOpen::create);
  };
  const auto second = open_posix_disk(folder / "a", JournalOpen::existing);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::conflict);

  auto store = FilesStore::open(options).value();
  const auto put = [&](std::uint64_t number, Seq head) {
    store->append({.session = session(number),
                   .epoch = store->epoch(),
                   .expected_head = head,
                   .records = {"{\"n\":" + std::to_string(head + 1) + "}"},
                   .blobs = {{.hash = sha256("blob"), .bytes = "blob"}}},
                  [](const Result<>& done) { EXPECT_TRUE(done); });
    while (store->step()) {}
  };
  for (std::uint64_t number = 1; number <= 20; ++number) put(number, 0);
  std::optional<Result<>> backed_up;
  ASSERT_TRUE(store->backup(folder / "b", [&](Result<> done) { backed_up = std::move(done); }));
  EXPECT_EQ(store->backup(folder / "c", nullptr).error().code(), Code::conflict);
  for (Seq head = 1; !backed_up && head < 300; ++head) {
    put(3, head);  // the store keeps running
    store->idle_step();
  }
  ASSERT_TRUE(backed_up && *backed_up);
  const Seq head = store->head(session(3))->seq;

  auto copy =
      FilesStore::open({.disk = open_posix_disk(folder / "b", JournalOpen::existing).value(),
                        .create = false,
                        .new_log_id = "second"})
          .value();
  EXPECT_EQ(copy->log_id(), "second");
  EXPECT_TRUE(copy->verify()->damages.empty());
  EXPECT_EQ(copy->list(SessionId(), 100)->size(), 20U);
  EXPECT_EQ(copy->head(session(3))->seq, head);
  EXPECT_EQ(copy->blob(sha256("blob")).value(), "blob");
  store.reset();
  copy.reset();
  fs::remove_all(folder);
}

}  // namespace
}  // namespace perdure::files_test
