#include "env/posix/files/atomic_write.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace perdure {
namespace {

using beneath::error_of;
using beneath::OwnedFd;
using beneath::Place;

constexpr int name_attempts_max = 16;

Error changed(const std::string& name) {
  return {Code::conflict, escape_name(name) + ": it is not the version that was expected"};
}

// A temporary file beside the real one; removed unless it was put in place.
class Temporary {
 public:
  explicit Temporary(const Place& place) : place_(place) {}
  ~Temporary() {
    if (!name_.empty()) ::unlinkat(folder(), name_.c_str(), 0);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  // Others cannot read it until it has its final mode.
  Result<> create() {
    for (int attempt = 0; attempt < name_attempts_max; ++attempt) {
      std::uint64_t number = 0;
      if (::getrandom(&number, sizeof number, 0) != sizeof number) continue;
      std::string name = ".perdure-" + std::to_string(number) + ".tmp";
      const int fd = ::openat(folder(), name.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
      if (fd < 0 && errno == EEXIST) continue;
      if (fd < 0) return std::unexpected(error_of(errno, place_.name));
      name_ = std::move(name);
      file_ = OwnedFd(fd);
      return {};
    }
    return fail(Code::internal, "no name is left for a temporary file");
  }

  Result<> fill(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(file_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return std::unexpected(error_of(errno, place_.name));
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    if (::fdatasync(file_.get()) != 0) return std::unexpected(error_of(errno, place_.name));
    return {};
  }

  // Sets the mode and, if allowed, the group of the file that it replaces.
  Result<> take_after(const struct stat& old) {
    struct stat mine{};
    if (::fstat(file_.get(), &mine) != 0) return std::unexpected(error_of(errno, place_.name));
    const bool same_owners =
        (mine.st_gid == old.st_gid && mine.st_uid == old.st_uid) ||
        ::fchown(file_.get(), mine.st_uid == old.st_uid ? static_cast<uid_t>(-1) : old.st_uid,
                 old.st_gid) == 0;
    // Set-id bits were granted by the old owner, so a new owner does not get them.
    const mode_t mode = old.st_mode & (same_owners ? 07777U : 0777U);
    return set_mode(mode);
  }
  Result<> set_mode(mode_t mode) {
    if (::fchmod(file_.get(), mode) != 0) return std::unexpected(error_of(errno, place_.name));
    return {};
  }

  Result<FileStat> stat() const {
    struct stat mine{};
    if (::fstat(file_.get(), &mine) != 0) return std::unexpected(error_of(errno, place_.name));
    return beneath::stat_of(mine);
  }

  // 0, or the number of the error.
  int rename(unsigned flags) {
    if (::renameat2(folder(), name_.c_str(), folder(), place_.name.c_str(), flags) != 0) {
      return errno;
    }
    if ((flags & RENAME_EXCHANGE) == 0) name_.clear();
    return 0;
  }
  const std::string& name() const { return name_; }
  void keep() { name_.clear(); }

 private:
  int folder() const { return place_.folder.get(); }

  const Place& place_;
  std::string name_;
  OwnedFd file_;
};

Result<std::optional<struct stat>> stat_at(const Place& place, const std::string& name) {
  struct stat seen{};
  if (::fstatat(place.folder.get(), name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) == 0) return seen;
  if (errno == ENOENT) return std::nullopt;
  return std::unexpected(error_of(errno, name));
}

// Checks the terms against the existing file; nothing has been written yet.
Result<> check_before(const Place& place, const std::optional<struct stat>& old,
                      const WriteTerms& terms) {
  if (old && S_ISDIR(old->st_mode)) return std::unexpected(error_of(EISDIR, place.name));
  if (old && !S_ISREG(old->st_mode)) {
    return fail(Code::conflict, escape_name(place.name) + ": not a plain file");
  }
  if (terms.expect == Expect::absent && old) return std::unexpected(error_of(EEXIST, place.name));
  if (terms.expect == Expect::version &&
      (!old || beneath::stat_of(*old).version != terms.version)) {
    return std::unexpected(changed(place.name));
  }
  return {};
}

// Exchanges the two files, then restores the old one if it is not the expected version.
Result<> exchange(const Place& place, Temporary& temporary, const WriteTerms& terms) {
  const int number = temporary.rename(RENAME_EXCHANGE);
  if (number == ENOENT) return std::unexpected(changed(place.name));
  if (number == EINVAL) {  // not supported by the file system: the check before must suffice
    const int plain = temporary.rename(0);
    if (plain != 0) return std::unexpected(error_of(plain, place.name));
    return {};
  }
  if (number != 0) return std::unexpected(error_of(number, place.name));
  const auto replaced = TRY(stat_at(place, temporary.name()));
  if (replaced && beneath::stat_of(*replaced).version == terms.version) return {};
  const int back = temporary.rename(RENAME_EXCHANGE);
  if (back != 0) {
    temporary.keep();  // it holds another writer's bytes: do not lose them
    return std::unexpected(error_of(back, place.name));
  }
  return std::unexpected(changed(place.name));
}

}  // namespace

Result<FileStat> atomic_write(const Place& place, std::string_view bytes, const AtomicWrite& how) {
  const WriteTerms& terms = how.terms;
  const auto old = TRY(stat_at(place, place.name));
  TRY_VOID(check_before(place, old, terms));
  Temporary temporary(place);
  TRY_VOID(temporary.create());
  TRY_VOID(temporary.fill(bytes));
  TRY_VOID(old ? temporary.take_after(*old) : temporary.set_mode(how.new_mode));
  const FileStat written = TRY(temporary.stat());
  if (terms.expect == Expect::version) {
    TRY_VOID(exchange(place, temporary, terms));
    return written;
  }
  int number = temporary.rename(terms.expect == Expect::absent ? RENAME_NOREPLACE : 0U);
  if (number == EINVAL && terms.expect == Expect::absent) number = temporary.rename(0);
  if (number != 0) return std::unexpected(error_of(number, place.name));
  return written;
}

}  // namespace perdure
