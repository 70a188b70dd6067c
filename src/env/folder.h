// A folder in which one writer appends to files, such as a spool. Writes reach the kernel before a
// call returns, not the disk: the data survives every process, but not a power failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perdure {

class Folder {
 public:
  virtual ~Folder() = default;
  // Names of its plain files, sorted.
  virtual Result<std::vector<std::string>> list() = 0;
  // Appends; creates a missing file (0600). Writes everything or, after disk_full, nothing.
  virtual Result<> append(const std::string& name, std::string_view bytes) = 0;
  // At most `bytes_max` from `offset`; less at the end of the file. not_found: no such file.
  virtual Result<std::string> read(const std::string& name, std::uint64_t offset,
                                   std::size_t bytes_max) = 0;
  virtual Result<std::uint64_t> size(const std::string& name) = 0;
  virtual Result<> truncate(const std::string& name, std::uint64_t bytes) = 0;
  // Succeeds also if it does not exist.
  virtual Result<> remove(const std::string& name) = 0;
};

}  // namespace perdure
