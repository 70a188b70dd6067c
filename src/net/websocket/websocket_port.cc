#include "net/websocket/websocket_port.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace perdure {

void WebSocketPort::attach(std::shared_ptr<ByteStream> stream, std::string early_bytes) {
  stream_ = std::move(stream);
  in_ = std::move(early_bytes);
  stream_->set_events(this);
}

void WebSocketPort::read(std::span<char> into, Done done) {
  CHECK(!read_done_);
  read_into_ = into;
  read_done_ = std::move(done);
  if (!in_.empty() || is_ended_ || !stream_) {
    reactor_.post([self = shared_from_this()] { self->finish_read(); });
  } else {
    stream_->start_reading();
  }
}

void WebSocketPort::write(std::vector<std::string_view> parts, Done done) {
  CHECK(!write_done_);
  parts_ = std::move(parts);
  write_done_ = std::move(done);
  try_write();
}

void WebSocketPort::close() {
  if (stream_) {
    trouble_ = stream_->trouble();
    stream_->close();
  }
  stream_ = nullptr;
  is_ended_ = true;
  abort(read_done_);
  abort(write_done_);
}

void WebSocketPort::on_bytes(std::string_view bytes) {
  const auto self = shared_from_this();
  in_.append(bytes);
  stream_->stop_reading();
  finish_read();
}

void WebSocketPort::on_end() {
  const auto self = shared_from_this();
  is_ended_ = true;
  finish_read();
}

void WebSocketPort::on_writable() {
  const auto self = shared_from_this();
  if (write_done_) try_write();
}

void WebSocketPort::on_broken() {
  const auto self = shared_from_this();
  close();
}

void WebSocketPort::finish_read() {
  if (!read_done_) return;
  if (in_.empty()) {
    if (is_ended_) std::exchange(read_done_, nullptr)(Outcome::ended, 0);
    return;
  }
  const std::size_t size = std::min(in_.size(), read_into_.size());
  std::copy_n(in_.data(), size, read_into_.data());
  in_.erase(0, size);
  if (in_.empty()) in_ = {};
  std::exchange(read_done_, nullptr)(Outcome::good, size);
}

void WebSocketPort::try_write() {
  if (!stream_) return abort(write_done_);
  const Transferred sent = parts_.empty() ? Transferred{Transfer::some} : stream_->write(parts_);
  if (sent.how == Transfer::would_wait) return;
  if (sent.how != Transfer::some) return abort(write_done_);
  reactor_.post([done = std::exchange(write_done_, nullptr), size = sent.bytes]() mutable {
    done(Outcome::good, size);
  });
}

void WebSocketPort::abort(Done& waiting) {
  if (!waiting) return;
  reactor_.post([done = std::exchange(waiting, nullptr)]() mutable { done(Outcome::aborted, 0); });
}

}  // namespace perdure
