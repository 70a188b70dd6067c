// What the files engine asks of a disk: plain files below one folder, named by a path relative to
// it. The real one is PosixDisk; tests put one in its place that fails where they want it to.
//
// Errors of everything that writes: disk_full leaves the file as a failed write may leave it;
// storage_unknown means that nobody knows what the disk holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perdure {

class JournalFile {
 public:
  virtual ~JournalFile() = default;
  // Less than asked for at the end of the file. From any thread.
  virtual Result<std::string> read(std::uint64_t offset, std::size_t bytes_max) = 0;
  virtual Result<> write(std::uint64_t offset, std::string_view bytes) = 0;
  virtual Result<> truncate(std::uint64_t bytes) = 0;
  // Bytes and size are on the disk; the name is not this call's business.
  virtual Result<> sync() = 0;
  virtual Result<std::uint64_t> size() = 0;
};

enum class JournalOpen { existing, create };

struct RenameOrder {
  std::string from;
  std::string to;  // replaced when it is there
};

class JournalDisk {
 public:
  virtual ~JournalDisk() = default;
  // not_found: it is not there and was not to be made. New files are 0600.
  virtual Result<std::unique_ptr<JournalFile>> open(const std::string& name, JournalOpen mode) = 0;
  virtual Result<> rename(const RenameOrder& order) = 0;
  // One that is not there is removed already.
  virtual Result<> remove(const std::string& name) = 0;
  // Names of the plain files of a folder, sorted; none for a folder that is not there.
  virtual Result<std::vector<std::string>> list(const std::string& folder) = 0;
  virtual Result<> make_folder(const std::string& folder) = 0;
  // What was made, renamed and removed in the folder is on the disk. "": the root.
  virtual Result<> sync_folder(const std::string& folder) = 0;
};

// All of a file.
Result<std::string> read_whole(JournalDisk& disk, const std::string& name);
// Puts a file in its place at once. Its name is durable after sync_folder().
enum class Replace { synced, unsynced };
Result<> replace_file(JournalDisk& disk, const std::string& name, std::string_view bytes,
                      Replace how);

}  // namespace perdure
