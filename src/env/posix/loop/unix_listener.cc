// The listening half of unix_link.h. Excess callers wait in the kernel's bounded backlog; other
// users are disconnected without a message.
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "env/posix/loop/unix_address.h"
#include "env/posix/loop/unix_link.h"

namespace perdure {
namespace {

constexpr int accepts_per_round = 16;
// Without descriptors callers stay in the backlog; an immediate retry would only use CPU time.
constexpr std::int64_t rest_ms = 100;

}  // namespace

Result<std::unique_ptr<UnixListener>> UnixListener::listen(EpollLoop& loop,
                                                           const PosixFolder& folder,
                                                           const std::string& name,
                                                           OnLink on_link) {
  std::unique_ptr<UnixListener> listener(new UnixListener(loop, std::move(on_link)));
  listener->folder_ =
      Fd(openat(folder.descriptor().get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!listener->folder_) return system_failure("open a folder again");
  listener->socket_ = TRY(bind_unix_socket(folder, name));
  listener->name_ = name;
  struct stat status{};
  if (fstatat(listener->folder_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return system_failure("look at socket " + name);
  }
  listener->device_ = status.st_dev;
  listener->inode_ = status.st_ino;
  if (::listen(listener->socket_.get(), link_backlog_max) != 0) {
    return system_failure("listen at " + name);
  }
  UnixListener* self = listener.get();
  listener->watch_ =
      loop.watch(listener->socket_, Interest::read, [self](Ready) { self->accept_some(); });
  return listener;
}

UnixListener::~UnixListener() {
  if (destroyed_ != nullptr) *destroyed_ = true;
  loop_.cancel(rest_);
  struct stat status{};
  // Only our own socket: a successor may have the name by now.
  if (inode_ != 0 && fstatat(folder_.get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      status.st_dev == device_ && status.st_ino == inode_) {
    unlinkat(folder_.get(), name_.c_str(), 0);
  }
}

void UnixListener::accept_some() {
  bool destroyed = false;
  destroyed_ = &destroyed;
  for (int i = 0; i < accepts_per_round; ++i) {
    Fd socket(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        watch_.set_interest(Interest::none);
        rest_ = loop_.after_ms(rest_ms, [this] { watch_.set_interest(Interest::read); });
      }
      break;
    }
    auto link = UnixLink::adopt(loop_, std::move(socket));
    if (!link) continue;
    // The callback may destroy the listener, so it must not be a member while it runs.
    OnLink on_link = std::move(on_link_);
    on_link(std::move(*link));
    if (destroyed) return;
    on_link_ = std::move(on_link);
  }
  destroyed_ = nullptr;
}

}  // namespace perdure
