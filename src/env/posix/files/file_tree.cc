#include "env/posix/files/file_tree.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "env/posix/files/atomic_write.h"
#include "env/posix/files/beneath.h"

namespace perdure {
namespace {

using beneath::error_of;
using beneath::OwnedFd;
using beneath::Place;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

bool is_dot(std::string_view name) { return name == "." || name == ".."; }

Result<OpenFolder> read_folder(OwnedFd fd, std::string_view path) {
  DIR* const folder = ::fdopendir(fd.get());
  if (folder == nullptr) return std::unexpected(error_of(errno, path));
  fd.release();
  return OpenFolder(folder);
}

// Removes a folder's content until `left` entries are used up. Deeper than `depth` is refused.
Result<> empty_folder(OwnedFd fd, std::size_t& left, int depth) {
  if (depth == 0) return fail(Code::limit_reached, "the folders are nested too deeply");
  const OpenFolder folder = TRY(read_folder(std::move(fd), ""));
  const int at = ::dirfd(folder.get());
  while (left > 0) {
    errno = 0;
    const dirent* const entry = ::readdir(folder.get());
    if (entry == nullptr && errno != 0) return std::unexpected(error_of(errno, ""));
    if (entry == nullptr) return {};
    const std::string name = entry->d_name;
    if (is_dot(name)) continue;
    if (::unlinkat(at, name.c_str(), 0) == 0 || errno == ENOENT) {
      --left;
      continue;
    }
    // EISDIR by Linux, EPERM by POSIX. O_NOFOLLOW: does not follow a symlink in its place.
    if (errno != EISDIR && errno != EPERM) return std::unexpected(error_of(errno, name));
    const int number = errno;
    const int inner =
        ::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (inner < 0) return std::unexpected(error_of(errno == ENOTDIR ? number : errno, name));
    TRY_VOID(empty_folder(OwnedFd(inner), left, depth - 1));
    if (left == 0) return {};
    if (::unlinkat(at, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
      return std::unexpected(error_of(errno, name));
    }
    --left;
  }
  return {};
}

class PosixFileTree final : public FileTree {
 public:
  PosixFileTree(std::string root, FileTreeSetting setting)
      : root_(std::move(root)), setting_(setting) {}

  const std::string& root() const override { return root_; }

  Result<FolderListing> list(const TreePath& folder, const ListPage& page) override {
    const OwnedFd root = TRY(beneath::open_root(root_));
    OwnedFd fd = TRY(beneath::open_beneath(root.get(), folder.bytes(), O_RDONLY | O_DIRECTORY));
    const OpenFolder open = TRY(read_folder(std::move(fd), folder.bytes()));
    FolderListing out;
    // Keeps only the names of this page, for folders of any size.
    std::set<std::string> names;
    while (true) {
      errno = 0;
      const dirent* const entry = ::readdir(open.get());
      if (entry == nullptr && errno != 0) return std::unexpected(error_of(errno, folder.bytes()));
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (is_dot(name) || name <= page.after) continue;
      if (names.size() == page.entries_max && !names.empty() && name > *names.rbegin()) {
        out.more = true;
        continue;
      }
      names.emplace(name);
      if (names.size() <= page.entries_max) continue;
      names.erase(std::prev(names.end()));
      out.more = true;
    }
    for (const std::string& name : names) {
      auto entry = look(root.get(), {::dirfd(open.get()), folder, name});
      if (!entry && entry.error().code() == Code::not_found) continue;  // removed in between
      out.entries.push_back(TRY(std::move(entry)));
    }
    return out;
  }

  Result<FileEntry> stat(const TreePath& path) override {
    const OwnedFd root = TRY(beneath::open_root(root_));
    if (path.is_root()) {
      struct stat seen{};
      if (::fstat(root.get(), &seen) != 0) return std::unexpected(error_of(errno, ""));
      return FileEntry{.stat = beneath::stat_of(seen)};
    }
    const Place place = TRY(beneath::place_of(root.get(), path));
    return look(root.get(), {place.folder.get(), path.parent(), place.name});
  }

  Result<FilePart> read(const TreePath& path, const FileRange& range) override {
    const OwnedFd root = TRY(beneath::open_root(root_));
    const OwnedFd file = TRY(beneath::open_plain_file(root.get(), path.bytes(), O_RDONLY));
    struct stat seen{};
    if (::fstat(file.get(), &seen) != 0) return std::unexpected(error_of(errno, path.bytes()));
    FilePart part{.stat = beneath::stat_of(seen)};
    const std::uint64_t there = part.stat.version.bytes;
    if (range.offset > INT64_MAX - range.bytes_max) {
      return fail(Code::invalid_argument, "the offset is too large");
    }
    // Files of /proc and similar report size 0; they are read up to the limit.
    const std::uint64_t ahead = there > range.offset ? there - range.offset : there == 0 ? 4096 : 0;
    part.bytes.resize(std::min<std::uint64_t>(range.bytes_max, ahead));
    std::size_t got = 0;
    while (got < part.bytes.size()) {
      const ssize_t n = ::pread(file.get(), part.bytes.data() + got, part.bytes.size() - got,
                                static_cast<off_t>(range.offset + got));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return std::unexpected(error_of(errno, path.bytes()));
      if (n == 0) break;
      got += static_cast<std::size_t>(n);
    }
    part.bytes.resize(got);
    return part;
  }

  Result<FileStat> write(const TreePath& path, std::string_view bytes,
                         const WriteTerms& terms) override {
    const OwnedFd root = TRY(beneath::open_root(root_));
    const Place place = TRY(beneath::place_followed(root.get(), path));
    return atomic_write(place, bytes, {terms, 0666U & ~setting_.umask});
  }

  Result<> make_folder(const TreePath& path) override {
    const OwnedFd root = TRY(beneath::open_root(root_));
    const Place place = TRY(beneath::place_of(root.get(), path));
    if (::mkdirat(place.folder.get(), place.name.c_str(), 0700) != 0) {
      return std::unexpected(error_of(errno, path.bytes()));
    }
    // Sets the mode despite our own umask. O_NOFOLLOW: only for the folder just made.
    const OwnedFd made(::openat(place.folder.get(), place.name.c_str(),
                                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (made.get() < 0 || ::fchmod(made.get(), 0777U & ~setting_.umask) != 0) {
      return std::unexpected(error_of(errno, path.bytes()));
    }
    return {};
  }

  Result<> remove(const TreePath& path) override {
    const OwnedFd root = TRY(beneath::open_root(root_));
    const Place place = TRY(beneath::place_of(root.get(), path));
    const int folder = place.folder.get();
    if (::unlinkat(folder, place.name.c_str(), 0) == 0) return {};
    if ((errno == EISDIR || errno == EPERM) &&
        ::unlinkat(folder, place.name.c_str(), AT_REMOVEDIR) == 0) {
      return {};
    }
    return std::unexpected(error_of(errno, path.bytes()));
  }

  Result<TreeRemoval> remove_tree(const TreePath& path, std::size_t entries_max) override {
    const OwnedFd root = TRY(beneath::open_root(root_));
    const Place place = TRY(beneath::place_of(root.get(), path));
    const int inner = ::openat(place.folder.get(), place.name.c_str(),
                               O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (inner < 0 && (errno == ENOTDIR || errno == ELOOP)) {
      TRY_VOID(remove(path));
      return TreeRemoval{.removed = 1, .done = true};
    }
    if (inner < 0) return std::unexpected(error_of(errno, path.bytes()));
    std::size_t left = std::max<std::size_t>(entries_max, 1);
    const std::size_t budget = left;
    TRY_VOID(empty_folder(OwnedFd(inner), left, tree_depth_max));
    if (left == 0) return TreeRemoval{.removed = budget};
    if (::unlinkat(place.folder.get(), place.name.c_str(), AT_REMOVEDIR) != 0) {
      return std::unexpected(error_of(errno, path.bytes()));
    }
    return TreeRemoval{.removed = budget - left + 1, .done = true};
  }

  Result<> rename(const RenameSpec& spec) override {
    const OwnedFd root = TRY(beneath::open_root(root_));
    const Place from = TRY(beneath::place_of(root.get(), spec.from));
    const Place to = TRY(beneath::place_of(root.get(), spec.to));
    const unsigned flags = spec.existing == AtTarget::refuse ? RENAME_NOREPLACE : 0U;
    if (::renameat2(from.folder.get(), from.name.c_str(), to.folder.get(), to.name.c_str(),
                    flags) == 0) {
      return {};
    }
    // EXDEV means another file system here, not a path that leads out.
    if (errno == EXDEV) return fail(Code::conflict, "the two are on different file systems");
    const bool to_is_subject = errno == EEXIST || errno == ENOTEMPTY || errno == EISDIR;
    return std::unexpected(error_of(errno, to_is_subject ? spec.to.bytes() : spec.from.bytes()));
  }

 private:
  struct Name {
    int folder;
    const TreePath& folder_path;
    const std::string& name;
  };

  Result<FileEntry> look(int root, const Name& at) {
    struct stat seen{};
    if (::fstatat(at.folder, at.name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) != 0) {
      return std::unexpected(error_of(errno, at.name));
    }
    FileEntry entry{.name = at.name, .stat = beneath::stat_of(seen)};
    if (entry.stat.kind != FileKind::symlink) return entry;
    char text[PATH_MAX];
    const ssize_t length = ::readlinkat(at.folder, at.name.c_str(), text, sizeof text);
    if (length > 0) entry.link.assign(text, static_cast<std::size_t>(length));
    const auto target = beneath::open_beneath(root, at.folder_path.child(at.name).bytes(), O_PATH);
    if (target && ::fstat(target->get(), &seen) == 0) {
      entry.leads_to = beneath::kind_of(seen.st_mode);
    }
    return entry;
  }

  std::string root_;
  FileTreeSetting setting_;
};

}  // namespace

Result<std::unique_ptr<FileTree>> open_file_tree(const std::string& root, FileTreeSetting setting) {
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  const std::unique_ptr<char, Free> canonical(::realpath(root.c_str(), nullptr));
  if (canonical == nullptr) {
    return fail(Code::workspace_missing, escape_name(root) + ": the folder does not exist");
  }
  auto tree = std::make_unique<PosixFileTree>(canonical.get(), setting);
  TRY_VOID(beneath::open_root(tree->root()));
  return tree;
}

}  // namespace perdure
