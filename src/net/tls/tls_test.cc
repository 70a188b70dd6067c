// TLS of server and client with certificates made here: trusted ones serve requests, streams and
// WebSockets; the client refuses others with a reason.
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "net/fixture_for_test.h"

namespace perdure {
namespace {

using namespace http_test;

// A self-signed certificate for these names ("DNS:localhost,IP:127.0.0.1").
TlsFiles make_certificate(const Scratch& scratch, const std::string& name,
                          const std::string& names) {
  const TlsFiles files{scratch.path(name + ".pem"), scratch.path(name + ".key")};
  EVP_PKEY* const key = ::EVP_EC_gen("P-256");
  X509* const certificate = ::X509_new();
  ::X509_set_version(certificate, 2);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate), 1);
  ::X509_gmtime_adj(::X509_getm_notBefore(certificate), -60);
  ::X509_gmtime_adj(::X509_getm_notAfter(certificate), 3600);
  ::X509_set_pubkey(certificate, key);
  X509_NAME* const subject = ::X509_get_subject_name(certificate);
  ::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  ::X509_set_issuer_name(certificate, subject);
  X509_EXTENSION* const extension =
      ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
  ::X509_add_ext(certificate, extension, -1);
  ::X509_EXTENSION_free(extension);
  ::X509_sign(certificate, key, ::EVP_sha256());
  std::FILE* const out = std::fopen(files.certificate.c_str(), "w");
  ::PEM_write_X509(out, certificate);
  std::fclose(out);
  std::FILE* const secret = std::fopen(files.key.c_str(), "w");
  ::PEM_write_PrivateKey(secret, key, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(secret);
  ::X509_free(certificate);
  ::EVP_PKEY_free(key);
  return files;
}

// A program reads the client's store once, so all tests share one certificate.
const TlsFiles& trusted() {
  static const Scratch scratch;
  static const TlsFiles files = [] {
    TlsFiles made = make_certificate(scratch, "trusted", "DNS:localhost,IP:127.0.0.1");
    ::setenv("SSL_CERT_FILE", made.certificate.c_str(), 1);
    ::setenv("SSL_CERT_DIR", "/nonexistent", 1);
    return made;
  }();
  return files;
}

class Tls : public ServerTest {
 protected:
  void SetUp() override { (void)trusted(); }
  HttpEndpoint listen_with(const TlsFiles& files, std::string host = "127.0.0.1") {
    server = HttpServer::create(*io, handler);
    const auto listening = server->listen_tcp({.host = "127.0.0.1"}, files);
    EXPECT_TRUE(listening) << listening.error().message();
    port = listening.value_or(0);
    return {.host = std::move(host), .port = port, .tls = true};
  }
  Result<HttpResponse> call(const HttpEndpoint& to, std::string body = {}) {
    return http_call(*io, to, {.method = "POST", .target = "/t", .body = std::move(body)},
                     {.answer_ms = 10'000});
  }
};

TEST_F(Tls, requests_and_large_bodies_go_through) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const auto to = listen_with(trusted(), host);
    const std::string body(3UL << 20, 'b');
    const auto answer = call(to, body);
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(answer->body, "POST /t " + body);
    EXPECT_TRUE(until([&] { return server->connections() == 0; }));
  }
}

TEST_F(Tls, a_stream_goes_through_and_its_end_is_noticed) {
  const auto to = listen_with(trusted());
  struct Recorder final : HttpBodyEvents {
    void on_head(const HttpResponse& /*head*/) override {}
    void on_bytes(std::string_view some) override { bytes += some; }
    void on_end(Result<> /*result*/) override { ++ends; }
    std::string bytes;
    int ends = 0;
  } recorder;
  StreamRecorder events;
  std::shared_ptr<HttpStream> stream;
  handler.answer = [&](const HttpRequest&, auto exchange) {
    stream = exchange->stream({}, events);
  };
  auto open = http_open(*io, to, {.method = "GET", .target = "/s"}, {}, recorder);
  ASSERT_TRUE(until([&] { return stream != nullptr; }));
  for (int i = 0; i < 100; ++i) {
    stream->write(std::make_shared<const std::string>(std::string(10'000, 'x')));
  }
  ASSERT_TRUE(until([&] { return recorder.bytes.size() == 1'000'000; }));
  EXPECT_GT(events.drained, 0);
  open.reset();
  EXPECT_TRUE(until([&] { return events.closed == 1; }));
}

TEST_F(Tls, a_websocket_goes_through) {
  struct Recorder final : WebSocketEvents {
    void on_open() override { ++opened; }
    void on_text(std::string_view text) override { last = text; }
    void on_binary(std::string_view /*bytes*/) override {}
    void on_drained() override {}
    void on_closed(std::uint16_t with, const std::string& /*reason*/) override { code = with; }
    int opened = 0;
    std::uint16_t code = 0;
    std::string last;
  } near, far;
  const auto to = listen_with(trusted());
  std::shared_ptr<WebSocket> accepted;
  handler.answer = [&](const HttpRequest&, auto exchange) {
    accepted = exchange->upgrade({}, far);
  };
  const auto socket = http_websocket(*io, to, {.target = "/ws"}, {}, near);
  socket->send_text(std::make_shared<const std::string>("secret"));
  ASSERT_TRUE(until([&] { return far.last == "secret"; }));
  accepted->close(1000, "");
  EXPECT_TRUE(until([&] { return near.code == 1000; }));
}

TEST_F(Tls, a_certificate_of_nobody_or_for_another_name_is_refused) {
  const auto unknown = make_certificate(scratch, "unknown", "IP:127.0.0.1");
  const auto stranger = call(listen_with(unknown));
  ASSERT_FALSE(stranger);
  EXPECT_EQ(stranger.error().code(), Code::unavailable);
  EXPECT_TRUE(stranger.error().message().contains("self-signed")) << stranger.error().message();
  // Reached by an address that the certificate does not name.
  auto to = listen_with(trusted());
  to.host = "127.0.0.2";
  server.reset();
  server = HttpServer::create(*io, handler);
  to.port = server->listen_tcp({.host = "127.0.0.2"}, trusted()).value();
  const auto other = call(to);
  ASSERT_FALSE(other);
  EXPECT_TRUE(other.error().message().contains("mismatch")) << other.error().message();
  EXPECT_EQ(handler.requests, 0);
}

TEST_F(Tls, files_that_do_not_fit_are_refused_by_name) {
  const auto other = make_certificate(scratch, "other", "DNS:other");
  server = HttpServer::create(*io, handler);
  for (const TlsFiles& files :
       {TlsFiles{trusted().certificate, other.key}, TlsFiles{scratch.path("none"), other.key},
        TlsFiles{trusted().certificate, scratch.path("none")}}) {
    const auto result = server->listen_tcp({.host = "127.0.0.1"}, files);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), Code::invalid_argument);
  }
}

TEST_F(Tls, G8_a_handshake_that_does_not_come_to_its_end_is_cut_off) {
  const HttpServerLimits limits{.handshake_ms = 100};
  server = HttpServer::create(*io, handler, limits);
  const auto listening = server->listen_tcp({.host = "127.0.0.1"}, trusted());
  ASSERT_TRUE(listening) << listening.error().message();
  port = *listening;
  auto silent = connect();
  auto slow = connect();
  slow.send(std::string("\x16\x03\x01\x02\x00", 5));  // only the head of a TLS record
  EXPECT_TRUE(silent.until_ended());
  EXPECT_TRUE(slow.until_ended());
  // After a timely handshake, the full idle time between two requests applies.
  const HttpEndpoint to{.host = "127.0.0.1", .port = port, .tls = true};
  EXPECT_TRUE(call(to));
  EXPECT_EQ(handler.requests, 1);
}

TEST_F(Tls, bytes_that_are_not_tls_end_that_connection_only) {
  const auto to = listen_with(trusted());
  auto plain = connect();
  plain.send(get("/"));
  EXPECT_TRUE(plain.until_ended());
  EXPECT_FALSE(plain.received.contains("HTTP/1.1"));
  EXPECT_EQ(handler.requests, 0);
  EXPECT_TRUE(call(to));
  // A client that speaks TLS to a plain port gets an error at once.
  listen();
  const auto wrong = call({.host = "127.0.0.1", .port = port, .tls = true});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code(), Code::unavailable);
}

}  // namespace
}  // namespace perdure
