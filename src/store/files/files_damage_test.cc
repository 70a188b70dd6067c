// Damage by the disk and by people: cut ends, zeros, flipped bits, missing files. It is found
// before damaged data is served and stays within its session.
#include <algorithm>

#include "store/files/log/sealed.h"
#include "testing/store/files_fixture.h"

namespace perdure::files_test {
namespace {

const std::string log_1 = "commits/000000000001.jsonl";

class FilesDamage : public FilesTest {
 protected:
  // Two sessions with three records each, only in their files.
  void SetUp() override {
    open();
    const std::vector<std::string> lines =
        lines_of(PERDURE_SOURCE_DIR "/tests/golden/journal/v1.jsonl");
    ASSERT_TRUE(put(1, 0, {lines[0], lines[1], lines[2]}));
    ASSERT_TRUE(put(2, 0, {lines[0], lines[1], lines[2]}));
    settle();
    lines_ = {lines[0], lines[1], lines[2]};
  }
  std::vector<std::string> lines_;
};

TEST_F(FilesTest, S1_a_log_cut_at_any_byte_is_a_prefix_of_whole_commits) {
  open();
  ASSERT_TRUE(put(1, 0, {"{\"a\":1}", "{\"a\":2}"}));
  const std::size_t first = contents(log_1).size();
  ASSERT_TRUE(commit({.session = session(1),
                      .expected_head = 2,
                      .records = {"{\"a\":3}"},
                      .outbox_add = {{1, "effect"}},
                      .answers = {{.key = "k", .answer = "a"}}}));
  const std::string whole = contents(log_1);
  const std::string identity = contents("store.json");
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    SCOPED_TRACE(cut);
    disk_ = FaultDisk(cut + 1);
    disk_.put("store.json", identity);
    disk_.put(log_1, whole.substr(0, cut));
    open();
    ASSERT_TRUE(store_);
    const Seq head = store_->head(session(1)) ? store_->head(session(1))->seq : 0;
    EXPECT_EQ(head, cut == whole.size() ? 3U : cut >= first ? 2U : 0U);
    EXPECT_EQ(store_->answer("k")->has_value(), cut == whole.size());
    EXPECT_EQ(store_->notes().size(), cut == whole.size() || cut == first || cut == 0 ? 0U : 1U);
    ASSERT_TRUE(put(1, head, {"{\"next\":1}"})) << "the next append is clean";
    kill();
    EXPECT_EQ(all(1).back(), "{\"next\":1}");
  }
}

TEST_F(FilesTest, S2_zeros_behind_the_last_group_are_cut_and_noted_once) {
  open();
  ASSERT_TRUE(put(1, 0, {"{\"a\":1}"}));
  disk_.put(log_1, contents(log_1) + std::string(5000, '\0'));
  kill();
  EXPECT_EQ(all(1), std::vector<std::string>{"{\"a\":1}"});
  ASSERT_EQ(store_->notes().size(), 1U);
  EXPECT_TRUE(store_->notes()[0].contains("5000 bytes of zeros")) << store_->notes()[0];
  ASSERT_TRUE(put(1, 1, {"{\"a\":2}"}));
  settle();
  open();
  EXPECT_TRUE(store_->notes().empty());
  EXPECT_EQ(all(1).size(), 2U);
}

TEST_F(FilesDamage, DISK3_S7_every_flipped_bit_of_a_record_is_found_and_stays_with_its_session) {
  const std::string name = file_of(1, ".messages.jsonl");
  const std::string whole = contents(name);
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    SCOPED_TRACE(at);
    flip(name, at);
    open();
    const Seq hit = static_cast<Seq>(std::count(whole.begin(), whole.begin() + at, '\n')) + 1;
    const auto page = store_->read(session(1), {.after = 0, .limit = 9});
    if (hit == 1) {
      EXPECT_EQ(page.error().code(), Code::damaged);
    } else {
      EXPECT_EQ(page->records, std::vector(lines_.begin(), lines_.begin() + (hit - 1)));
      EXPECT_EQ(store_->read(session(1), {.after = hit - 1, .limit = 9}).error().code(),
                Code::damaged);
    }
    EXPECT_EQ(put(1, 3, {"{}"}).error().code(), Code::damaged);
    EXPECT_EQ(all(2), lines_) << "only that session is affected";
    EXPECT_TRUE(put(2, store_->head(session(2))->seq, {}));
    const auto report = store_->verify();
    ASSERT_EQ(report->damages.size(), 1U);
    EXPECT_EQ(report->damages[0].session, session(1));
    EXPECT_EQ(report->damages[0].good, hit - 1);
    // Intact again: verify ends its quarantine.
    disk_.overwrite(name, 0, whole);
    EXPECT_TRUE(store_->verify()->damages.empty());
    EXPECT_EQ(all(1), lines_);
    settle();
  }
}

