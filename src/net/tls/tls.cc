#include "net/tls/tls.h"

#include <array>
#include <utility>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/check.h"

namespace perdure {

struct FreeContext {
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
};
using Context = std::unique_ptr<SSL_CTX, FreeContext>;

class TlsIdentity {
 public:
  explicit TlsIdentity(Context context) : context(std::move(context)) {}
  Context context;
};

namespace {

constexpr std::size_t encrypted_bytes_max = 64UL << 10;
constexpr std::size_t record_bytes = 16UL << 10;

struct FreeSsl {
  void operator()(SSL* ssl) const { ::SSL_free(ssl); }
};
using Ssl = std::unique_ptr<SSL, FreeSsl>;

std::string openssl_trouble() {
  std::array<char, 256> text{};
  ::ERR_error_string_n(::ERR_get_error(), text.data(), text.size());
  ::ERR_clear_error();
  return text.data();
}

constexpr std::int64_t client_handshake_ms = 10'000;

std::string verdict_text(long verdict) {
  if (verdict != X509_V_ERR_APPLICATION_VERIFICATION) {
    return ::X509_verify_cert_error_string(verdict);
  }
  return "its certificate is not the one with the known fingerprint";
}

class TlsStream final : public ByteStream,
                        public ByteStreamEvents,
                        public std::enable_shared_from_this<TlsStream> {
 public:
  TlsStream(HttpReactor& reactor, Ssl ssl, std::shared_ptr<ByteStream> inner)
      : reactor_(reactor), ssl_(std::move(ssl)), inner_(std::move(inner)) {
    // ssl_ owns both from here on.
    ::SSL_set_bio(ssl_.get(), ::BIO_new(::BIO_s_mem()), ::BIO_new(::BIO_s_mem()));
    ::SSL_set_mode(ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                   SSL_MODE_RELEASE_BUFFERS);
  }
  ~TlsStream() override {
    reactor_.cancel(handshake_timer_);
    inner_->close();
  }

  void start(std::int64_t handshake_ms) {
    inner_->set_events(this);
    handshake_timer_ = reactor_.after_ms(handshake_ms, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->handshake_timer_ = 0;
      self->break_off("the handshake took too long");
    });
    ::ERR_clear_error();
    (void)::SSL_do_handshake(ssl_.get());
    flush();
    inner_->start_reading();
  }

  void set_events(ByteStreamEvents* events) override { events_ = events; }

