// The disk interface of the files engine: plain files in one folder, named by a path relative to
// it. PosixDisk is the real one; tests substitute one that fails where they choose.
//
// Errors of all writing calls: after disk_full the file may be partly written; after
// storage_unknown the disk's contents are unknown.
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
  // Returns fewer bytes at the end of the file. Thread-safe.
  virtual Result<std::string> read(std::uint64_t offset, std::size_t bytes_max) = 0;
  virtual Result<> write(std::uint64_t offset, std::string_view bytes) = 0;
  virtual Result<> truncate(std::uint64_t bytes) = 0;
  // Makes bytes and size durable, but not the file's name.
  virtual Result<> sync() = 0;
  virtual Result<std::uint64_t> size() = 0;
};

enum class JournalOpen { existing, create };

struct RenameOrder {
  std::string from;
  std::string to;  // replaced if it exists
};

class JournalDisk {
 public:
  virtual ~JournalDisk() = default;
  // not_found: it does not exist and `mode` does not create it. New files are 0600.
  virtual Result<std::unique_ptr<JournalFile>> open(const std::string& name, JournalOpen mode) = 0;
  virtual Result<> rename(const RenameOrder& order) = 0;
  // Succeeds if the file does not exist.
  virtual Result<> remove(const std::string& name) = 0;
  // Sorted names of the plain files in `folder`; none if the folder does not exist.
  virtual Result<std::vector<std::string>> list(const std::string& folder) = 0;
  virtual Result<> make_folder(const std::string& folder) = 0;
  // Makes creations, renames and removals in the folder durable. "": the root.
  virtual Result<> sync_folder(const std::string& folder) = 0;
};

// Reads a whole file.
Result<std::string> read_whole(JournalDisk& disk, const std::string& name);
// Replaces a file atomically. Its name is durable after sync_folder().
enum class Replace { synced, unsynced };
Result<> replace_file(JournalDisk& disk, const std::string& name, std::string_view bytes,
                      Replace how);

}  // namespace perdure
