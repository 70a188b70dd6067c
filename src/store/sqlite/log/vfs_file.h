// A file opened through a sqlite3_vfs. The store's own file operations go through here too, so that
// a test's VFS can observe, delay and break them like SQLite's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "base/result.h"

namespace perdure {

// The VFS of that name, empty for the default; invalid_argument for an unknown name.
Result<sqlite3_vfs*> find_vfs(const std::string& name);

enum class VfsFileKind { database, wal, other };

struct FilePlace {
  sqlite3_vfs* vfs = nullptr;
  std::string path;  // of the file itself
  VfsFileKind kind = VfsFileKind::other;
};

// Whether the file is there at all.
Result<bool> file_exists(const FilePlace& place);
// Deletes the file durably; succeeds if it does not exist.
Result<> delete_file(const FilePlace& place);

class VfsFile {
 public:
  enum class Mode { read_only, read_write, create };

  static Result<VfsFile> open(const FilePlace& place, Mode mode);
  VfsFile(VfsFile&&) = default;
  VfsFile& operator=(VfsFile&&) = default;
  ~VfsFile() = default;

  Result<std::uint64_t> size();
  // Fills `to` from `offset`; an error if the file has fewer bytes.
  Result<> read(std::uint64_t offset, std::span<char> to);
  Result<> write(std::uint64_t offset, std::string_view bytes);
  Result<> truncate(std::uint64_t bytes);
  Result<> sync();

 private:
  struct Closer {
    const char* name = nullptr;  // made by sqlite3_create_filename; must outlive the file (xOpen)
    void operator()(sqlite3_file* file) const;
  };

  explicit VfsFile(std::unique_ptr<sqlite3_file, Closer> file) : file_(std::move(file)) {}

  std::unique_ptr<sqlite3_file, Closer> file_;
};

}  // namespace perdure
