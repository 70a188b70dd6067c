// A file of zeros next to the database. On a full disk it is deleted, so that cancels and ends can
// still be written; it is created again when there is space.
#pragma once

#include "store/sqlite/log/vfs_file.h"

namespace perdure {

class Reserve {
 public:
  Reserve(FilePlace place, std::size_t bytes) : place_(std::move(place)), bytes_(bytes) {}

  // Creates the file unless it is complete; then checks for further space. disk_full: there is
  // none, and a file that was incomplete before is deleted.
  Result<> make();
  // Frees the space. Returns whether there was any.
  Result<bool> release();

 private:
  Result<> write();
  Result<> probe();

  FilePlace place_;
  std::size_t bytes_;
  bool made_ = false;
};

}  // namespace perdure
