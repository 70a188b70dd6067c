// Unix sockets as env/ needs them, bound and reached through their folder's descriptor, since a
// socket's path is limited to 108 bytes. Both sides accept only processes of our own user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include <sys/types.h>

#include "base/result.h"
#include "env/link.h"
#include "env/posix/files/fd.h"
#include "env/posix/files/folder.h"
#include "env/posix/loop/loop.h"

namespace perdure {

// The process at the other end when the connection was made, according to the kernel.
struct LinkPeer {
  std::int64_t pid = 0;
  uid_t uid = 0;
};

// A connected stream. Reads into the loop's shared buffer. Bytes that cannot be sent at once are
// queued, and the caller must limit them (unsent_bytes). While paused, the peer's end is noticed
// only by sending or after resume().
class UnixLink final : public Link {
 public:
  // Unix sockets connect at once or not at all. not_found: no such name; unavailable: no process
  // listens; limit_reached: the backlog is full; denied: it is another user's.
  static Result<std::unique_ptr<UnixLink>> connect(EpollLoop& loop, const PosixFolder& folder,
                                                   const std::string& name);
  // Takes a connected, non-blocking socket; denied if its peer is another user.
  static Result<std::unique_ptr<UnixLink>> adopt(EpollLoop& loop, Fd socket);
  ~UnixLink() override;

  void set_events(LinkEvents& events) override;
  void send(std::string bytes) override;
  std::size_t unsent_bytes() const override { return unsent_bytes_; }
  void pause() override;
  void resume() override;

  const LinkPeer& peer() const { return peer_; }

 private:
  enum class Notice { none, drained, closed };

  UnixLink(EpollLoop& loop, Fd socket, LinkPeer peer);
  void on_ready(Ready ready);
  void read_some();
  // Whether the socket is still usable.
  enum class Sent { all, part, broken };
  Sent send_queued();
  void close_socket();
  void tell_closed();
  // Delivers events caused by a call on the loop, in a separate task: at most one is pending.
  void tell_later(Notice notice);
  void update_interest();

  EpollLoop& loop_;
  Fd socket_;
  LinkPeer peer_;
  Watch watch_;
  LinkEvents* events_ = nullptr;
  std::deque<std::string> queue_;
  std::size_t front_sent_ = 0;  // bytes of queue_.front() that were sent
  std::size_t unsent_bytes_ = 0;
  bool paused_ = false;
  Notice notice_ = Notice::none;
  // Points to this while it lives: tasks and callbacks check it first.
  std::shared_ptr<UnixLink*> self_;
};

// Listens at a name in a folder that must be private (0700); the socket is 0600.
class UnixListener final : public Listener {
 public:
  // Replaces a dead process's socket; conflict if a process listens there or the name is not a
  // socket. `on_link` may destroy the listener.
  static Result<std::unique_ptr<UnixListener>> listen(EpollLoop& loop, const PosixFolder& folder,
                                                      const std::string& name, OnLink on_link);
  ~UnixListener() override;

 private:
  UnixListener(EpollLoop& loop, OnLink on_link) : loop_(loop), on_link_(std::move(on_link)) {}
  void accept_some();

  EpollLoop& loop_;
  OnLink on_link_;
  Fd folder_;  // our own descriptor of it, to remove the name at the end
  std::string name_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  Fd socket_;
  Watch watch_;
  Loop::TimerId rest_ = 0;
  bool* destroyed_ = nullptr;
};

}  // namespace perdure