  void start_reading() override {
    reads_ = true;
    inner_->start_reading();
    // Bytes that are already received or decrypted are delivered from the loop.
    reactor_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->pump();
    });
  }
  void stop_reading() override { reads_ = false; }

  Transferred write(std::span<const std::string_view> parts) override {
    if (is_broken_) return {Transfer::broken};
    if (!flush()) return {Transfer::broken};
    std::size_t taken = 0;
    for (std::string_view part : parts) {
      while (!part.empty() && out_.size() < encrypted_bytes_max) {
        ::ERR_clear_error();
        std::size_t written = 0;
        const int how =
            ::SSL_write_ex(ssl_.get(), part.data(), std::min(part.size(), record_bytes), &written);
        if (how != 1) return refuse_write(taken, how);
        part.remove_prefix(written);
        taken += written;
        collect();
      }
      if (!part.empty()) break;
    }
    if (!flush()) return {Transfer::broken};
    if (taken > 0) return {Transfer::some, taken};
    wants_write_ = true;
    return {Transfer::would_wait};
  }

  void end_writing() override {
    (void)::SSL_shutdown(ssl_.get());
    collect();
    if (flush() && out_.empty()) inner_->end_writing();
  }

  std::string trouble() const override { return trouble_; }

  void close() override {
    events_ = nullptr;
    if (!is_broken_ && ::SSL_is_init_finished(ssl_.get()) != 0) {
      (void)::SSL_shutdown(ssl_.get());
      collect();
      flush();
    }
    is_broken_ = true;
    inner_->close();
  }

  void on_bytes(std::string_view bytes) override {
    const auto self = shared_from_this();
    const int written =
        ::BIO_write(::SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
    CHECK(written == static_cast<int>(bytes.size()), "a memory BIO takes everything");
    pump();
  }
  void on_end() override {
    const auto self = shared_from_this();
    // Without the peer's close_notify this is a cut, not an end.
    if (!has_ended_) break_off("the connection was cut");
  }
  void on_writable() override {
    const auto self = shared_from_this();
    if (!flush()) return break_off({});
    if (out_.empty()) tell_writable();
  }
  void on_broken() override {
    const auto self = shared_from_this();
    break_off({});
  }

 private:
  // Moves OpenSSL's output to the buffer for the stream below.
  void collect() {
    BIO* const bio = ::SSL_get_wbio(ssl_.get());
    std::array<char, record_bytes> buffer;
    int got = 0;
    while ((got = ::BIO_read(bio, buffer.data(), buffer.size())) > 0) {
      out_.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

  // False if the stream below is broken.
  bool flush() {
    collect();
    while (!out_.empty()) {
      const std::string_view part = out_;
      const Transferred sent = inner_->write(std::span(&part, 1));
      if (sent.how == Transfer::broken) return false;
      if (sent.how != Transfer::some) return true;
      out_.erase(0, sent.bytes);
    }
    out_ = {};
    return true;
  }

  Transferred refuse_write(std::size_t taken, int how) {
    const int why = ::SSL_get_error(ssl_.get(), how);
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
      is_broken_ = true;
      trouble_ = openssl_trouble();
      return {Transfer::broken};
    }
    flush();
    if (taken > 0) return {Transfer::some, taken};
    wants_write_ = true;
    return {Transfer::would_wait};
  }

  void tell_writable() {
    if (::SSL_is_init_finished(ssl_.get()) == 0) return;
    if (std::exchange(wants_write_, false) && events_ != nullptr) events_->on_writable();
  }

  // Continues the handshake, then delivers decrypted bytes while reading is on.
  void pump() {
    if (is_broken_) return;
    if (::SSL_is_init_finished(ssl_.get()) == 0 && !shake_hands()) return;
    std::array<char, record_bytes> buffer;
    while (reads_ && events_ != nullptr && !is_broken_) {
      ::ERR_clear_error();
      std::size_t got = 0;
      const int how = ::SSL_read_ex(ssl_.get(), buffer.data(), buffer.size(), &got);
      if (how == 1) {
        events_->on_bytes({buffer.data(), got});
        continue;
      }
      const int why = ::SSL_get_error(ssl_.get(), how);
      if (why == SSL_ERROR_ZERO_RETURN) {
        if (!std::exchange(has_ended_, true)) events_->on_end();
        return;
      }
      if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
        return break_off(openssl_trouble());
      }
      break;
    }
    if (is_broken_) return;
    if (!flush()) return break_off({});
    // While reading is off, the peer's bytes wait in the kernel.
    if (!reads_ && ::SSL_is_init_finished(ssl_.get()) != 0) inner_->stop_reading();
  }

  bool shake_hands() {
    ::ERR_clear_error();
    const int how = ::SSL_do_handshake(ssl_.get());
    const int why = how == 1 ? SSL_ERROR_NONE : ::SSL_get_error(ssl_.get(), how);
    if (!flush()) {
      break_off({});
      return false;
    }
    if (how != 1) {
      if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return false;
      const long verdict = ::SSL_get_verify_result(ssl_.get());
      break_off(verdict == X509_V_OK ? openssl_trouble() : verdict_text(verdict));
      return false;
    }
    reactor_.cancel(std::exchange(handshake_timer_, 0));
    tell_writable();
    return !is_broken_;
  }

  void break_off(std::string why) {
    if (std::exchange(is_broken_, true)) return;
    trouble_ = std::move(why);
    if (auto* events = std::exchange(events_, nullptr)) events->on_broken();
  }

  HttpReactor& reactor_;
  Loop::TimerId handshake_timer_ = 0;
  Ssl ssl_;
  std::shared_ptr<ByteStream> inner_;
  ByteStreamEvents* events_ = nullptr;
  std::string out_;  // encrypted
  std::string trouble_;
  bool reads_ = false;
  bool wants_write_ = false;
  bool has_ended_ = false;
  bool is_broken_ = false;
};

Context make_context(const SSL_METHOD* method) {
  Context context(::SSL_CTX_new(method));
  CHECK(context != nullptr, "OpenSSL gives no context");
  ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  ::SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  return context;
}

// Created once, because reading the system's store takes tens of milliseconds.
SSL_CTX* client_context() {
  static const Context made = [] {
    Context context = make_context(::TLS_client_method());
    ::SSL_CTX_set_default_verify_paths(context.get());
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    return context;
  }();
  return made.get();
}