TEST_F(FilesDamage, DISK3_what_verify_found_is_known_to_the_next_life) {
  const std::string name = file_of(1, ".messages.jsonl");
  const std::string whole = contents(name);
  flip(name, 5);
  open();
  EXPECT_EQ(store_->verify()->damages.size(), 1U);
  settle();
  open();
  EXPECT_EQ(put(1, 3, {"{}"}).error().code(), Code::damaged) << "nobody has read it in this life";
  disk_.overwrite(name, 0, whole);
  EXPECT_TRUE(store_->verify()->damages.empty());
  settle();
  open();
  EXPECT_TRUE(put(1, 3, {"{}"}));
}

TEST_F(FilesDamage, DISK3_S7_records_that_are_brought_back_free_their_session) {
  const std::string name = file_of(1, ".messages.jsonl");
  const std::string whole = contents(name);
  disk_.put(name, whole.substr(0, lines_[0].size() + 20));
  open();
  EXPECT_FALSE(store_->verify()->damages.empty());
  settle();
  store_.reset();
  disk_.put(name, whole);
  open();
  EXPECT_TRUE(store_->verify()->damages.empty());
  EXPECT_TRUE(put(1, 3, {"{}"}));
}

TEST_F(FilesDamage, S7_projections_that_are_deleted_or_damaged_are_made_again) {
  const std::string index = contents(file_of(1, ".messages.index"));
  const std::string snapshot = contents(file_of(1, ".json"));
  for (const char* const tail : {".messages.index", ".json", ".tokens.json"}) {
    ASSERT_TRUE(disk_.exists(file_of(1, tail))) << tail;
    disk_.remove(file_of(1, tail), FaultDisk::RemoveMode::synced);
  }
  open();
  EXPECT_EQ(all(1), lines_);
  EXPECT_TRUE(store_->verify()->damages.empty());
  ASSERT_TRUE(commit({.session = session(1), .expected_head = 3, .refs = {"ref"}}));
  settle();
  EXPECT_EQ(contents(file_of(1, ".messages.index")).size(), index.size());
  EXPECT_TRUE(contents(file_of(1, ".json")) == snapshot);
  EXPECT_TRUE(disk_.exists(file_of(1, ".tokens.json")));

  flip(file_of(1, ".messages.index"), 30);
  open();
  EXPECT_EQ(store_->read(session(1), {.after = 1, .limit = 9}).error().code(), Code::damaged);
  EXPECT_TRUE(store_->verify()->damages.empty()) << "the lines and their chain are whole";
  EXPECT_EQ(all(1), lines_);
}

TEST_F(FilesDamage, S7_C20_a_session_without_its_rows_is_readable_and_never_starts_empty) {
  const std::string rows = contents(file_of(1, ".rows.json"));
  for (const bool is_missing : {true, false}) {
    disk_.put(file_of(1, ".rows.json"), rows);
    if (is_missing) {
      disk_.remove(file_of(1, ".rows.json"), FaultDisk::RemoveMode::synced);
    } else {
      flip(file_of(1, ".rows.json"), 40);
    }
    open();
    EXPECT_EQ(all(1), lines_);
    EXPECT_EQ(put(1, 0, {"{}"}).error().code(), Code::damaged);
    EXPECT_EQ(put(1, 3, {"{}"}).error().code(), Code::damaged);
    EXPECT_FALSE(store_->verify()->damages.empty());
    EXPECT_EQ(all(2), lines_);
    settle();
  }
}

