// A socket as a ByteStream. An idle one uses two small objects and no buffer: it waits until data
// has arrived and reads it into the reactor's shared buffer.
#include <utility>

#include <sys/socket.h>

#include "net/byte_stream.h"

namespace perdure {
namespace {

class PlainStream final : public ByteStream,
                          public DescriptorEvents,
                          public std::enable_shared_from_this<PlainStream> {
 public:
  PlainStream(HttpReactor& reactor, Socket socket)
      : reactor_(reactor), descriptor_(reactor.adopt(std::move(socket), *this)) {}

  void set_events(ByteStreamEvents* events) override { events_ = events; }

  void start_reading() override {
    reads_ = true;
    if (descriptor_ && !ended_) descriptor_->wait_readable();
  }
  void stop_reading() override { reads_ = false; }

  Transferred write(std::span<const std::string_view> parts) override {
    if (!descriptor_) return {Transfer::broken};
    const Transferred sent = send_some(descriptor_->get(), parts);
    if (sent.how == Transfer::would_wait) descriptor_->wait_writable();
    return sent;
  }

  void end_writing() override {
    if (descriptor_) ::shutdown(descriptor_->get(), SHUT_WR);
  }

  void close() override {
    events_ = nullptr;
    descriptor_.reset();
  }

  void on_readable() override {
    // A callback may release the last pointer to this object.
    const auto self = shared_from_this();
    if (!reads_ || events_ == nullptr) return;
    const Transferred got = receive_some(descriptor_->get(), reactor_.read_buffer());
    switch (got.how) {
      case Transfer::some: events_->on_bytes({reactor_.read_buffer().data(), got.bytes}); break;
      case Transfer::would_wait: break;
      case Transfer::ended:
        ended_ = true;
        events_->on_end();
        return;
      case Transfer::broken: events_->on_broken(); return;
    }
    if (reads_ && descriptor_) descriptor_->wait_readable();
  }

  void on_writable() override {
    const auto self = shared_from_this();
    if (events_ != nullptr) events_->on_writable();
  }

 private:
  HttpReactor& reactor_;
  std::unique_ptr<Descriptor> descriptor_;
  ByteStreamEvents* events_ = nullptr;
  bool reads_ = false;
  bool ended_ = false;
};

}  // namespace

std::shared_ptr<ByteStream> make_plain_stream(HttpReactor& reactor, Socket socket) {
  return std::make_shared<PlainStream>(reactor, std::move(socket));
}

}  // namespace perdure
