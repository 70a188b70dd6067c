// Events for the owner come from the loop, because the owner may destroy the link in response.
#include "net/tls/secure_link.h"

#include <deque>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "net/byte_stream.h"
#include "net/connect.h"
#include "net/server/acceptor.h"
#include "net/tls/tls.h"

namespace perdure {
namespace {

// Shared with tasks of the loop; the owner's handle closes it.
class LinkCore final : public ByteStreamEvents, public std::enable_shared_from_this<LinkCore> {
 public:
  explicit LinkCore(HttpReactor& reactor, std::string source = {})
      : reactor_(reactor), source_(std::move(source)) {}
  ~LinkCore() override { close(); }

  void dial(const SecurePeer& peer) {
    timer_ = reactor_.after_ms(peer.connect_ms, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->timer_ = 0;
      self->end("no connection within the time for it");
    });
    const HttpEndpoint to{.host = peer.host, .port = peer.port, .silence_ms = peer.silence_ms};
    connecting_ = connect_to(
        reactor_, to,
        [weak = weak_from_this(), pin = peer.fingerprint](Result<std::shared_ptr<ByteStream>> got) {
          const auto self = weak.lock();
          if (!self) return;
          // Not destroyed within its own call.
          self->reactor_.post(
              [kept = std::shared_ptr<Connecting>(std::move(self->connecting_))] {});
          if (!got) return self->end(got.error().message());
          self->open(make_tls_pinned_stream(self->reactor_, std::move(*got), pin));
        });
  }
  void open(std::shared_ptr<ByteStream> stream) {
    stream_ = std::move(stream);
    stream_->set_events(this);
    if (!paused_) stream_->start_reading();
    flush();
  }

  void set_events(LinkEvents& events) {
    events_ = &events;
    if (is_closed_) tell_closed_later();
  }
  void send(std::string bytes) {
    if (is_closed_ || bytes.empty()) return;
    unsent_bytes_ += bytes.size();
    queue_.push_back(std::move(bytes));
    if (queue_.size() == 1 && stream_) flush();
  }
  std::size_t unsent_bytes() const { return unsent_bytes_; }
  void pause() {
    paused_ = true;
    if (stream_) stream_->stop_reading();
  }
  void resume() {
    paused_ = false;
    if (stream_) stream_->start_reading();
  }
  const std::string& trouble() const { return trouble_; }
  const std::string& source() const { return source_; }
  void close() {
    events_ = nullptr;
    is_closed_ = true;
    connecting_.reset();
    reactor_.cancel(std::exchange(timer_, 0));
    if (stream_) std::exchange(stream_, nullptr)->close();
  }

  void on_bytes(std::string_view bytes) override {
    const auto self = shared_from_this();
    if (timer_ != 0) reactor_.cancel(std::exchange(timer_, 0));
    if (events_ != nullptr) events_->on_bytes(bytes);
  }
  void on_end() override { end("the other end closed the connection"); }
  void on_writable() override {
    const auto self = shared_from_this();
    if (timer_ != 0) reactor_.cancel(std::exchange(timer_, 0));
    flush();
  }
  void on_broken() override {
    const std::string why = stream_ ? stream_->trouble() : "";
    end(why.empty() ? "the connection broke" : why);
  }

 private:
  void flush() {
    while (!queue_.empty()) {
      const std::string_view part = std::string_view(queue_.front()).substr(front_sent_);
      const Transferred sent = stream_->write(std::span(&part, 1));
      if (sent.how == Transfer::would_wait) return;  // on_writable follows
      if (sent.how != Transfer::some) return end_later(stream_->trouble());
      front_sent_ += sent.bytes;
      unsent_bytes_ -= sent.bytes;
      if (front_sent_ < queue_.front().size()) continue;
      front_sent_ = 0;
      queue_.pop_front();
    }
    post([](LinkCore& self) {
      if (self.queue_.empty() && self.events_ != nullptr) self.events_->on_drained();
    });
  }

  void post(void (*then)(LinkCore&)) {
    reactor_.post([weak = weak_from_this(), then] {
      if (const auto self = weak.lock()) then(*self);
    });
  }
  void end_later(std::string why) {
    trouble_ = why.empty() ? "the connection broke" : std::move(why);
    post([](LinkCore& self) { self.end(self.trouble_); });
  }
  void tell_closed_later() {
    post([](LinkCore& self) {
      if (auto* events = std::exchange(self.events_, nullptr)) events->on_closed();
    });
  }