TEST_F(FilesDamage, S7_records_that_were_cut_off_are_missed) {
  const std::string name = file_of(1, ".messages.jsonl");
  disk_.put(name, contents(name).substr(0, lines_[0].size() + 20));
  open();
  EXPECT_EQ(all(1), std::vector<std::string>{lines_[0]});
  EXPECT_EQ(store_->head(session(1))->seq, 3U);
  EXPECT_EQ(put(1, 3, {"{}"}).error().code(), Code::damaged);
  ASSERT_EQ(store_->notes().size(), 1U);
  EXPECT_TRUE(store_->notes()[0].contains("of 3 records 1 are whole")) << store_->notes()[0];
}

TEST_F(FilesTest, S7_DISK3_damage_in_the_log_costs_the_session_it_hit_or_refuses_to_open) {
  open();
  ASSERT_TRUE(put(1, 0, {"{\"text\":\"of the first\"}"}));
  ASSERT_TRUE(put(2, 0, {"{\"text\":\"of the second\"}"}));
  const std::string whole = contents(log_1);
  flip(log_1, whole.find("of the first"));
  kill();
  EXPECT_EQ(store_->head(session(1))->seq, 1U);
  EXPECT_EQ(store_->read(session(1), {.after = 0, .limit = 1}).error().code(), Code::damaged);
  EXPECT_EQ(all(2), std::vector<std::string>{"{\"text\":\"of the second\"}"});
  EXPECT_FALSE(store_->notes().empty());

  // Its session is unknown: an acknowledged change must not vanish silently.
  store_.reset();
  disk_ = FaultDisk(2);
  open();
  ASSERT_TRUE(put(1, 0, {"{\"text\":\"of the first\"}"}));
  ASSERT_TRUE(put(2, 0, {"{\"text\":\"of the second\"}"}));
  flip(log_1, 10);
  disk_.crash(CrashOutcome::process_only);
  EXPECT_EQ(open_error().code(), Code::damaged);
  FilesOptions with = options();
  with.salvage = true;
  open(with);
  EXPECT_EQ(all(2), std::vector<std::string>{"{\"text\":\"of the second\"}"});
}

TEST_F(FilesDamage, S7_S10_a_store_without_its_identity_or_of_a_newer_format_does_not_open) {
  const std::string identity = contents("store.json");
  disk_.remove("store.json", FaultDisk::RemoveMode::synced);
  EXPECT_EQ(open_error().code(), Code::damaged);
  disk_.put("store.json", identity);
  flip("store.json", 60);
  EXPECT_EQ(open_error().code(), Code::damaged);
  disk_.put("store.json", seal(R"({"engine":"files","format":2,"log_id":"log","epoch":1})") + "\n");
  EXPECT_EQ(open_error().code(), Code::format_too_new);
  disk_.put("store.json", identity);
  open();
  EXPECT_EQ(all(1), lines_);
}

TEST_F(FilesTest, redacted_bytes_are_in_no_file_any_more) {
  open();
  ASSERT_TRUE(commit({.session = session(1),
                      .records = {"{\"n\":1}", "{\"text\":\"hunter2\"}", "{\"n\":3}"},
                      .snapshot = "knows hunter2"}));
  ASSERT_TRUE(put(2, 0, {"{\"other\":1}"}));
  for (int i = 0; i < 50 && store_->idle_step(); ++i) {}
  ASSERT_TRUE(store_->redact(
      {.session = session(1), .seq = 2, .replacement = "{\"a\":\"longer than it was before\"}"}));
  for (const std::string& name : disk_.names()) {
    EXPECT_FALSE(contents(name).contains("hunter2")) << name;
  }
  disk_.crash(CrashOutcome::lost);
  open();
  EXPECT_EQ(all(1)[1], "{\"a\":\"longer than it was before\"}");
  EXPECT_EQ(all(1).size(), 3U);
}

