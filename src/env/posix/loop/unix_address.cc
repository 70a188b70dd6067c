#include "env/posix/loop/unix_address.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace perdure {
namespace {

Result<sockaddr_un> address_of(const PosixFolder& folder, const std::string& name) {
  const std::string path = TRY(folder.short_path(name));
  sockaddr_un address{.sun_family = AF_UNIX};
  if (path.size() >= sizeof address.sun_path) {
    return fail(Code::invalid_argument, "the socket's name is too long: " + name);
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Result<Fd> make_socket() {
  Fd made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) return system_failure("make a socket");
  return made;
}

// Returns errno, or 0 when bound.
int bind_to(const Fd& socket, const sockaddr_un& address) {
  const auto* place = reinterpret_cast<const sockaddr*>(&address);
  return bind(socket.get(), place, sizeof address) == 0 ? 0 : errno;
}

// Removes a socket without a listener. Connecting to a plain file is also refused, so this checks
// the file's type.
Result<> remove_stale(const PosixFolder& folder, const std::string& name) {
  struct stat status{};
  const int at = folder.descriptor().get();
  if (fstatat(at, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISSOCK(status.st_mode)) {
    return fail(Code::conflict, name + " is not a socket");
  }
  const auto answer = connect_unix_socket(folder, name);
  if (answer) return fail(Code::conflict, "a process already listens at " + name);
  if (answer.error().code() == Code::not_found) return {};
  if (answer.error().code() != Code::unavailable) {
    return fail(Code::conflict, name + " may be in use: " + answer.error().message());
  }
  if (unlinkat(at, name.c_str(), 0) != 0 && errno != ENOENT) {
    return system_failure("remove stale socket " + name);
  }
  return {};
}

}  // namespace

// A container can write to some of these folders, so symlinks are not followed, and the checked
// file is the one to which it connects.
Result<Fd> connect_unix_socket(const PosixFolder& folder, const std::string& name) {
  TRY(address_of(folder, name));  // an invalid name, or one that is too long
  const Fd found(openat(folder.descriptor().get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!found) return system_failure("connect to " + name);
  struct stat status{};
  if (fstat(found.get(), &status) != 0) return system_failure("look at " + name);
  if (!S_ISSOCK(status.st_mode)) return fail(Code::unavailable, name + " is not a socket");
  sockaddr_un address{.sun_family = AF_UNIX};
  const std::string path = "/proc/self/fd/" + std::to_string(found.get());
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  Fd made = TRY(make_socket());
  const auto* place = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(made.get(), place, sizeof address) != 0) {
    return system_failure("connect to " + name);
  }
  return made;
}

Result<Fd> bind_unix_socket(const PosixFolder& folder, const std::string& name) {
  const sockaddr_un address = TRY(address_of(folder, name));
  TRY_VOID(folder.check_private());
  Fd made = TRY(make_socket());
  // The file is created with this mode, so it never has a wider one.
  if (fchmod(made.get(), 0600) != 0) return system_failure("set the socket's mode");
  int error = bind_to(made, address);
  if (error == EADDRINUSE) {
    // One process at a time: two that find the same stale socket would remove each other's new one.
    // Only needed here, because binding another name does not conflict.
    const Fd turn(openat(folder.descriptor().get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!turn) return system_failure("open a folder again");
    if (flock(turn.get(), LOCK_EX | LOCK_NB) != 0) {
      return fail(Code::conflict, "another process is binding " + name);
    }
    TRY_VOID(remove_stale(folder, name));
    error = bind_to(made, address);
  }
  if (error != 0) return std::unexpected(system_error(error, "bind " + name));
  return made;
}

}  // namespace perdure
