// A copy of the store made page by page through the writer's own connection, so that what is
// written meanwhile is in the copy too. The copy is a single file that knows it is one.
#pragma once

#include <string>

#include <sqlite3.h>

#include "store/store.h"
#include "store_sqlite/sqlite_db.h"

namespace perdure {

class BackupJob {
 public:
  // conflict when the file is there already.
  static Result<BackupJob> start(Db& source, const DbOptions& target, Store::Done done);
  BackupJob(BackupJob&& other) noexcept;
  ~BackupJob();

  // Copies some pages; true when there is more to do. Once it is not, or after an error, the job
  // has let go of the writer's connection, which only its lock's holder may do.
  Result<bool> step(int pages);
  // Of a job that is over, without the lock: tells the caller how it ended; a partial file is
  // deleted.
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
