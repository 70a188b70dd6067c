#include "store/sqlite/backup_job.h"

#include "base/check.h"
#include "store/sqlite/log/vfs_file.h"
#include "store/sqlite/schema.h"

namespace perdure {

Result<BackupJob> BackupJob::start(Db& source, const DbOptions& target, Store::Done done) {
  sqlite3_vfs* vfs = TRY(find_vfs(target.vfs));
  if (TRY(file_exists({vfs, target.path, VfsFileKind::database}))) {
    return fail(Code::conflict, target.path + " is there already");
  }
  Db db = TRY(Db::open(target));
  sqlite3_backup* handle = sqlite3_backup_init(db.handle(), "main", source.handle(), "main");
  if (handle == nullptr) {
    return std::unexpected(sqlite_error(sqlite3_extended_errcode(db.handle()), "start a backup"));
  }
  return BackupJob(std::move(db), handle, target, std::move(done));
}

BackupJob::BackupJob(BackupJob&& other) noexcept
    : target_(std::move(other.target_)),
      handle_(std::exchange(other.handle_, nullptr)),
      options_(std::move(other.options_)),
      done_(std::move(other.done_)) {}

BackupJob::~BackupJob() { sqlite3_backup_finish(handle_); }

Result<bool> BackupJob::step(int pages) {
  Result<bool> more = copy_pages(pages);
  if (!more) {
    sqlite3_backup_finish(std::exchange(handle_, nullptr));
    target_ = Db();
  }
  return more;
}

Result<bool> BackupJob::copy_pages(int pages) {
  const int result = sqlite3_backup_step(handle_, pages);
  if (result == SQLITE_OK || result == SQLITE_BUSY || result == SQLITE_LOCKED) return true;
  if (result != SQLITE_DONE) return std::unexpected(sqlite_error(result, "copy pages"));
  const int finished = sqlite3_backup_finish(std::exchange(handle_, nullptr));
  if (finished != SQLITE_OK) return std::unexpected(sqlite_error(finished, "finish a backup"));
  TRY_VOID(mark_as_backup());
  return false;
}

Result<> BackupJob::mark_as_backup() {
  target_ = Db();
  target_ = TRY(Db::open(options_));
  TRY_VOID(target_.exec("PRAGMA synchronous = FULL"));
  TRY_VOID(target_.exec("PRAGMA journal_mode = DELETE"));
  TRY_VOID(set_meta(target_, meta::is_backup, 1));
  target_ = Db();
  return {};
}

void BackupJob::finish(Result<> outcome) {
  CHECK(handle_ == nullptr, "the job is over");
  if (!outcome) {
    if (const auto vfs = find_vfs(options_.vfs)) {
      // Ignored: the error that ended the job matters more than one in its cleanup.
      (void)delete_file({*vfs, options_.path, VfsFileKind::database});
    }
  }
  if (done_) std::exchange(done_, nullptr)(std::move(outcome));
}

}  // namespace perdure