  void end(std::string why) {
    const auto self = shared_from_this();
    if (is_closed_) return;
    trouble_ = std::move(why);
    LinkEvents* const events = events_;
    // This may run within a call from the stream, which is therefore destroyed later.
    reactor_.post([stream = stream_] {
      if (stream) stream->close();
    });
    if (stream_) std::exchange(stream_, nullptr)->set_events(nullptr);
    close();
    queue_.clear();
    unsent_bytes_ = 0;
    if (events != nullptr) events->on_closed();
  }

  HttpReactor& reactor_;
  std::unique_ptr<Connecting> connecting_;
  std::shared_ptr<ByteStream> stream_;
  LinkEvents* events_ = nullptr;
  std::deque<std::string> queue_;
  std::size_t front_sent_ = 0;
  std::size_t unsent_bytes_ = 0;
  Loop::TimerId timer_ = 0;
  std::string trouble_;
  std::string source_;
  bool paused_ = false;
  bool is_closed_ = false;
};

class HeldLink final : public SecureLink {
 public:
  explicit HeldLink(std::shared_ptr<LinkCore> core) : core_(std::move(core)) {}
  ~HeldLink() override { core_->close(); }
  void set_events(LinkEvents& events) override { core_->set_events(events); }
  void send(std::string bytes) override { core_->send(std::move(bytes)); }
  std::size_t unsent_bytes() const override { return core_->unsent_bytes(); }
  void pause() override { core_->pause(); }
  void resume() override { core_->resume(); }
  std::string trouble() const override { return core_->trouble(); }
  const std::string& source() const override { return core_->source(); }

 private:
  std::shared_ptr<LinkCore> core_;
};

class ListenerOverTls final : public SecureListener {
 public:
  ListenerOverTls(HttpReactor& reactor, const SecureListenSetting& setting,
                  std::shared_ptr<TlsIdentity> identity, OnLink on_link)
      : reactor_(reactor),
        setting_(setting),
        identity_(std::move(identity)),
        on_link_(std::move(on_link)) {}

  Result<> start() {
    const auto address = numeric_address(setting_.host, setting_.port);
    if (!address) {
      return fail(Code::invalid_argument, "'" + setting_.host + "' is not a numeric address");
    }
    const std::string shown = setting_.host + " port " + std::to_string(setting_.port);
    Socket socket = TRY(listen_tcp_socket(*address, shown));
    port_ = TRY(local_port(socket));
    acceptor_ = std::make_unique<Acceptor>(reactor_, std::move(socket),
                                           [this](Socket accepted) { take(std::move(accepted)); });
    return {};
  }
  std::uint16_t port() const override { return port_; }

 private:
  void take(Socket socket) {
    notice_silence(socket.get(), setting_.silence_ms);
    auto core = std::make_shared<LinkCore>(reactor_, source_of(peer_of(socket.get()).address));
    core->open(make_tls_server_stream(reactor_, *identity_,
                                      make_plain_stream(reactor_, std::move(socket)),
                                      setting_.handshake_ms));
    on_link_(std::make_unique<HeldLink>(std::move(core)));
  }

  HttpReactor& reactor_;
  SecureListenSetting setting_;
  std::shared_ptr<TlsIdentity> identity_;
  OnLink on_link_;
  std::unique_ptr<Acceptor> acceptor_;
  std::uint16_t port_ = 0;
};

}  // namespace

std::unique_ptr<SecureLink> dial(HttpIo& io, const SecurePeer& peer) {
  auto core = std::make_shared<LinkCore>(reactor_of(io));
  core->dial(peer);
  return std::make_unique<HeldLink>(std::move(core));
}

Result<std::unique_ptr<SecureListener>> SecureListener::listen(HttpIo& io,
                                                               const SecureListenSetting& setting,
                                                               OnLink on_link) {
  auto listener = std::make_unique<ListenerOverTls>(
      reactor_of(io), setting, TRY(load_tls_identity(setting.files, TlsFloor::tls13)),
      std::move(on_link));
  TRY_VOID(listener->start());
  return listener;
}

}  // namespace perdure
