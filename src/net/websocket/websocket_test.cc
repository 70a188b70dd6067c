// WebSockets of both sides over real sockets: messages, limits, closing from either end, and bytes
// that are not frames.
#include <gtest/gtest.h>

#include "net/fixture_for_test.h"

namespace perdure {
namespace {

using namespace http_test;

struct SocketRecorder final : WebSocketEvents {
  void on_open() override { ++opened; }
  void on_text(std::string_view text) override {
    messages.emplace_back(text);
    if (then) then();
  }
  void on_binary(std::string_view bytes) override {
    messages.push_back("binary " + std::string(bytes));
  }
  void on_drained() override { ++drained; }
  void on_closed(std::uint16_t with, const std::string& why) override {
    ++closed;
    code = with;
    reason = why;
  }
  int opened = 0;
  int drained = 0;
  int closed = 0;
  std::uint16_t code = 0;
  std::string reason;
  std::vector<std::string> messages;
  std::function<void()> then;
};

std::shared_ptr<const std::string> bytes_of(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

class WebSockets : public ServerTest {
 protected:
  void SetUp() override {
    handler.answer = [this](const HttpRequest& request, auto exchange) {
      seen = request;
      far_socket = exchange->upgrade(limits, far);
    };
    listen();
  }
  void connect_pair() {
    near_socket = http_websocket(*io, endpoint(), {.target = "/ws?a=b"}, {}, near);
    ASSERT_TRUE(until([&] { return near.opened == 1 && far.opened == 1; })) << near.reason;
  }
  // The handshake as bytes; the test sends the rest.
  RawClient shake_hands(std::string_view more = {}) {
    auto client = connect();
    client.send(
        "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" +
        std::string(more));
    return client;
  }

  WebSocketLimits limits;
  HttpRequest seen;
  SocketRecorder near;
  SocketRecorder far;
  std::shared_ptr<WebSocket> near_socket;
  std::shared_ptr<WebSocket> far_socket;
};

TEST_F(WebSockets, messages_go_both_ways_in_order) {
  connect_pair();
  EXPECT_EQ(seen.path, "/ws");
  for (int i = 0; i < 50; ++i) near_socket->send_text(bytes_of("near " + std::to_string(i)));
  near_socket->send_binary(bytes_of(std::string("\0\xff", 2)));
  far_socket->send_text(bytes_of("far"));
  ASSERT_TRUE(until([&] { return far.messages.size() == 51 && near.messages.size() == 1; }));
  EXPECT_EQ(far.messages[0], "near 0");
  EXPECT_EQ(far.messages[49], "near 49");
  EXPECT_EQ(far.messages[50], "binary " + std::string("\0\xff", 2));
  EXPECT_EQ(near.messages[0], "far");
  ASSERT_TRUE(until([&] { return near.drained > 0; }));
  EXPECT_EQ(near_socket->unsent_bytes(), 0U);
}

TEST_F(WebSockets, the_handshake_is_the_one_of_the_standard) {
  auto client = shake_hands("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
  ASSERT_TRUE(client.until_received("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
  EXPECT_TRUE(client.received.starts_with("HTTP/1.1 101 "));
  EXPECT_FALSE(client.received.contains("Sec-WebSocket-Extensions"));
  // A frame that arrived together with the handshake is not lost.
  ASSERT_TRUE(until([&] { return far.messages.size() == 1; }));
  EXPECT_EQ(far.messages[0], "Hello");
  client.received.clear();
  far_socket->send_text(bytes_of("Hi"));
  EXPECT_TRUE(client.until_received("\x81\x02Hi"));
}

TEST_F(WebSockets, a_subprotocol_is_chosen_only_when_it_was_offered) {
  limits.subprotocol = "acp";
  auto offered = connect();
  offered.send(
      "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      "Sec-WebSocket-Protocol: other, acp\r\n\r\n");
  ASSERT_TRUE(offered.until_received("\r\n\r\n"));
  EXPECT_TRUE(offered.received.contains("Sec-WebSocket-Protocol: acp\r\n"));
  auto plain = shake_hands();
  ASSERT_TRUE(plain.until_received("\r\n\r\n"));
  EXPECT_FALSE(plain.received.contains("Sec-WebSocket-Protocol"));
}

TEST_F(WebSockets, a_bad_handshake_is_answered_and_told) {
  auto client = connect();
  client.send("GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  const int status = client.status_at_end();
  EXPECT_TRUE(status == 400 || status == 426) << status;
  ASSERT_TRUE(until([&] { return far.closed == 1; }));
  EXPECT_EQ(far.opened, 0);
  EXPECT_TRUE(until([&] { return server->connections() == 0; }));
}

TEST_F(WebSockets, either_side_closes_with_code_and_reason) {
  connect_pair();
  near_socket->send_text(bytes_of("last"));
  near_socket->close(4001, "enough");
  near_socket->send_text(bytes_of("too late"));
  ASSERT_TRUE(until([&] { return near.closed == 1 && far.closed == 1; }));
  EXPECT_EQ(far.messages, std::vector<std::string>{"last"});
  EXPECT_EQ(far.code, 4001);
  EXPECT_EQ(far.reason, "enough");
  EXPECT_EQ(near.code, 4001);
  EXPECT_EQ(server->connections(), 0U);

  near = {};
  far = {};
  connect_pair();
  far_socket->close(1001, std::string(200, 'r'));
  far_socket.reset();  // the close continues
  ASSERT_TRUE(until([&] { return near.closed == 1; }));
  EXPECT_EQ(near.code, 1001);
  EXPECT_EQ(near.reason, std::string(123, 'r'));
  EXPECT_EQ(far.closed, 0);
}

TEST_F(WebSockets, dropping_the_socket_ends_the_connection) {
  connect_pair();
  near_socket.reset();
  ASSERT_TRUE(until([&] { return far.closed == 1; }));
  EXPECT_EQ(far.code, 1006);
  near = {};
  far = {};
  connect_pair();
  server.reset();
  ASSERT_TRUE(until([&] { return near.closed == 1; }));
  EXPECT_EQ(far.closed, 0);
  far_socket->send_text(bytes_of("nobody"));
}

TEST_F(WebSockets, the_socket_may_be_dropped_inside_of_its_own_event) {
  connect_pair();
  far.then = [&] { far_socket.reset(); };
  near_socket->send_text(bytes_of("one"));
  near_socket->send_text(bytes_of("two"));
  ASSERT_TRUE(until([&] { return near.closed == 1; }));
  EXPECT_EQ(far.messages.size(), 1U);
}

TEST_F(WebSockets, a_message_beyond_the_limit_closes_with_1009) {
  limits.message_bytes_max = 1000;
  connect_pair();
  near_socket->send_text(bytes_of(std::string(1000, 'x')));
  ASSERT_TRUE(until([&] { return far.messages.size() == 1; }));
  near_socket->send_text(bytes_of(std::string(1001, 'x')));
  ASSERT_TRUE(until([&] { return near.closed == 1 && far.closed == 1; }));
  EXPECT_EQ(near.code, 1009);
  EXPECT_EQ(far.code, 1009);
  EXPECT_EQ(far.messages.size(), 1U);
}

TEST_F(WebSockets, STREAM4_a_peer_that_does_not_read_is_cut) {
  listen({.stream_unsent_bytes_max = 1UL << 20});
  auto client = shake_hands();
  ASSERT_TRUE(client.until_received("101"));
  ASSERT_TRUE(until([&] { return far.opened == 1; }));
  const auto part = bytes_of(std::string(64UL << 10, 'x'));
  std::size_t most = 0;
  ASSERT_TRUE(until([&] {
    far_socket->send_binary(part);
    most = std::max(most, far_socket->unsent_bytes());
    return far.closed == 1;
  }));
  EXPECT_EQ(far.code, 1013);
  EXPECT_LE(most, 1UL << 20);
}

TEST_F(WebSockets, frames_that_break_the_protocol_end_the_connection) {
  for (const std::string& frame :
       {std::string("\x81\x05Hello"),                // not masked
        std::string("\x83\x80\0\0\0\0", 6),          // reserved opcode
        std::string("\xc1\x80\0\0\0\0", 6),          // reserved bit
        std::string("\x09\x80\0\0\0\0", 6),          // a ping in parts
        std::string("\x80\x80\0\0\0\0", 6),          // continues nothing
        std::string("\x81\x82\0\0\0\0\xc3\x28", 8),  // not UTF-8
        std::string("\x88\x81\0\0\0\0\x03", 7)}) {   // a close of one byte
    far = {};
    auto client = shake_hands(frame);
    ASSERT_TRUE(until([&] { return far.closed == 1; }));
    EXPECT_TRUE(far.messages.empty());
    EXPECT_TRUE(client.until_ended());
  }
}

TEST_F(WebSockets, pings_are_answered) {
  auto client = shake_hands(std::string("\x89\x82\0\0\0\0hi", 8));
  EXPECT_TRUE(client.until_received("\x8a\x02hi"));
}

TEST_F(WebSockets, a_client_learns_why_there_is_no_socket) {
  handler.answer = [](const HttpRequest&, auto exchange) { exchange->respond({.status = 401}); };
  near_socket = http_websocket(*io, endpoint(), {.target = "/ws"}, {}, near);
  ASSERT_TRUE(until([&] { return near.closed == 1; }));
  EXPECT_EQ(near.code, 1006);
  EXPECT_TRUE(near.reason.contains("401")) << near.reason;
  server.reset();
  near = {};
  near_socket = http_websocket(*io, endpoint(), {.target = "/ws"}, {}, near);
  near_socket->send_text(bytes_of("waits"));
  ASSERT_TRUE(until([&] { return near.closed == 1; }));
  EXPECT_EQ(near.code, 1006);
}

}  // namespace
}  // namespace perdure
