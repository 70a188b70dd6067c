// Copies the store page by page through the writer's own connection, so that the copy includes
// writes made during it. The copy is a single file that is marked as a backup.
#pragma once

#include <string>

#include <sqlite3.h>

#include "store/sqlite/sqlite_db.h"
#include "store/store.h"

namespace perdure {

class BackupJob {
 public:
  // conflict: the file exists already.
  static Result<BackupJob> start(Db& source, const DbOptions& target, Store::Done done);
  BackupJob(BackupJob&& other) noexcept;
  ~BackupJob();

  // Copies some pages; true if more remain. When none remain, or after an error, the job has
  // released the writer's connection, which requires the writer's lock.
  Result<bool> step(int pages);
  // Ends a finished job, without the lock: reports the outcome to the caller and deletes a partial
  // file.
  void finish(Result<> outcome);

 private:
  BackupJob(Db target, sqlite3_backup* handle, DbOptions options, Store::Done done)
      : target_(std::move(target)),
        handle_(handle),
        options_(std::move(options)),
        done_(std::move(done)) {}

  Result<bool> copy_pages(int pages);
  Result<> mark_as_backup();

  Db target_;
  sqlite3_backup* handle_;
  DbOptions options_;
  Store::Done done_;
};

}  // namespace perdure
