// How a page signs in, and each half of the credentials alone: the launch token works once, a
// cookie without its key is worthless, a change needs a header that no form can send, and a ticket
// opens one WebSocket.
#include "guarded_daemon.h"

namespace perdure {
namespace {

class Login : public SecuritySuite {
 protected:
  static Headers upgrade(Headers more) {
    Headers headers = {{"Connection", "Upgrade"},
                       {"Upgrade", "websocket"},
                       {"Sec-WebSocket-Version", "13"},
                       {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
    headers.insert(headers.end(), more.begin(), more.end());
    return headers;
  }
  static std::string ticket() { return daemon().client().post("/api/ticket").at("ticket"); }
};

TEST_F(Login, TOK1_a_launch_token_works_once) {
  const std::string launch = daemon().make_launch_token();
  ASSERT_FALSE(launch.empty());
  const auto trade = [&](const std::string& token) {
    return daemon().tcp({.method = "POST",
                         .target = "/api/login",
                         .headers = daemon().page_headers({}),
                         .body = R"({"token":")" + token + R"("})"});
  };
  const RawAnswer first = trade(launch);
  EXPECT_EQ(first.status, 200) << first.body;
  const std::string cookie = first.header("set-cookie");
  EXPECT_NE(cookie.find("HttpOnly"), std::string::npos) << cookie;
  EXPECT_NE(cookie.find("SameSite=Strict"), std::string::npos) << cookie;
  EXPECT_EQ(trade(launch).status, 401);
  EXPECT_EQ(trade(daemon().process.admin_token()).status, 401);
  EXPECT_EQ(trade("").status, 401);
}

TEST_F(Login, N16_a_cookie_alone_and_a_key_alone_authorise_nothing) {
  const PageLogin login = daemon().log_in();
  ASSERT_FALSE(login.cookie.empty());
  ASSERT_FALSE(login.key.empty());
  const PageLogin other = daemon().log_in();
  EXPECT_EQ(daemon().tcp({.headers = daemon().page_headers(login)}).status, 200);
  EXPECT_EQ(daemon().tcp({.headers = daemon().page_headers({.cookie = login.cookie})}).status, 401);
  EXPECT_EQ(daemon().tcp({.headers = daemon().page_headers({.key = login.key})}).status, 401);
  // The halves of two logins do not combine.
  EXPECT_EQ(daemon().tcp({.headers = daemon().page_headers({login.cookie, other.key})}).status,
            401);
  EXPECT_EQ(daemon().tcp({.headers = {{"Cookie", login.cookie}}}).status, 401);
  EXPECT_EQ(daemon().tcp({.headers = {{"Authorization", "Bearer " + login.key}}}).status, 401);
}

TEST_F(Login, N16_a_change_from_a_page_needs_what_no_form_can_send) {
  const PageLogin login = daemon().log_in();
  const auto create = [&](const std::string& without, const std::string& type) {
    Headers headers;
    for (auto& [name, value] : daemon().page_headers(login)) {
      if (name == without) continue;
      headers.emplace_back(name, name == "Content-Type" ? type : value);
    }
    return daemon().tcp({.method = "POST",
                         .target = "/api/sessions",
                         .headers = headers,
                         .body = R"({"agent":"test"})"});
  };
  const std::string json = "application/json";
  EXPECT_EQ(create("X-Perdure-Client", json).status, 403);
  EXPECT_EQ(create("Idempotency-Key", json).status, 400);
  EXPECT_EQ(create("Content-Type", json).status, 400);
  EXPECT_EQ(create("", "text/plain").status, 400);
  EXPECT_EQ(create("", "application/x-www-form-urlencoded").status, 400);
  EXPECT_EQ(create("", "multipart/form-data; boundary=x").status, 400);
  EXPECT_EQ(create("", "text/plain; application/json").status, 400);
  EXPECT_EQ(daemon().client().get("/api/sessions").at("sessions"), "[]");
  EXPECT_TRUE(create("", json).status == 201 || create("", json).status == 200);
}

TEST_F(Login, N16_a_websocket_without_ticket_token_or_our_origin_is_refused) {
  const std::string token = daemon().process.admin_token();
  const PageLogin login = daemon().log_in();
  const auto open = [&](const Headers& more, const std::string& query) {
    return daemon().tcp({.target = "/ws" + query, .headers = upgrade(more)}).status;
  };
  const std::pair<std::string, std::string> ours = {"Origin", daemon().origin()};
  const std::pair<std::string, std::string> bearer = {"Authorization", "Bearer " + token};
  EXPECT_EQ(open({}, ""), 401);
  EXPECT_EQ(open({ours}, ""), 401);
  EXPECT_EQ(open({ours, {"Cookie", login.cookie}}, ""), 401);
  EXPECT_EQ(open({{"Origin", "https://evil.example"}, bearer}, ""), 403);
  EXPECT_EQ(open({{"Origin", "https://evil.example"}}, "?ticket=" + ticket()), 403);
  EXPECT_EQ(open({}, "?ticket=" + ticket()), 401);  // no Origin: a program, which has a token
  EXPECT_EQ(open({ours}, "?ticket=" + token), 401);
  EXPECT_EQ(open({ours}, "?token=" + token), 401);
  EXPECT_EQ(open({bearer}, ""), 101);
}

TEST_F(Login, TOK1_a_ticket_opens_one_websocket) {
  const std::string text = ticket();
  ASSERT_FALSE(text.empty());
  const RawRequest request{.target = "/ws?ticket=" + text,
                           .headers = upgrade({{"Origin", daemon().origin()}})};
  EXPECT_EQ(daemon().tcp(request).status, 101);
  EXPECT_EQ(daemon().tcp(request).status, 401);
  // It is valid only for a WebSocket.
  EXPECT_EQ(daemon().tcp({.target = "/api/sessions?ticket=" + ticket()}).status, 401);
}

TEST_F(Login, N16_many_failures_are_held_back_and_the_right_token_is_not) {
  const auto ask = [](const std::string& token) {
    RawConnection connection = RawConnection::to_port(daemon().port, 1);
    connection.send(daemon().text_of({.headers = {{"Authorization", "Bearer " + token}}}));
    return connection.read_answer().status;
  };
  // All at once: in sequence each would wait longer.
  std::vector<RawConnection> wrong;
  for (int i = 0; i < 60; ++i) {
    wrong.push_back(RawConnection::to_port(daemon().port, 1));
    wrong.back().send(daemon().text_of({.headers = {{"Authorization", "Bearer wrong"}}}));
  }
  int held_back = 0;
  for (RawConnection& each : wrong) held_back += each.read_answer().status == 429 ? 1 : 0;
  EXPECT_GT(held_back, 20);
  EXPECT_EQ(ask(daemon().process.admin_token()), 200);
}

TEST_F(Login, N16_each_failure_from_an_address_waits_longer_and_the_right_token_does_not) {
  using Clock = std::chrono::steady_clock;
  const auto took_ms = [](const std::string& token) {
    const auto began = Clock::now();
    RawConnection connection = RawConnection::to_port(daemon().port, 77);
    connection.send(daemon().text_of({.headers = {{"Authorization", "Bearer " + token}}}));
    EXPECT_EQ(connection.read_answer().status, token == "wrong" ? 401 : 200);
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began).count();
  };
  for (int i = 0; i < 3; ++i) took_ms("wrong");  // at once, as far as the machine permits
  // A response never comes early, however busy the machine is.
  EXPECT_GE(took_ms("wrong"), 50);
  EXPECT_GE(took_ms("wrong"), 100);
  EXPECT_GE(took_ms("wrong"), 200);
  EXPECT_GE(took_ms("wrong"), 400);
  EXPECT_LT(took_ms(daemon().process.admin_token()), 400);
}

TEST_F(Login, N16_oversized_heads_and_bodies_are_refused_before_they_are_read) {
  const std::string token = daemon().process.admin_token();
  EXPECT_EQ(daemon().tcp({.headers = {{"X-Long", std::string(17'000, 'a')}}}).status, 431);
  RawConnection connection = daemon().connect();
  connection.send("POST /api/login HTTP/1.1\r\nHost: " + daemon().authority() +
                  "\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n");
  EXPECT_EQ(connection.read_answer().status, 413);
  EXPECT_EQ(daemon().with_token(token, {}).status, 200);
}

}  // namespace
}  // namespace perdure
