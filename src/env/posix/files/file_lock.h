// A lock between processes. The name may be given to another file between opening and locking, so
// the lock counts only if the name still refers to the locked file.
#pragma once

#include <string>

#include "base/result.h"
#include "env/posix/files/fd.h"
#include "env/posix/files/folder.h"

namespace perdure {

// An exclusive lock on one of a folder's files, held until it is destroyed or the process ends in
// any way. It belongs to the file, not to its name: renaming the folder does not release it. The
// file stays. Take it after detach(), which would close it.
class FileLock {
 public:
  // Never waits. conflict: another process holds it.
  static Result<FileLock> try_acquire(const PosixFolder& folder, const std::string& name);

 private:
  explicit FileLock(Fd file) : file_(std::move(file)) {}
  Fd file_;
};

}  // namespace perdure
