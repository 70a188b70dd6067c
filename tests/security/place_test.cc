// Host, Origin and Sec-Fetch-Site on the real socket: names that only resemble ours, sent with the
// right token, since these checks come before the token's.
#include "guarded_daemon.h"

namespace perdure {
namespace {

class Place : public SecuritySuite {
 protected:
  static RawAnswer ask(RawRequest request) {
    return daemon().with_token(daemon().process.admin_token(), std::move(request));
  }
  static std::string with_port(const std::string& name) {
    return name + ":" + std::to_string(daemon().port);
  }
};

TEST_F(Place, N16_a_name_made_to_resolve_to_loopback_is_misdirected) {
  for (const char* name : {"evil.example", "localhost.evil.com", "127.0.0.1.nip.io", "localhost.",
                           "LOCALHOST.evil.com", "127.1", "0x7f000001", "2130706433", "0177.0.0.1",
                           "127.0.0.2", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "evil@127.0.0.1",
                           "127.0.0.1#evil", "127.0.0.1/evil", "perdure"}) {
    const RawAnswer answer = ask({.host = with_port(name)});
    EXPECT_TRUE(answer.status == 421 || answer.status == 400) << name << " " << answer.status;
    EXPECT_EQ(json_at(answer.body, "sessions"), "") << name;
  }
  for (const std::string& host :
       {std::string("127.0.0.1"), std::string("localhost"), std::string("127.0.0.1:1"),
        with_port("127.0.0.1") + "0", "127.0.0.1:0" + std::to_string(daemon().port)}) {
    EXPECT_EQ(ask({.host = host}).status, 421) << host;
  }
  EXPECT_EQ(ask({.host = with_port("localhost")}).status, 200);
  EXPECT_EQ(ask({.host = with_port("LocalHost")}).status, 200);
}

TEST_F(Place, N16_the_host_is_checked_on_every_kind_of_request) {
  const char* const targets[] = {"/", "/healthz", "/api/stream", "/ws", "/api/sessions", "/x.js"};
  for (const char* target : targets) {
    EXPECT_EQ(ask({.target = target, .host = with_port("evil.example")}).status, 421) << target;
  }
  EXPECT_EQ(ask({.method = "POST",
                 .target = "/api/login",
                 .body = "{}",
                 .host = with_port("evil.example")})
                .status,
            421);
}

TEST_F(Place, N16_two_hosts_none_or_an_absolute_target_are_refused) {
  const auto is_refused = [](const RawAnswer& answer) {
    return answer.status == 421 || answer.status == 400;
  };
  EXPECT_TRUE(is_refused(ask({.headers = {{"Host", "evil.example"}}})));
  EXPECT_TRUE(is_refused(ask({.headers = {{"Host", daemon().authority()}}})));
  EXPECT_TRUE(is_refused(ask({.headers = {{"host", "evil.example"}}, .host = ""})));
  EXPECT_TRUE(is_refused(ask({.host = ""})));
  EXPECT_TRUE(is_refused(ask({.target = "http://evil.example/api/sessions"})));
  EXPECT_TRUE(is_refused(ask({.target = daemon().origin() + "/api/sessions"})));
  EXPECT_TRUE(is_refused(ask({.method = "CONNECT", .target = daemon().authority()})));
}

TEST_F(Place, N16_an_origin_that_only_looks_like_ours_is_denied) {
  const std::string port = std::to_string(daemon().port);
  const std::vector<std::string> origins = {"null",
                                            "https://evil.example",
                                            "http://localhost",
                                            "http://localhost.evil.com:" + port,
                                            "http://127.0.0.1.nip.io:" + port,
                                            "http://evil#@localhost:" + port,
                                            "http://evil@localhost:" + port,
                                            "https://127.0.0.1:" + port,
                                            "http://127.0.0.1:" + port + "/",
                                            "http://127.0.0.1:1",
                                            "http://127.0.0.1:" + port + ".evil.com",
                                            "http://127.0.0.1:" + port + " http://evil",
                                            "file://",
                                            "http://[::1]:" + port,
                                            "chrome-extension://abc"};
  for (const std::string& origin : origins) {
    EXPECT_EQ(ask({.headers = {{"Origin", origin}}}).status, 403) << origin;
  }
  EXPECT_EQ(ask({.headers = {{"Origin", daemon().origin()}, {"Origin", "http://evil"}}}).status,
            403);
  EXPECT_EQ(ask({.headers = {{"Origin", daemon().origin()}}}).status, 200);
  EXPECT_EQ(ask({.headers = {{"Origin", "http://localhost:" + port}}}).status, 200);
}

TEST_F(Place, N16_a_browser_that_says_cross_site_is_denied) {
  for (const char* site : {"cross-site", "same-site", "SAME-ORIGIN", "", "none, cross-site"}) {
    EXPECT_EQ(ask({.headers = {{"Sec-Fetch-Site", site}}}).status, 403) << site;
  }
  EXPECT_EQ(ask({.headers = {{"Sec-Fetch-Site", "none"}, {"Sec-Fetch-Site", "cross-site"}}}).status,
            403);
  EXPECT_EQ(ask({.headers = {{"Sec-Fetch-Site", "same-origin"}}}).status, 200);
  EXPECT_EQ(ask({.headers = {{"Sec-Fetch-Site", "none"}}}).status, 200);
}

TEST_F(Place, N16_a_page_cannot_come_in_over_the_unix_socket_as_its_user) {
  for (const Headers& headers :
       {Headers{{"Origin", daemon().origin()}}, Headers{{"Sec-Fetch-Site", "same-origin"}},
        Headers{{"X-Forwarded-For", "10.0.0.1"}}, Headers{{"Via", "x"}},
        Headers{{"Forwarded", "for=10.0.0.1"}}}) {
    EXPECT_EQ(daemon().unix_socket({.headers = headers}).status, 401) << headers.front().first;
  }
  EXPECT_EQ(daemon().unix_socket({}).status, 200);
}

// ssh -L forwards the socket, and DNS rebinding maps a page's own name to that end: only the Host
// distinguishes such a GET from a program's.
TEST_F(Place, SEC14_a_rebound_name_reads_nothing_over_a_forwarded_socket) {
  EXPECT_EQ(daemon().unix_socket({.host = "evil.example:8080"}).status, 421);
  EXPECT_EQ(daemon().unix_socket({.headers = {{"User-Agent", "Mozilla/5.0"}}, .host = "x"}).status,
            401);
  EXPECT_EQ(daemon().unix_socket({.host = "x"}).status, 200);
  EXPECT_EQ(daemon().unix_socket({.host = "localhost"}).status, 200);
}

}  // namespace
}  // namespace perdure