// Where a connection keeps the fingerprint that its peer must show.
int pin_index() {
  static const int index = ::SSL_get_ex_new_index(
      0, nullptr, nullptr, nullptr, [](void*, void* kept, CRYPTO_EX_DATA*, int, long, void*) {
        delete static_cast<Hash*>(kept);
      });
  return index;
}

int check_pin(X509_STORE_CTX* store, void*) {
  const void* const ssl =
      ::X509_STORE_CTX_get_ex_data(store, ::SSL_get_ex_data_X509_STORE_CTX_idx());
  const void* const pin = ::SSL_get_ex_data(static_cast<const SSL*>(ssl), pin_index());
  Hash shown;
  const X509* const certificate = ::X509_STORE_CTX_get0_cert(store);
  const bool is_it = pin != nullptr && certificate != nullptr &&
                     ::X509_digest(certificate, ::EVP_sha256(), shown.bytes.data(), nullptr) == 1 &&
                     equal_constant_time(shown, *static_cast<const Hash*>(pin));
  if (!is_it) ::X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
  return is_it ? 1 : 0;
}

SSL_CTX* pinning_context() {
  static const Context made = [] {
    Context context = make_context(::TLS_client_method());
    ::SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    ::SSL_CTX_set_cert_verify_callback(context.get(), check_pin, nullptr);
    return context;
  }();
  return made.get();
}

std::shared_ptr<ByteStream> start_stream(HttpReactor& reactor, Ssl ssl,
                                         std::shared_ptr<ByteStream> inner,
                                         std::int64_t handshake_ms) {
  auto stream = std::make_shared<TlsStream>(reactor, std::move(ssl), std::move(inner));
  stream->start(handshake_ms);
  return stream;
}

}  // namespace

Result<std::shared_ptr<TlsIdentity>> load_tls_identity(const TlsFiles& files, TlsFloor floor) {
  Context context = make_context(::TLS_server_method());
  if (floor == TlsFloor::tls13) { ::SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION); }
  ::ERR_clear_error();
  const auto broken = [](const std::string& path) {
    return fail(Code::invalid_argument, "TLS, " + path + ": " + openssl_trouble());
  };
  if (::SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) != 1) {
    return broken(files.certificate);
  }
  if (::SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      ::SSL_CTX_check_private_key(context.get()) != 1) {
    return broken(files.key);
  }
  return std::make_shared<TlsIdentity>(std::move(context));
}

std::shared_ptr<ByteStream> make_tls_server_stream(HttpReactor& reactor,
                                                   const TlsIdentity& identity,
                                                   std::shared_ptr<ByteStream> inner,
                                                   std::int64_t handshake_ms) {
  Ssl ssl(::SSL_new(identity.context.get()));
  CHECK(ssl != nullptr, "OpenSSL gives no connection");
  ::SSL_set_accept_state(ssl.get());
  return start_stream(reactor, std::move(ssl), std::move(inner), handshake_ms);
}

Result<std::shared_ptr<ByteStream>> make_tls_client_stream(HttpReactor& reactor,
                                                           std::shared_ptr<ByteStream> inner,
                                                           const std::string& host) {
  Ssl ssl(::SSL_new(client_context()));
  CHECK(ssl != nullptr, "OpenSSL gives no connection");
  ::SSL_set_connect_state(ssl.get());
  if (numeric_address(host, 0)) {
    ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(ssl.get()), host.c_str());
  } else if (::SSL_set1_host(ssl.get(), host.c_str()) != 1 ||
             ::SSL_set_tlsext_host_name(ssl.get(), host.c_str()) != 1) {
    return fail(Code::invalid_argument, "not a host's name: " + host);
  }
  return start_stream(reactor, std::move(ssl), std::move(inner), client_handshake_ms);
}

std::shared_ptr<ByteStream> make_tls_pinned_stream(HttpReactor& reactor,
                                                   std::shared_ptr<ByteStream> inner,
                                                   const Hash& fingerprint) {
  Ssl ssl(::SSL_new(pinning_context()));
  CHECK(ssl != nullptr, "OpenSSL gives no connection");
  CHECK(::SSL_set_ex_data(ssl.get(), pin_index(), new Hash(fingerprint)) == 1,
        "OpenSSL keeps no fingerprint");
  ::SSL_set_connect_state(ssl.get());
  return start_stream(reactor, std::move(ssl), std::move(inner), client_handshake_ms);
}

}  // namespace perdure
