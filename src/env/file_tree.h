// One folder and everything below it, for callers that may access nothing else. No path, symlink or
// race leads out of the root: the kernel resolves each path beneath it, in one step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/fields.h"
#include "base/result.h"
#include "env/tree_path.h"

namespace perdure {

enum class FileKind { file, folder, symlink, other };
ENUM_TEXT(FileKind, "file", "folder", "symlink", "other");

// Equal versions mean equal contents, as far as a file system can tell. Editors compare them.
struct FileVersion {
  std::int64_t modified_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileVersion&) const = default;
};

struct FileStat {
  FileKind kind = FileKind::file;
  std::uint32_t mode = 0;  // permission bits
  FileVersion version;
};

// A name in a folder. A symlink is listed as such, with its target.
struct FileEntry {
  std::string name;  // raw bytes; empty for the root
  FileStat stat;
  std::string link;                  // a symlink's text, raw
  std::optional<FileKind> leads_to;  // of a symlink: absent if it is broken or leads out
};

struct ListPage {
  std::string after;  // raw name: only names that sort after it, by bytes
  std::size_t entries_max = 1000;
};
struct FolderListing {
  std::vector<FileEntry> entries;  // sorted by the bytes of the name
  bool more = false;
};

struct FileRange {
  std::uint64_t offset = 0;
  std::size_t bytes_max = 0;
};
struct FilePart {
  std::string bytes;  // fewer than requested only at the end of the file
  FileStat stat;      // of exactly the file that was read
};

enum class Expect { anything, absent, version };
struct WriteTerms {
  Expect expect = Expect::anything;
  FileVersion version;  // with Expect::version
};

enum class AtTarget { refuse, replace };
struct RenameSpec {
  TreePath from;
  TreePath to;
  AtTarget existing = AtTarget::refuse;
};

struct TreeRemoval {
  std::size_t removed = 0;
  bool done = false;
};

// Calls block for the disk, never for a peer: FIFOs, sockets and devices are rejected unopened. All
// calls have the same errors, and an error changes nothing: not_found; denied (leads out of the
// root, or no permission); conflict (another kind of entry, or an unexpected version);
// invalid_argument; disk_full; workspace_missing (the root itself is gone).
class FileTree {
 public:
  virtual ~FileTree() = default;

  // The absolute path of the root, without symlinks.
  virtual const std::string& root() const = 0;

  virtual Result<FolderListing> list(const TreePath& folder, const ListPage& page) = 0;
  virtual Result<FileEntry> stat(const TreePath& path) = 0;
  // Plain files only, also through symlinks that stay inside.
  virtual Result<FilePart> read(const TreePath& path, const FileRange& range) = 0;
  // Replaces the whole file atomically: a reader sees the old bytes or the new ones. Keeps the mode
  // of an existing file and writes through a symlink that stays inside. The bytes are on disk
  // before the name refers to them.
  virtual Result<FileStat> write(const TreePath& path, std::string_view bytes,
                                 const WriteTerms& terms) = 0;
  // The parent must exist. conflict: the name already exists.
  virtual Result<> make_folder(const TreePath& path) = 0;
  // A file, a symlink (not its target), or an empty folder. Never the root.
  virtual Result<> remove(const TreePath& path) = 0;
  // A folder with its contents, at most this many entries per call: call again until it is done.
  // Symlinks are removed, never followed.
  virtual Result<TreeRemoval> remove_tree(const TreePath& path, std::size_t entries_max) = 0;
  virtual Result<> rename(const RenameSpec& spec) = 0;
};

}  // namespace perdure
