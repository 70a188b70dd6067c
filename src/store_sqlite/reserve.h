// A file of zeros beside the database. When the disk is full its space is given back, so that
// cancels and ends can still be written; it is made again when there is room.
#pragma once

#include "store_sqlite/vfs_file.h"

namespace perdure {

class Reserve {
 public:
  Reserve(FilePlace place, std::size_t bytes) : place_(std::move(place)), bytes_(bytes) {}

  // Writes the file unless it is there in full; then looks whether there is room besides.
  // disk_full: there is not, and no file afterwards that was not there in full.
  Result<> make();
  // Gives the space back. Says whether there was any.
  Result<bool> release();

 private:
  Result<> write();
  Result<> probe();

  FilePlace place_;
  std::size_t bytes_;
  bool made_ = false;
};

}  // namespace perdure
