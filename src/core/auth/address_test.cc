// Addresses as text: a strict parser for requests, a liberal parser for --listen, and one spelling
// for output.
#include "core/auth/address.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/auth/listen.h"

namespace perdure {
namespace {

TEST(Address, ipv4_has_one_spelling_in_a_request) {
  EXPECT_EQ(parse_ipv4("127.0.0.1"), (Ipv4{127, 0, 0, 1}));
  EXPECT_EQ(parse_ipv4("255.255.255.255"), (Ipv4{255, 255, 255, 255}));
  for (const char* text : {"", "127.1", "127.0.0", "127.0.0.1.", ".127.0.0.1", "127.0.0.01",
                           "0127.0.0.1", "256.0.0.1", "0x7f.0.0.1", "2130706433", "1.2.3.4.5",
                           "1..2.3", " 1.2.3.4", "1.2.3.4 ", "-1.2.3.4", "+1.2.3.4"}) {
    EXPECT_FALSE(parse_ipv4(text)) << text;
  }
}

TEST(Address, ipv6_is_read_in_every_spelling_and_written_in_one) {
  const struct {
    const char* text;
    const char* written;
  } rows[] = {{"::1", "::1"},
              {"0:0:0:0:0:0:0:1", "::1"},
              {"0000:0000::0001", "::1"},
              {"::", "::"},
              {"2001:DB8::1", "2001:db8::1"},
              {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
              {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
              {"1::", "1::"},
              {"::ffff:127.0.0.1", "::ffff:7f00:1"},
              {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"}};
  for (const auto& row : rows) {
    const auto address = parse_ipv6(row.text);
    ASSERT_TRUE(address) << row.text;
    EXPECT_EQ(format_ipv6(*address), row.written) << row.text;
    EXPECT_EQ(parse_ipv6(row.written), address) << row.text;
  }
  for (const char* text :
       {"", ":", ":::", "::1::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "::1%lo", "[::1]",
        "g::", "::1.2.3", "1.2.3.4::", "1:2:3:4:5:6:7::8", "::ffff:127.0.0.01", "127.0.0.1"}) {
    EXPECT_FALSE(parse_ipv6(text)) << text;
  }
}

RC_GTEST_PROP(AddressProperty, what_is_written_reads_back_the_same, ()) {
  Ipv6 address{};
  // Many zeros, so that runs of them occur.
  for (auto& byte : address) byte = *rc::gen::element<std::uint8_t>(0, 0, 0, 1, 0xff, 0x80);
  RC_ASSERT(parse_ipv6(format_ipv6(address)) == address);
}

TEST(Listen, CVE_2025_49596_every_spelling_of_a_wildcard_is_one) {
  for (const char* text : {"0",
                           "00",
                           "0x0",
                           "0X0",
                           "0x",
                           "0.0",
                           "0.0.0",
                           "0.0.0.0",
                           "0x0.0x0",
                           "000.000.000.000",
                           "::",
                           "::0",
                           "0::",
                           "0:0:0:0:0:0:0:0",
                           "[::]",
                           "[::0]",
                           "::ffff:0.0.0.0",
                           "::ffff:0:0",
                           "[::ffff:0.0.0.0]",
                           "0:0:0:0:0:ffff:0:0",
                           "*",
                           ""}) {
    const auto address = parse_listen_host(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->reach, Reach::wildcard) << text;
    EXPECT_EQ(check_listen_host(text, Transport::plain).error().code(), Code::denied) << text;
    EXPECT_TRUE(check_listen_host(text, Transport::tls)) << text;
  }
}

TEST(Listen, N16_loopback_needs_no_tls_and_everything_else_does) {
  for (const char* text :
       {"127.0.0.1", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "::1", "[::1]",
        "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "localhost", "127.255.255.254"}) {
    const auto address = check_listen_host(text, Transport::plain);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->reach, Reach::loopback) << text;
  }
  EXPECT_EQ(parse_listen_host("2130706433")->host, "127.0.0.1");
  EXPECT_EQ(parse_listen_host("::ffff:127.0.0.1")->host, "127.0.0.1");
  for (const char* text : {"192.168.1.2", "10.0.0.1", "2001:db8::1", "fe80::1", "128.0.0.1", "1",
                           "::2", "::ffff:10.0.0.1"}) {
    ASSERT_TRUE(parse_listen_host(text)) << text;
    EXPECT_EQ(check_listen_host(text, Transport::plain).error().code(), Code::denied) << text;
    EXPECT_TRUE(check_listen_host(text, Transport::tls)) << text;
  }
  for (const char* text :
       {"example.com", "localhost.", "localhost.evil.com", "1.2.3.4.5", "4294967296", "256.1",
        "1.2.3.256", "0x1g", "09", "::1%lo", "[::1", "127.0.0.1:80", " "}) {
    EXPECT_EQ(parse_listen_host(text).error().code(), Code::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace perdure
