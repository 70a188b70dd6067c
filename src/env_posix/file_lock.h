// A lock between processes. The name may be given to another file between opening and locking: the
// lock counts only if the name still leads to the locked file.
#pragma once

#include <string>

#include "base/result.h"
#include "env_posix/fd.h"
#include "env_posix/folder.h"

namespace perdure {

// An exclusive lock on a file of a folder, held until destroyed or until the process ends, however
// that happens. It belongs to the file, not to its name: renaming the folder leaves it held. The
// file stays. Take it after detach(), which would close it.
class FileLock {
 public:
  // Never waits. conflict: somebody holds it.
  static Result<FileLock> try_acquire(const PosixFolder& folder, const std::string& name);

 private:
  explicit FileLock(Fd file) : file_(std::move(file)) {}
  Fd file_;
};

}  // namespace perdure
