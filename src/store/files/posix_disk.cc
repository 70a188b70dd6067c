#include "store/files/posix_disk.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace perdure {
namespace {

std::unexpected<Error> failure(Code code, const std::string& doing) {
  return fail(code, doing + ": " + std::strerror(errno));
}

bool is_full(int error) { return error == ENOSPC || error == EDQUOT; }

// For everything that changes the disk.
std::unexpected<Error> change_failure(const std::string& doing) {
  return failure(is_full(errno) ? Code::disk_full : Code::storage_unknown, doing);
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }

 private:
  int number_;
};

class PosixJournalFile final : public JournalFile {
 public:
  PosixJournalFile(Descriptor file, std::string name)
      : file_(std::move(file)), name_(std::move(name)) {}

  Result<std::string> read(std::uint64_t offset, std::size_t bytes_max) override {
    std::string out(bytes_max, '\0');
    std::size_t got = 0;
    while (got < bytes_max) {
      const ssize_t n =
          ::pread(file_.get(), out.data() + got, bytes_max - got, static_cast<off_t>(offset + got));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failure(Code::unavailable, "read " + name_);
      if (n == 0) break;
      got += static_cast<std::size_t>(n);
    }
    out.resize(got);
    return out;
  }

  Result<> write(std::uint64_t offset, std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n =
          ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return change_failure("write " + name_);
      bytes.remove_prefix(static_cast<std::size_t>(n));
      offset += static_cast<std::uint64_t>(n);
    }
    return {};
  }

  Result<> truncate(std::uint64_t bytes) override {
    if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) == 0) return {};
    return failure(Code::storage_unknown, "cut " + name_);
  }

  Result<> sync() override {
    if (::fdatasync(file_.get()) == 0) return {};
    return failure(Code::storage_unknown, "sync " + name_);
  }

  Result<std::uint64_t> size() override {
    struct stat status{};
    if (::fstat(file_.get(), &status) != 0) return failure(Code::unavailable, "look at " + name_);
    return static_cast<std::uint64_t>(status.st_size);
  }

 private:
  Descriptor file_;
  std::string name_;
};

class PosixDisk final : public JournalDisk {
 public:
  explicit PosixDisk(Descriptor root) : root_(std::move(root)) {}

  Result<std::unique_ptr<JournalFile>> open(const std::string& name, JournalOpen mode) override {
    const int create = mode == JournalOpen::create ? O_CREAT : 0;
    Descriptor file(
        ::openat(root_.get(), name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | create, 0600));
    if (file.get() >= 0) return std::make_unique<PosixJournalFile>(std::move(file), name);
    if (errno == ENOENT && create == 0) return failure(Code::not_found, name);
    return failure(is_full(errno) ? Code::disk_full : Code::unavailable, "open " + name);
  }

  Result<> rename(const RenameOrder& order) override {
    if (::renameat(root_.get(), order.from.c_str(), root_.get(), order.to.c_str()) == 0) return {};
    return change_failure("rename " + order.from);
  }

  Result<> remove(const std::string& name) override {
    if (::unlinkat(root_.get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
    return change_failure("remove " + name);
  }

  Result<std::vector<std::string>> list(const std::string& folder) override {
    std::vector<std::string> names;
    const int inner = open_folder(folder);
    if (inner < 0 && errno == ENOENT) return names;
    DIR* const entries = inner < 0 ? nullptr : ::fdopendir(inner);
    if (entries == nullptr) return failure(Code::unavailable, "list " + folder);
    while (const dirent* const entry = ::readdir(entries)) {
      if (entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN) names.emplace_back(entry->d_name);
    }
    ::closedir(entries);
    std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
    std::ranges::sort(names);
    return names;
  }

  Result<> make_folder(const std::string& folder) override {
    if (::mkdirat(root_.get(), folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
    return failure(is_full(errno) ? Code::disk_full : Code::unavailable, "make " + folder);
  }

  Result<> sync_folder(const std::string& folder) override {
    const Descriptor inner(open_folder(folder));
    if (inner.get() >= 0 && ::fsync(inner.get()) == 0) return {};
    return failure(Code::storage_unknown, "sync the folder " + folder);
  }

 private:
  int open_folder(const std::string& folder) const {
    return ::openat(root_.get(), folder.empty() ? "." : folder.c_str(),
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  }

  Descriptor root_;
};

}  // namespace

Result<std::unique_ptr<JournalDisk>> open_posix_disk(const std::string& path, JournalOpen mode) {
  if (mode == JournalOpen::create && ::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return failure(is_full(errno) ? Code::disk_full : Code::unavailable, "make " + path);
  }
  Descriptor root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (root.get() < 0) {
    return failure(errno == ENOENT ? Code::not_found : Code::unavailable, "open " + path);
  }
  if (::flock(root.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(Code::conflict, "another process has the store in " + path + " open");
  }
  return std::make_unique<PosixDisk>(std::move(root));
}

}  // namespace perdure
