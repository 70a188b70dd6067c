// Links over TLS between a listener and a caller on one loop: the pinned certificate, bytes of any
// size, and which peers are disconnected.
#include "net/tls/secure_link.h"

#include <gtest/gtest.h>

#include "net/fixture_for_test.h"
#include "net/tls/certificate.h"

namespace perdure {
namespace {

using namespace http_test;

struct Heard final : LinkEvents {
  void on_bytes(std::string_view more) override { bytes += more; }
  void on_drained() override { ++drained; }
  void on_closed() override { closed = true; }
  std::string bytes;
  int drained = 0;
  bool closed = false;
};

class SecureLinks : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_certificate(files, "test"));
    auto made = SecureListener::listen(*io, {.host = "127.0.0.1", .files = files},
                                       [this](std::unique_ptr<SecureLink> link) {
                                         link->set_events(there);
                                         accepted = std::move(link);
                                       });
    ASSERT_TRUE(made) << made.error().message();
    listener = std::move(*made);
  }
  std::unique_ptr<SecureLink> call(const Hash& fingerprint) {
    auto link =
        dial(*io, {.host = "127.0.0.1", .port = listener->port(), .fingerprint = fingerprint});
    link->set_events(here);
    return link;
  }

  Scratch scratch;
  TlsFiles files{scratch.path("tls.pem"), scratch.path("tls.key")};
  std::unique_ptr<HttpIo> io = HttpIo::create();
  Heard here;
  Heard there;
  std::unique_ptr<SecureLink> accepted;
  std::unique_ptr<SecureListener> listener;
};

TEST_F(SecureLinks, L5_bytes_go_both_ways_whatever_their_number) {
  const auto link = call(*certificate_fingerprint(files.certificate));
  const std::string much(3UL << 20, 'x');
  link->send("hello ");
  link->send(much);
  ASSERT_TRUE(until(*io, [&] { return there.bytes.size() == much.size() + 6; }));
  EXPECT_TRUE(there.bytes.starts_with("hello xxx"));
  accepted->send("back");
  ASSERT_TRUE(until(*io, [&] { return here.bytes == "back" && here.drained > 0; }));
  EXPECT_EQ(link->unsent_bytes(), 0u);
  accepted.reset();
  EXPECT_TRUE(until(*io, [&] { return here.closed; }));
}

TEST_F(SecureLinks, L18_another_certificate_is_refused_before_anything_is_sent) {
  Hash other = *certificate_fingerprint(files.certificate);
  other.bytes[31] ^= 1;
  const auto link = call(other);
  link->send("the secret");
  ASSERT_TRUE(until(*io, [&] { return here.closed; }));
  EXPECT_NE(link->trouble().find("fingerprint"), std::string::npos) << link->trouble();
  ASSERT_TRUE(until(*io, [&] { return there.closed; }));
  EXPECT_EQ(there.bytes, "");
}

TEST_F(SecureLinks, L18_nobody_there_is_told_with_a_reason) {
  const std::uint16_t port = listener->port();
  listener.reset();
  const auto link = dial(*io, {.host = "127.0.0.1", .port = port});
  link->set_events(here);
  ASSERT_TRUE(until(*io, [&] { return here.closed; }));
  EXPECT_NE(link->trouble().find("refused"), std::string::npos) << link->trouble();
}

TEST_F(SecureLinks, L18_who_does_not_speak_tls_is_cut) {
  RawClient raw = RawClient::tcp(*io, listener->port());
  raw.send("GET / HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(until(*io, [&] { return there.closed; }));
  EXPECT_EQ(there.bytes, "");
}

TEST_F(SecureLinks, L5_a_paused_link_gives_nothing_until_it_goes_on) {
  const auto link = call(*certificate_fingerprint(files.certificate));
  link->pause();
  link->send("x");
  ASSERT_TRUE(until(*io, [&] { return there.bytes == "x"; }));
  accepted->send("held");
  ASSERT_TRUE(until(*io, [&] { return there.drained > 0; }));
  EXPECT_EQ(here.bytes, "");
  link->resume();
  EXPECT_TRUE(until(*io, [&] { return here.bytes == "held"; }));
}

}  // namespace
}  // namespace perdure