TEST_F(FilesTest, S1_a_redaction_and_a_removal_cut_off_anywhere_are_whole_or_absent) {
  for (std::uint64_t at = 1;; ++at) {
    SCOPED_TRACE(at);
    store_.reset();
    disk_ = FaultDisk(at);
    open();
    ASSERT_TRUE(put(1, 0, {"{\"n\":1}", "{\"text\":\"secret\"}", "{\"n\":3}"}));
    ASSERT_TRUE(put(2, 0, {"{\"n\":1}"}));
    FilesOptions quiet = options();
    // The fatal hook of this store must not abort the test.
    quiet.on_fatal = [](const Error&) {};
    open(quiet);
    disk_.plan(
        {.at = at,
         .ops = {DiskOp::write, DiskOp::sync, DiskOp::truncate, DiskOp::remove, DiskOp::rename},
         .kind = FaultKind::power_cut});
    const bool redacted =
        store_->redact({.session = session(1), .seq = 2, .replacement = "{\"t\":0}"}).has_value();
    const bool removed = store_->remove(session(2)).has_value();
    const bool hit = disk_.fault_hit();
    disk_.crash(at % 2 == 0 ? CrashOutcome::garbage : CrashOutcome::lost);
    open();
    ASSERT_TRUE(store_);
    const std::vector<std::string> records = all(1);
    ASSERT_EQ(records.size(), 3U);
    EXPECT_TRUE(records[1] == "{\"t\":0}" || (!redacted && records[1].contains("secret")));
    if (removed) EXPECT_FALSE(store_->head(session(2)));
    if (store_->head(session(2))) EXPECT_EQ(all(2).size(), 1U);
    EXPECT_TRUE(store_->verify().has_value());
    for (const Damage& damage : store_->verify()->damages)
      EXPECT_FALSE(damage.session) << damage.what;
    if (!hit || HasFailure()) {
      EXPECT_GT(at, 20U);
      break;
    }
  }
}

// Acknowledged numbers are not reused for other records.
TEST_F(FilesTest, DISK3_S7_G9_a_session_that_lost_acknowledged_records_is_not_freed_by_verify) {
  open();
  ASSERT_TRUE(put(1, 0, {"{\"n\":1}", "{\"n\":2}", "{\"n\":3}", "{\"n\":4}", "{\"n\":5}"}));
  const std::size_t decays = contents(log_1).size();
  ASSERT_TRUE(put(1, 5, {"{\"n\":6}", "{\"n\":7}"}));
  ASSERT_TRUE(put(1, 7, {"{\"n\":8}"}));
  flip(log_1, decays + 10);
  disk_.crash(CrashOutcome::process_only);
  FilesOptions with = options();
  with.salvage = true;
  open(with);
  for (int life = 0; life < 3; ++life) {
    SCOPED_TRACE(life);
    EXPECT_EQ(store_->head(session(1))->seq, 8U);
    const VerifyReport report = store_->verify().value();
    ASSERT_FALSE(report.damages.empty());
    EXPECT_EQ(report.damages.back().session, session(1));
    EXPECT_EQ(report.damages.back().good, 5U);
    EXPECT_EQ(put(1, 5, {"{\"n\":\"another 6\"}"}).error().code(), Code::damaged);
    EXPECT_EQ(all(1).size(), 5U);
    settle();
    open();
  }
  // As an earlier version saved it: the number of lost records is not stored.
  const std::string name = file_of(1, ".rows.json");
  const std::string rows = contents(name);
  const std::size_t from = rows.find("\"format\"");
  std::string old = "{" + rows.substr(from, rows.find_last_of('}') + 1 - from);
  const std::string lost = ",\"acknowledged\":8";
  ASSERT_TRUE(old.contains(lost)) << old;
  old.erase(old.find(lost), lost.size());
  store_.reset();
  disk_.put(name, seal(old) + "\n");
  open();
  EXPECT_EQ(store_->verify()->damages.size(), 1U);
  EXPECT_EQ(put(1, 5, {"{\"n\":\"another 6\"}"}).error().code(), Code::damaged);
}

}  // namespace
}  // namespace perdure::files_test
