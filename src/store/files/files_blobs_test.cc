// Blobs are files that several sessions may share: none is deleted while a session may need it, and
// none is acknowledged without its file.
#include "testing/store/files_fixture.h"

namespace perdure::files_test {
namespace {

const std::string log_1 = "commits/000000000001.jsonl";

Blob blob_of(const std::string& bytes) { return {.hash = sha256(bytes), .bytes = bytes}; }

TEST_F(FilesTest, S7_C20_blobs_of_a_session_without_its_rows_are_kept_and_served) {
  const Blob own = blob_of("of the first alone");
  const Blob shared = blob_of("of both");
  for (const bool is_missing : {true, false}) {
    SCOPED_TRACE(is_missing);
    store_.reset();
    disk_ = FaultDisk(1);
    open();
    ASSERT_TRUE(commit({.session = session(1), .records = {"{\"n\":1}"}, .blobs = {own, shared}}));
    ASSERT_TRUE(
        commit({.session = session(2), .records = {"{\"n\":1}"}, .blob_refs = {shared.hash}}));
    settle();
    const std::string rows = file_of(1, ".rows.json");
    is_missing ? void(disk_.remove(rows, FaultDisk::RemoveMode::synced)) : flip(rows, 40);
    open();
    EXPECT_EQ(store_->notes().size(), 2U) << "the session, and the blob that is kept";
    // The known owner is removed, but the damaged session may have the blob too.
    ASSERT_TRUE(store_->remove(session(2)));
    for (int life = 0; life < 3; ++life) {
      EXPECT_EQ(store_->blob(own.hash), own.bytes);
      EXPECT_EQ(store_->blob(shared.hash), shared.bytes);
      settle();
      open();
    }
    // They are deleted with the session, and not before.
    ASSERT_TRUE(store_->remove(session(1)));
    settle();
    open();
    EXPECT_TRUE(make_fault_files(disk_)->list("blobs")->empty());
  }
}

TEST_F(FilesTest, S7_C20_a_salvage_deletes_no_blob_of_a_group_that_it_passed_over) {
  open();
  const Blob blob = blob_of("of the group that decays");
  ASSERT_TRUE(put(1, 0, {"{\"n\":1}"}));
  const std::size_t decays = contents(log_1).size();
  ASSERT_TRUE(commit(
      {.session = session(1), .expected_head = 1, .records = {"{\"n\":2}"}, .blobs = {blob}}));
  ASSERT_TRUE(put(2, 0, {"{\"n\":1}"}));
  flip(log_1, decays + 10);
  disk_.crash(CrashOutcome::process_only);
  EXPECT_EQ(open_error().code(), Code::damaged);
  FilesOptions with = options();
  with.salvage = true;
  open(with);
  for (int life = 0; life < 3; ++life) {
    EXPECT_TRUE(disk_.exists("blobs/" + blob.hash.hex())) << life;
    settle();
    open();
  }
  EXPECT_TRUE(store_->notes().empty()) << "nothing is wrong any more";
}

// A fork shares its parent's blobs: a redaction removes them from both, in one save each.
TEST_F(FilesTest, S1_X21_a_redaction_cut_off_anywhere_leaves_no_owner_of_a_blob_that_is_gone) {
  const Blob blob = blob_of("secret");
  std::size_t half = 0;  // cuts after which only one of the two was saved
  for (std::uint64_t at = 1;; ++at) {
    SCOPED_TRACE(at);
    store_.reset();
    disk_ = FaultDisk(at);
    open();
    ASSERT_TRUE(commit({.session = session(1), .records = {"{\"n\":1}"}, .blobs = {blob}}));
    ASSERT_TRUE(
        commit({.session = session(2), .records = {"{\"n\":1}"}, .blob_refs = {blob.hash}}));
    settle();
    FilesOptions quiet = options();
    quiet.on_fatal = [](const Error&) {};
    open(quiet);
    disk_.plan(
        {.at = at,
         .ops = {DiskOp::write, DiskOp::sync, DiskOp::truncate, DiskOp::remove, DiskOp::rename},
         .kind = FaultKind::power_cut});
    const bool redacted =
        store_->redact({.session = session(1), .seq = 1, .replacement = "{}", .blobs = {blob.hash}})
            .has_value();
    const bool hit = disk_.fault_hit();
    disk_.crash(at % 2 == 0 ? CrashOutcome::kept : CrashOutcome::lost);
    const bool one = contents(file_of(1, ".rows.json")).contains(blob.hash.hex());
    if (one != contents(file_of(2, ".rows.json")).contains(blob.hash.hex())) ++half;
    open();
    ASSERT_TRUE(store_);
    for (const std::uint64_t number : {1, 2}) {
      if (store_->belongings(session(number))->blobs.empty()) continue;
      EXPECT_FALSE(redacted);
      EXPECT_EQ(store_->blob(blob.hash), blob.bytes) << number;
    }
    if (redacted) EXPECT_FALSE(disk_.exists("blobs/" + blob.hash.hex()));
    if (!hit || HasFailure()) break;
  }
  EXPECT_GT(half, 0U);
}

// On a full disk the redaction stays in the log, and later changes are committed.
TEST_F(FilesTest, DISK2_X21_bytes_given_again_behind_a_redaction_survive_its_replay) {
  const Blob blob = blob_of("secret");
  std::size_t replayed = 0;
  for (std::uint64_t at = 1;; ++at) {
    SCOPED_TRACE(at);
    store_.reset();
    disk_ = FaultDisk(at);
    open();
    ASSERT_TRUE(commit({.session = session(1), .records = {"{\"n\":1}"}, .blobs = {blob}}));
    disk_.plan({.at = at, .ops = {DiskOp::write}, .kind = FaultKind::full});
    const bool redacted =
        store_->redact({.session = session(1), .seq = 1, .replacement = "{}", .blobs = {blob.hash}})
            .has_value();
    disk_.plan({});
    ASSERT_TRUE(commit({.session = session(2), .records = {"{\"n\":1}"}, .blobs = {blob}}));
    kill();
    EXPECT_EQ(store_->blob(blob.hash), blob.bytes);
    if (!redacted && store_->belongings(session(1))->blobs.empty()) ++replayed;
    if (redacted || HasFailure()) break;
  }
  EXPECT_GT(replayed, 0U);
}

TEST_F(FilesTest, J3_S7_a_blob_that_is_brought_again_is_written_where_its_file_is_gone) {
  const Blob blob = blob_of("bytes");
  open();
  ASSERT_TRUE(commit({.session = session(1), .records = {"{\"n\":1}"}, .blobs = {blob}}));
  disk_.remove("blobs/" + blob.hash.hex(), FaultDisk::RemoveMode::synced);
  ASSERT_FALSE(store_->blob(blob.hash));
  ASSERT_TRUE(commit({.session = session(2), .records = {"{\"n\":1}"}, .blobs = {blob}}));
  EXPECT_EQ(store_->blob(blob.hash), blob.bytes);
  disk_.crash(CrashOutcome::lost);
  open();
  EXPECT_EQ(store_->blob(blob.hash), blob.bytes);
}

}  // namespace
}  // namespace perdure::files_test
