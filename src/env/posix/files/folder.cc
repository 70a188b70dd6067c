#include "env/posix/files/folder.h"

#include <algorithm>
#include <cerrno>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure {
namespace {

constexpr mode_t file_mode = 0600;
constexpr mode_t folder_mode = 0700;

Result<> check_name(const std::string& name) {
  const bool plain = !name.empty() && name != "." && name != ".." && name.find('/') == name.npos &&
                     name.find('\0') == name.npos;
  if (!plain) return fail(Code::invalid_argument, "not a plain file name: '" + name + "'");
  return {};
}

Result<struct stat> status_of(int descriptor, std::string_view doing) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0) return system_failure(doing);
  return status;
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

bool is_plain_file(int folder, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_REG;
  struct stat status{};
  return fstatat(folder, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(status.st_mode);
}

// Returns errno of the failure, or 0 if everything was written.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(descriptor, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<PosixFolder>> PosixFolder::open(const std::string& path) {
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return system_failure("open folder " + path);
  return std::unique_ptr<PosixFolder>(new PosixFolder(std::move(folder)));
}

Result<std::unique_ptr<PosixFolder>> PosixFolder::create(const std::string& path) {
  if (mkdir(path.c_str(), folder_mode) != 0 && errno != EEXIST) {
    return system_failure("make folder " + path);
  }
  return open(path);
}

Result<std::string> PosixFolder::short_path(const std::string& name) const {
  TRY_VOID(check_name(name));
  return "/proc/self/fd/" + std::to_string(folder_.get()) + "/" + name;
}

Result<> PosixFolder::check_private() const {
  const struct stat status = TRY(status_of(folder_.get(), "look at a folder"));
  if (status.st_uid != geteuid() || (status.st_mode & 077) != 0) {
    return fail(Code::denied, "the folder is not ours alone (0700)");
  }
  return {};
}

Result<std::vector<std::string>> PosixFolder::list() {
  // A second descriptor of the same folder, because readdir moves the position of its descriptor.
  const int copy = openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return system_failure("open a folder again");
  const std::unique_ptr<DIR, CloseFolder> folder(fdopendir(copy));
  CHECK(folder != nullptr);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(folder.get())) {
    if (is_plain_file(copy, *entry)) names.emplace_back(entry->d_name);
    errno = 0;
  }
  if (errno != 0) return system_failure("list a folder");
  std::ranges::sort(names);
  return names;
}

Result<PosixFolder::Appending> PosixFolder::open_for_append(const std::string& name) {
  if (appended_ && appended_name_ == name) {
    // Another process may have removed the file; bytes written to it would be lost.
    const struct stat status = TRY(status_of(appended_.get(), "look at " + name));
    if (status.st_nlink > 0) return Appending{.bytes = status.st_size};
  }
  const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY;
  bool is_new = false;
  Fd file(openat(folder_.get(), name.c_str(), flags));
  if (!file && errno == ENOENT) {
    is_new = true;
    file = Fd(openat(folder_.get(), name.c_str(), flags | O_CREAT | O_EXCL, file_mode));
  }
  if (!file) return system_failure("open " + name);
  const struct stat status = TRY(status_of(file.get(), "look at " + name));
  appended_ = std::move(file);
  appended_name_ = name;
  return Appending{is_new, status.st_size};
}

Result<> PosixFolder::append(const std::string& name, std::string_view bytes) {
  TRY_VOID(check_name(name));
  const Appending appending = TRY(open_for_append(name));
  const int error = write_all(appended_.get(), bytes);
  if (error == 0) return {};
  if (ftruncate(appended_.get(), appending.bytes) != 0) {
    return fail(Code::storage_unknown, "append to " + name + " left a part that stays");
  }
  if (appending.is_new) TRY_VOID(remove(name));
  return std::unexpected(system_error(error, "append to " + name));
}

Result<> PosixFolder::replace(const std::string& name, std::string_view bytes) {
  TRY_VOID(check_name(name));
  const std::string fresh = name + ".new";
  TRY_VOID(remove(fresh));
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY;
  const Fd file(openat(folder_.get(), fresh.c_str(), flags, file_mode));
  if (!file) return system_failure("make " + fresh);
  const auto undone = [&](int error) {
    (void)unlinkat(folder_.get(), fresh.c_str(), 0);
    return std::unexpected(system_error(error, "write " + name));
  };
  // The bytes are on disk before they have the name.
  if (const int error = write_all(file.get(), bytes); error != 0) return undone(error);
  if (fsync(file.get()) != 0) return undone(errno);
  if (renameat(folder_.get(), fresh.c_str(), folder_.get(), name.c_str()) != 0) {
    return undone(errno);
  }
  if (fsync(folder_.get()) != 0) return system_failure("write " + name);
  return {};
}

// A container may replace a file with a pipe or device: opening must not block, and reading it is
// refused.
Result<Fd> PosixFolder::open_plain(const std::string& name, int access) const {
  const int flags = access | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
  Fd file(openat(folder_.get(), name.c_str(), flags));
  if (!file) return system_failure("open " + name);
  if (!S_ISREG(TRY(status_of(file.get(), "look at " + name)).st_mode)) {
    return fail(Code::damaged, name + " is not a plain file");
  }
  return file;
}

Result<PosixFolder::Borrowed> PosixFolder::open_for_reading(const std::string& name) {
  TRY_VOID(check_name(name));
  if (appended_ && appended_name_ == name &&
      TRY(status_of(appended_.get(), "look at " + name)).st_nlink > 0) {
    return Borrowed{appended_.get(), Fd()};
  }
  Fd file = TRY(open_plain(name, O_RDONLY));
  const int descriptor = file.get();
  return Borrowed{descriptor, std::move(file)};
}

Result<std::string> PosixFolder::read(const std::string& name, std::uint64_t offset,
                                      std::size_t bytes_max) {
  const Borrowed file = TRY(open_for_reading(name));
  const struct stat status = TRY(status_of(file.descriptor, "look at " + name));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::string bytes;
  if (offset >= size) return bytes;
  bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(size - offset, bytes_max)));
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = pread(file.descriptor, bytes.data() + filled, bytes.size() - filled,
                              static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("read " + name);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

Result<std::uint64_t> PosixFolder::size(const std::string& name) {
  const Borrowed file = TRY(open_for_reading(name));
  return static_cast<std::uint64_t>(TRY(status_of(file.descriptor, "look at " + name)).st_size);
}

Result<> PosixFolder::truncate(const std::string& name, std::uint64_t bytes) {
  TRY_VOID(check_name(name));
  const Fd file = TRY(open_plain(name, O_WRONLY));
  if (ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
    return system_failure("truncate " + name);
  }
  return {};
}

Result<> PosixFolder::remove(const std::string& name) {
  TRY_VOID(check_name(name));
  if (appended_name_ == name) {
    appended_.reset();
    appended_name_.clear();
  }
  if (unlinkat(folder_.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
    return system_failure("remove " + name);
  }
  return {};
}

}  // namespace perdure
