// A file opened through a sqlite3_vfs. What the store does to its files beside SQLite goes through
// here, so that a test's VFS sees, delays and breaks it like everything else.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "base/result.h"

namespace perdure {

// The VFS of that name, empty for the default; an unknown name is invalid_argument.
Result<sqlite3_vfs*> find_vfs(const std::string& name);

enum class VfsFileKind { database, wal, other };

struct FilePlace {
  sqlite3_vfs* vfs = nullptr;
  std::string path;  // of the file itself
  VfsFileKind kind = VfsFileKind::other;
};

// Whether the file is there at all.
Result<bool> file_exists(const FilePlace& place);
// Deletes the file and makes that durable; one that is not there is no error.
Result<> delete_file(const FilePlace& place);

class VfsFile {
 public:
  enum class Mode { read_only, read_write, create };

  static Result<VfsFile> open(const FilePlace& place, Mode mode);
  VfsFile(VfsFile&&) = default;
  VfsFile& operator=(VfsFile&&) = default;
  ~VfsFile() = default;

  Result<std::uint64_t> size();
  // Fills `to` from `offset`; fewer bytes than that is an error.
  Result<> read(std::uint64_t offset, std::span<char> to);
  Result<> write(std::uint64_t offset, std::string_view bytes);
  Result<> truncate(std::uint64_t bytes);
  Result<> sync();

 private:
  struct Closer {
    const char* name = nullptr;  // made by sqlite3_create_filename; xOpen wants it to live on
    void operator()(sqlite3_file* file) const;
  };

  explicit VfsFile(std::unique_ptr<sqlite3_file, Closer> file) : file_(std::move(file)) {}

  std::unique_ptr<sqlite3_file, Closer> file_;
};

}  // namespace perdure
