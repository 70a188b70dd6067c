// A folder held by its descriptor, so that it survives renames and its path may be longer than a
// socket's. An append is complete or, after an error, absent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "env/folder.h"
#include "env/posix/files/fd.h"

namespace perdure {

// Names are plain: one with a slash, "." or ".." is invalid_argument, and links are not followed.
// Each file has at most one writing object; files are 0600.
class PosixFolder final : public Folder {
 public:
  // Opens an existing folder; not_found if it does not exist.
  static Result<std::unique_ptr<PosixFolder>> open(const std::string& path);
  // Creates it (0700) if it is missing; the parent folder must exist.
  static Result<std::unique_ptr<PosixFolder>> create(const std::string& path);

  Result<std::vector<std::string>> list() override;
  Result<> append(const std::string& name, std::string_view bytes) override;
  Result<std::string> read(const std::string& name, std::uint64_t offset,
                           std::size_t bytes_max) override;
  Result<std::uint64_t> size(const std::string& name) override;
  Result<> truncate(const std::string& name, std::uint64_t bytes) override;
  Result<> remove(const std::string& name) override;

  // The file then has these bytes, or after an error its old ones, even after a power failure: they
  // are on disk when this returns, which takes as long as the disk needs.
  Result<> replace(const std::string& name, std::string_view bytes);

  // The folder's own descriptor, for the *at() calls.
  const Fd& descriptor() const { return folder_; }
  // A short path to a name in it, valid in this process for the lifetime of this object.
  Result<std::string> short_path(const std::string& name) const;
  // Only its owner, which must be us, may have access to it; denied otherwise.
  Result<> check_private() const;

 private:
  explicit PosixFolder(Fd folder) : folder_(std::move(folder)) {}
  struct Appending {
    bool is_new = false;
    off_t bytes = 0;  // the size before the append
  };
  // Opens the file for appending; it stays open until another one is opened.
  Result<Appending> open_for_append(const std::string& name);
  // The file if it is open for appending, or else newly opened.
  struct Borrowed {
    int descriptor;
    Fd own;
  };
  Result<Borrowed> open_for_reading(const std::string& name);
  Result<Fd> open_plain(const std::string& name, int access) const;

  Fd folder_;
  std::string appended_name_;
  Fd appended_;
};

}  // namespace perdure
