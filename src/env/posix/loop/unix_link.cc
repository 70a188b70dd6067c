#include "env/posix/loop/unix_link.h"

#include <array>
#include <cerrno>
#include <utility>

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/check.h"
#include "env/posix/loop/unix_address.h"

namespace perdure {
namespace {

constexpr std::size_t pieces_per_send = 16;

Result<LinkPeer> peer_of(const Fd& socket) {
  ucred credentials{};
  socklen_t bytes = sizeof credentials;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) {
    return system_failure("ask who the peer is");
  }
  return LinkPeer{credentials.pid, credentials.uid};
}

}  // namespace

UnixLink::UnixLink(EpollLoop& loop, Fd socket, LinkPeer peer)
    : loop_(loop),
      socket_(std::move(socket)),
      peer_(peer),
      self_(std::make_shared<UnixLink*>(this)) {}

UnixLink::~UnixLink() { *self_ = nullptr; }

Result<std::unique_ptr<UnixLink>> UnixLink::adopt(EpollLoop& loop, Fd socket) {
  const LinkPeer peer = TRY(peer_of(socket));
  if (peer.uid != geteuid()) return fail(Code::denied, "the peer belongs to another user");
  return std::unique_ptr<UnixLink>(new UnixLink(loop, std::move(socket), peer));
}

Result<std::unique_ptr<UnixLink>> UnixLink::connect(EpollLoop& loop, const PosixFolder& folder,
                                                    const std::string& name) {
  return adopt(loop, TRY(connect_unix_socket(folder, name)));
}

void UnixLink::set_events(LinkEvents& events) {
  CHECK(events_ == nullptr, "events are set once");
  events_ = &events;
  if (!socket_) return tell_later(Notice::closed);
  watch_ = loop_.watch(socket_, Interest::none, [this](Ready ready) { on_ready(ready); });
  update_interest();
}

void UnixLink::update_interest() {
  if (!watch_) return;
  const bool write = !queue_.empty();
  if (paused_) return watch_.set_interest(write ? Interest::write : Interest::none);
  watch_.set_interest(write ? Interest::both : Interest::read);
}

void UnixLink::pause() {
  paused_ = true;
  update_interest();
}

void UnixLink::resume() {
  paused_ = false;
  update_interest();
}

void UnixLink::on_ready(Ready ready) {
  const auto self = self_;
  if (ready.write && !queue_.empty()) {
    switch (send_queued()) {
      case Sent::all:
        update_interest();
        events_->on_drained();
        break;
      case Sent::part: break;
      case Sent::broken:
        // The peer's last bytes can still be read, unless reading is paused.
        if (paused_) return tell_closed();
        update_interest();
        break;
    }
  }
  if (*self != nullptr && ready.read && !paused_ && socket_) read_some();
}

void UnixLink::read_some() {
  const auto buffer = loop_.read_buffer();
  const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), 0);
  if (got > 0) return events_->on_bytes({buffer.data(), static_cast<std::size_t>(got)});
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  tell_closed();
}

UnixLink::Sent UnixLink::send_queued() {
  while (!queue_.empty()) {
    std::array<iovec, pieces_per_send> pieces{};
    std::size_t count = 0;
    std::size_t skip = front_sent_;
    for (auto piece = queue_.begin(); piece != queue_.end() && count < pieces.size(); ++piece) {
      pieces[count++] = {piece->data() + skip, piece->size() - skip};
      skip = 0;
    }
    const msghdr message{.msg_iov = pieces.data(), .msg_iovlen = count};
    const ssize_t sent = sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return Sent::part;
    if (sent < 0) {
      queue_.clear();
      unsent_bytes_ = front_sent_ = 0;
      return Sent::broken;
    }
    unsent_bytes_ -= static_cast<std::size_t>(sent);
    front_sent_ += static_cast<std::size_t>(sent);
    while (!queue_.empty() && front_sent_ >= queue_.front().size()) {
      front_sent_ -= queue_.front().size();
      queue_.pop_front();
    }
  }
  return Sent::all;
}

void UnixLink::send(std::string bytes) {
  if (!socket_ || bytes.empty()) return;
  const bool waiting = !queue_.empty();
  unsent_bytes_ += bytes.size();
  queue_.push_back(std::move(bytes));
  if (waiting) return;
  switch (send_queued()) {
    case Sent::all: return tell_later(Notice::drained);
    case Sent::part: return update_interest();
    case Sent::broken: return tell_later(Notice::closed);
  }
}

void UnixLink::tell_later(Notice notice) {
  const bool under_way = notice_ != Notice::none;
  if (notice_ != Notice::closed) notice_ = notice;
  if (under_way) return;
  loop_.post([self = self_] {
    UnixLink* link = *self;
    if (link == nullptr) return;
    const Notice told = std::exchange(link->notice_, Notice::none);
    if (link->events_ == nullptr) {
      link->notice_ = Notice::none;
    } else if (told == Notice::drained && link->socket_ && link->queue_.empty()) {
      link->events_->on_drained();
    } else if (told == Notice::closed && (link->paused_ || !link->socket_)) {
      // Otherwise reading finds the end, after the peer's last bytes.
      link->tell_closed();
    }
  });
}

void UnixLink::close_socket() {
  watch_.stop();
  socket_.reset();
  queue_.clear();
  unsent_bytes_ = front_sent_ = 0;
}

void UnixLink::tell_closed() {
  close_socket();
  LinkEvents* events = std::exchange(events_, nullptr);
  if (events != nullptr) events->on_closed();
}

}  // namespace perdure
