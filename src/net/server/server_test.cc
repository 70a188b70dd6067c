// The server over real sockets: requests and answers, limits and deadlines, and connections that
// end at difficult moments. Limits are tiny here, so that tests reach them at once.
#include "net/server/server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "net/fixture_for_test.h"
#include "net/server/listeners.h"

namespace perdure {
namespace {

using namespace http_test;

using Server = ServerTest;

TEST_F(Server, answers_over_one_connection_in_order) {
  listen();
  auto client = connect();
  client.send(get("/one") + get("/two") + "POST /three HTTP/1.1\r\nHost: x\r\n" +
              "Content-Length: 4\r\n\r\nbody" + get("/four", "Connection: close\r\n"));
  ASSERT_TRUE(client.until_ended());
  const auto at = [&](std::string_view text) { return client.received.find(text); };
  EXPECT_LT(at("GET /one "), at("GET /two "));
  EXPECT_LT(at("GET /two "), at("POST /three body"));
  EXPECT_LT(at("POST /three body"), at("GET /four "));
  EXPECT_LT(at("Connection: close"), at("GET /four "));
  EXPECT_NE(at("HTTP/1.1 200 OK\r\n"), std::string::npos);
  EXPECT_NE(at("Date: "), std::string::npos);
  EXPECT_NE(at("GMT\r\nContent-Length: 10\r\n"), std::string::npos);
  EXPECT_EQ(handler.requests, 4);
}

TEST_F(Server, a_pipelined_request_waits_for_the_answer_before_it) {
  listen();
  std::vector<std::shared_ptr<HttpExchange>> open;
  handler.answer = [&](const HttpRequest&, auto exchange) { open.push_back(std::move(exchange)); };
  auto client = connect();
  client.send(get("/one") + get("/two"));
  ASSERT_TRUE(until([&] { return open.size() == 1; }));
  for (int i = 0; i < 5; ++i) io->run_for_ms(1);
  ASSERT_EQ(open.size(), 1U);
  open[0]->respond({.body = "first"});
  ASSERT_TRUE(until([&] { return open.size() == 2; }));
  open[1]->respond({.body = "second"});
  ASSERT_TRUE(client.until_received("second"));
  EXPECT_TRUE(client.received.contains("first"));
}

TEST_F(Server, request_values_are_decoded_once) {
  listen();
  HttpRequest seen;
  handler.answer = [&](HttpRequest request, auto exchange) {
    seen = std::move(request);
    exchange->respond({});
  };
  auto client = connect();
  client.send(get("/a%20b/%2525?q=x+y%2B&empty&n=%C3%A4&q=2", "X-Two: a\r\nx-two:\tb \r\n"));
  ASSERT_TRUE(until([&] { return handler.requests == 1; }));
  EXPECT_EQ(seen.path, "/a b/%25");
  EXPECT_EQ(seen.target, "/a%20b/%2525?q=x+y%2B&empty&n=%C3%A4&q=2");
  EXPECT_EQ(seen.parameter("q"), "x y+");
  EXPECT_EQ(seen.parameter("empty"), "");
  EXPECT_EQ(seen.parameter("n"), "\xc3\xa4");
  EXPECT_EQ(seen.parameter("none"), std::nullopt);
  EXPECT_EQ(seen.header("HOST"), "x");
  EXPECT_EQ(seen.header("x-two"), std::nullopt);
  EXPECT_EQ(seen.count("X-TWO"), 2U);
  ASSERT_NE(seen.peer, nullptr);
  EXPECT_FALSE(seen.peer->is_unix);
  EXPECT_EQ(seen.peer->address, "127.0.0.1");
  EXPECT_EQ(seen.peer->local_port, port);
  EXPECT_NE(seen.peer->port, 0);
}

TEST_F(Server, a_unix_socket_tells_who_calls_and_replaces_a_leftover) {
  const std::string folder = scratch.path(std::string(120, 'd'));
  std::filesystem::create_directory(folder);
  HttpPeer seen;
  handler.answer = [&](const HttpRequest& request, auto exchange) {
    seen = *request.peer;
    exchange->respond({});
  };
  for (int life = 0; life < 2; ++life) {
    server = HttpServer::create(*io, handler);
    const auto listening = server->listen_unix(folder, "perdure.sock");
    ASSERT_TRUE(listening) << listening.error().message();
    struct stat status{};
    ASSERT_EQ(::stat((folder + "/perdure.sock").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    RawClient client(*io, connect_unix_socket_at({folder, "perdure.sock"}).value());
    client.send(get("/"));
    ASSERT_TRUE(client.until_received("200 OK"));
    EXPECT_TRUE(seen.is_unix);
    EXPECT_EQ(seen.uid, ::getuid());
    EXPECT_EQ(seen.pid, ::getpid());
    server.reset();
  }
  ASSERT_TRUE(std::filesystem::remove(folder + "/perdure.sock"));
  std::filesystem::create_directory(folder + "/perdure.sock");
  server = HttpServer::create(*io, handler);
  EXPECT_EQ(server->listen_unix(folder, "perdure.sock").error().code(), Code::conflict);
}

// Between two lives no other program can take the addresses, and callers wait.
TEST_F(Server, D6_kept_listeners_hold_their_addresses_between_two_lives) {
  const std::string folder = scratch.path("run");
  std::filesystem::create_directory(folder);
  handler.answer = [](const HttpRequest&, auto exchange) { exchange->respond({}); };
  KeptListeners kept;
  const auto begin = [&] {
    server = HttpServer::create(*io, handler, {}, &kept);
    ASSERT_TRUE(server->listen_unix(folder, "perdure.sock"));
    const auto listening = server->listen_tcp({.host = "127.0.0.1", .port = port}, std::nullopt);
    ASSERT_TRUE(listening) << listening.error().message();
    port = *listening;
    kept.close_unused();
  };
  begin();
  server.reset();
  auto other = HttpServer::create(*io, handler);
  EXPECT_FALSE(other->listen_tcp({.host = "127.0.0.1", .port = port}, std::nullopt));
  RawClient by_tcp(*io, connect_tcp_socket(*numeric_address("127.0.0.1", port)).value());
  RawClient by_unix(*io, connect_unix_socket_at({folder, "perdure.sock"}).value());
  by_tcp.send(get("/"));
  by_unix.send(get("/"));
  begin();
  EXPECT_TRUE(by_tcp.until_received("200 OK"));
  EXPECT_TRUE(by_unix.until_received("200 OK"));
  // If another file replaces the socket's, the server listens again.
  server.reset();
  std::filesystem::remove(folder + "/perdure.sock");
  begin();
  RawClient anew(*io, connect_unix_socket_at({folder, "perdure.sock"}).value());
  anew.send(get("/"));
  EXPECT_TRUE(anew.until_received("200 OK"));
  // After the sockets are closed, the addresses are free.
  server.reset();
  kept.close();
  EXPECT_TRUE(other->listen_tcp({.host = "127.0.0.1", .port = port}, std::nullopt));
}

TEST_F(Server, a_taken_address_is_named) {
  listen();
  auto second = HttpServer::create(*io, handler);
  const auto again = second->listen_tcp({.host = "127.0.0.1", .port = port}, std::nullopt);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::unavailable);
  EXPECT_TRUE(again.error().message().contains("127.0.0.1 port " + std::to_string(port)));
  EXPECT_FALSE(second->listen_tcp({.host = "localhost"}, std::nullopt));
}

TEST_F(Server, head_is_answered_like_get_without_the_body) {
  listen();
  auto client = connect();
  client.send("HEAD /file HTTP/1.1\r\nHost: x\r\n\r\n" + get("/next", "Connection: close\r\n"));
  ASSERT_TRUE(client.until_ended());
  EXPECT_TRUE(client.received.contains("Content-Length: 10\r\n\r\nHTTP/1.1 200"));
  EXPECT_FALSE(client.received.contains("GET /file"));
  EXPECT_TRUE(client.received.contains("GET /next"));
}

TEST_F(Server, http_1_0_gets_one_answer) {
  listen();
  auto client = connect();
  client.send("GET /old HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(client.status_at_end(), 200);
  EXPECT_TRUE(client.received.ends_with("GET /old "));
}

TEST_F(Server, a_chunked_body_is_put_together) {
  listen();
  auto client = connect();
  const std::string head = "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char c : head + "3\r\nabc\r\n0a;x=\"y\"\r\n0123456789\r\n0\r\nT: v\r\n\r\n") {
    client.send({&c, 1});
    io->run_for_ms(0);
  }
  ASSERT_TRUE(client.until_received("POST /c abc0123456789"));
  client.send(get("/after"));
  EXPECT_TRUE(client.until_received("GET /after"));
}

TEST_F(Server, a_client_that_expects_it_is_told_to_continue) {
  listen();
  auto client = connect();
  client.send("POST /big HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  ASSERT_TRUE(client.until_received("HTTP/1.1 100 Continue\r\n\r\n"));
  EXPECT_EQ(handler.requests, 0);
  client.send("abc");
  EXPECT_TRUE(client.until_received("POST /big abc"));
}

TEST_F(Server, a_refusal_is_sent_without_reading_the_body) {
  listen();
  handler.admit = [](const HttpRequest&) {
    return HttpAdmission{.refuse = HttpResponse{.status = 401, .body = "who are you"}};
  };
  auto client = connect();
  client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 999\r\n\r\n");
  ASSERT_TRUE(client.until_received("who are you"));
  EXPECT_TRUE(client.received.starts_with("HTTP/1.1 401 "));
  EXPECT_TRUE(client.received.contains("Connection: close"));
  // Bytes that the client still sends do not destroy the answer.
  client.send(std::string(300'000, 'x'));
  client.end_sending();
  EXPECT_TRUE(client.until_ended());
  EXPECT_EQ(handler.requests, 0);
  EXPECT_TRUE(until([&] { return server->connections() == 0; }));
}

TEST_F(Server, a_body_beyond_its_limit_is_413) {
  listen();
  handler.admit = [](const HttpRequest&) { return HttpAdmission{.body_bytes_max = 10}; };
  const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n";
  for (const std::string& rest : {std::string("Content-Length: 11\r\n\r\n"), chunked + "b\r\n",
                                  chunked + "6\r\n123456\r\n5\r\n",
                                  std::string("Content-Length: 18446744073709551615\r\n\r\n")}) {
    auto client = connect();
    client.send("POST / HTTP/1.1\r\nHost: x\r\n" + rest);
    client.end_sending();
    EXPECT_EQ(client.status_at_end(), 413) << rest;
  }
  auto client = connect();
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789");
  EXPECT_TRUE(client.until_received("0123456789"));
  EXPECT_EQ(handler.requests, 1);
}

TEST_F(Server, a_head_beyond_its_limit_is_431) {
  listen({.head_bytes_max = 200});
  for (const std::string& more :
       {"X: " + std::string(300, 'x') + "\r\n", std::string(300, 'x'), std::string(100, 'x')}) {
    auto client = connect();
    const std::string head = "GET / HTTP/1.1\r\nHost: x\r\nY: ";
    client.send(head + more + (more.size() == 100 ? std::string(100, 'z') : "\r\n\r\n"));
    client.end_sending();
    EXPECT_EQ(client.status_at_end(), 431);
  }
  listen();
  std::string many;
  for (int i = 0; i < 101; ++i) many += "H: v\r\n";
  auto client = connect();
  client.send("GET / HTTP/1.1\r\nHost: x\r\n" + many + "\r\n");
  client.end_sending();
  EXPECT_EQ(client.status_at_end(), 431);
  EXPECT_EQ(handler.heads, 0);
}

TEST_F(Server, a_slow_head_is_ended_however_it_trickles) {
  listen({.head_bytes_max = 64UL << 20, .head_ms = 60});
  auto client = connect();
  client.send("GET / HTTP/1.1\r\n");
  ASSERT_TRUE(until([&] {
    client.send("x");
    return client.receive();
  }));
  EXPECT_TRUE(client.received.starts_with("HTTP/1.1 408 "));
  EXPECT_EQ(handler.heads, 0);
}

TEST_F(Server, a_body_that_stalls_is_408_and_an_idle_connection_just_ends) {
  listen({.body_ms = 40, .idle_ms = 40});
  auto stalled = connect();
  stalled.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab");
  EXPECT_TRUE(stalled.until_received("HTTP/1.1 408 "));
  auto silent = connect();
  EXPECT_EQ(silent.status_at_end(), 0);
  auto used = connect();
  used.send(get("/"));
  EXPECT_EQ(used.status_at_end(), 200);
  EXPECT_EQ(handler.requests, 1);
}

// Sends one byte per round of the loop until the server ends the connection.
void trickle(HttpIo& io, RawClient& client) {
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n");
  EXPECT_TRUE(http_test::until(io, [&] {
    client.send("x");
    return client.receive();
  }));
}

TEST_F(Server, N16_a_body_that_trickles_is_408_however_long_it_goes_on) {
  handler.admit = [](const HttpRequest&) {
    return HttpAdmission{.body_bytes_max = 1UL << 40, .is_known = true};
  };
  listen({.body_grace_ms = 60, .body_bytes_per_second_min = 1UL << 30});
  auto slow = connect();
  trickle(*io, slow);
  EXPECT_TRUE(slow.received.starts_with("HTTP/1.1 408 ")) << slow.received;
  listen({.body_total_ms = 60});
  auto endless = connect();
  trickle(*io, endless);
  EXPECT_TRUE(endless.received.starts_with("HTTP/1.1 408 ")) << endless.received;
  EXPECT_EQ(handler.requests, 0);
}

TEST_F(Server, N16_a_body_that_keeps_its_rate_takes_its_time) {
  listen({.body_grace_ms = 40, .body_bytes_per_second_min = 1});
  auto client = connect();
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n" + std::string(100, 'a'));
  ASSERT_TRUE(until([&] { return handler.heads == 1; }));
  // This other connection is cut after the same grace.
  auto stalled = connect();
  stalled.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n");
  EXPECT_TRUE(stalled.until_received("HTTP/1.1 408 "));
  client.send("b");
  EXPECT_TRUE(client.until_received("POST / " + std::string(100, 'a') + "b"));
}

RawClient connect_from(HttpIo& io, const char* source, std::uint16_t port) {
  Socket made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const SocketAddress from = *numeric_address(source, 0);
  const SocketAddress to = *numeric_address("127.0.0.1", port);
  EXPECT_EQ(::bind(made.get(), reinterpret_cast<const sockaddr*>(&from.storage), from.size), 0);
  (void)::connect(made.get(), reinterpret_cast<const sockaddr*>(&to.storage), to.size);
  return {io, std::move(made)};
}

TEST_F(Server, N16_of_too_many_strangers_the_oldest_idle_one_goes) {
  listen({.strangers_max = 3});
  std::vector<std::shared_ptr<HttpExchange>> open;
  handler.answer = [&](const HttpRequest& request, auto exchange) {
    if (request.path == "/later") return open.push_back(std::move(exchange));
    exchange->respond({.body = "for " + request.path});
  };
  auto busy = connect();
  busy.send(get("/later"));
  ASSERT_TRUE(until([&] { return open.size() == 1; }));
  auto silent = connect();
  ASSERT_TRUE(until([&] { return server->connections() == 2; }));
  auto younger = connect();
  ASSERT_TRUE(until([&] { return server->connections() == 3; }));
  auto newcomer = connect();
  newcomer.send(get("/new"));
  EXPECT_TRUE(newcomer.until_received("for /new"));
  EXPECT_TRUE(silent.until_ended());
  EXPECT_FALSE(younger.receive());
  open.front()->respond({.body = "done"});
  EXPECT_TRUE(busy.until_received("done"));
}

TEST_F(Server, N16_strangers_of_one_address_drive_out_nobody_else) {
  handler.admit = [](const HttpRequest& head) {
    return HttpAdmission{.is_known = head.header("X-Right").has_value()};
  };
  listen({.strangers_max = 8, .strangers_per_source_max = 2});
  auto known = connect();
  known.send(get("/known", "X-Right: yes\r\n"));
  ASSERT_TRUE(known.until_received("GET /known"));
  auto other = connect_from(*io, "127.0.0.2", port);
  ASSERT_TRUE(until([&] { return server->connections() == 2; }));
  std::vector<RawClient> flood;
  for (int i = 0; i < 20; ++i) flood.push_back(connect());
  for (std::size_t i = 0; i + 2 < flood.size(); ++i) EXPECT_TRUE(flood[i].until_ended()) << i;
  EXPECT_EQ(server->connections(), 4U);
  other.send(get("/other"));
  EXPECT_TRUE(other.until_received("GET /other"));
  known.received.clear();
  known.send(get("/again"));
  EXPECT_TRUE(known.until_received("GET /again")) << "who was known once stays known";
}

TEST_F(Server, N16_strangers_that_wait_for_their_refusal_can_be_driven_out) {
  handler.admit = [](const HttpRequest& head) {
    if (head.path != "/in") {
      return HttpAdmission{.refuse = HttpResponse{.status = 401}, .refuse_after_ms = 60'000};
    }
    return HttpAdmission{};
  };
  listen({.strangers_max = 2});
  std::vector<RawClient> waiting;
  for (int i = 0; i < 2; ++i) {
    waiting.push_back(connect());
    waiting.back().send(get("/out"));
    ASSERT_TRUE(until([&] { return handler.heads == i + 1; }));
  }
  auto newcomer = connect();
  newcomer.send(get("/in"));
  EXPECT_TRUE(newcomer.until_received("GET /in"));
  EXPECT_TRUE(waiting.front().until_ended());
}

TEST_F(Server, N16_a_stranger_has_some_time_to_become_known) {
  handler.admit = [](const HttpRequest& head) {
    return HttpAdmission{.is_known = head.path == "/known"};
  };
  listen({.stranger_ms = 60});
  auto known = connect();
  known.send(get("/known"));
  ASSERT_TRUE(known.until_received("GET /known"));
  auto silent = connect();
  EXPECT_EQ(silent.status_at_end(), 0);
  auto asks_on = connect();
  EXPECT_TRUE(until([&] {
    asks_on.send(get("/again"));
    return asks_on.receive();
  }));
  known.send(get("/there"));
  EXPECT_TRUE(known.until_received("GET /there"));
}

TEST_F(Server, N16_some_connections_are_kept_for_the_unix_socket) {
  handler.admit = [](const HttpRequest&) { return HttpAdmission{.is_known = true}; };
  listen({.connections_max = 4, .unix_reserved = 2});
  ASSERT_TRUE(server->listen_unix(scratch.path(), "s"));
  auto one = connect();
  auto two = connect();
  for (RawClient* each : {&one, &two}) {
    each->send(get("/"));
    ASSERT_TRUE(each->until_received("GET / "));
  }
  EXPECT_EQ(connect().status_at_end(), 0) << "the rest is not for TCP";
  const auto at_socket = [&] {
    return RawClient(*io, connect_unix_socket_at({scratch.path(), "s"}).value());
  };
  auto own = at_socket();
  own.send(get("/own"));
  EXPECT_TRUE(own.until_received("GET /own"));
  auto also = at_socket();
  also.send(get("/also"));
  EXPECT_TRUE(also.until_received("GET /also"));
}

class Insiders : public ServerTest {
 protected:
  void listen_unix(HttpServerLimits limits) {
    handler.answer = [this](const HttpRequest& request, auto exchange) {
      if (request.path == "/later") return open.push_back(std::move(exchange));
      exchange->respond({.body = "for " + request.path});
    };
    listen(limits);
    ASSERT_TRUE(server->listen_unix(scratch.path(), "s"));
  }
  // From that session; empty: the owner.
  RawClient enter(const std::string& session) {
    handler.insider = session;
    const int before = handler.accepted;
    RawClient made(*io, connect_unix_socket_at({scratch.path(), "s"}).value());
    EXPECT_TRUE(until([&] { return handler.accepted > before; }));
    return made;
  }
  // With a request that is not answered.
  RawClient enter_busy(const std::string& session) {
    const std::size_t before = open.size();
    RawClient made = enter(session);
    made.send(get("/later"));
    EXPECT_TRUE(until([&] { return open.size() > before; }));
    return made;
  }
  bool is_served(RawClient& client) {
    client.received.clear();
    client.send(get("/now"));
    return client.until_received("for /now");
  }

  std::vector<std::shared_ptr<HttpExchange>> open;
};

TEST_F(Insiders, N16_a_session_that_wants_one_more_loses_its_oldest_idle_one) {
  listen_unix({.insiders_per_session_max = 3});
  auto other = enter("b");
  auto busy = enter_busy("a");
  auto half = enter("a");
  half.send("GET /half HTTP/1.1\r\n");
  auto silent = enter("a");
  auto newcomer = enter("a");
  EXPECT_TRUE(half.until_ended());
  EXPECT_TRUE(is_served(newcomer));
  EXPECT_TRUE(is_served(other)) << "another session loses nothing";
  auto next = enter("a");
  EXPECT_TRUE(silent.until_ended());
  EXPECT_TRUE(is_served(next));
  open.front()->respond({.body = "done"});
  EXPECT_TRUE(busy.until_received("done"));
}

TEST_F(Insiders, N16_a_session_with_busy_connections_gets_no_more_and_the_owner_does) {
  listen_unix({.insiders_per_session_max = 2});
  std::vector<RawClient> busy;
  for (int i = 0; i < 2; ++i) busy.push_back(enter_busy("a"));
  EXPECT_TRUE(enter("a").until_ended());
  std::vector<RawClient> owner;
  for (int i = 0; i < 5; ++i) owner.push_back(enter(""));
  for (RawClient& each : owner) EXPECT_TRUE(is_served(each));
  EXPECT_EQ(server->connections(), 7U);
}

TEST_F(Insiders, N16_of_many_sessions_the_one_with_the_most_makes_room) {
  listen_unix({.insiders_max = 4, .insiders_per_session_max = 3});
  auto modest = enter("a");
  std::vector<RawClient> greedy;
  for (int i = 0; i < 3; ++i) greedy.push_back(enter_busy("b"));
  auto newcomer = enter("c");
  EXPECT_TRUE(is_served(newcomer));
  EXPECT_TRUE(greedy[0].until_ended());
  EXPECT_TRUE(is_served(modest));
  EXPECT_TRUE(enter("b").until_ended()) << "it has more than its share";
  EXPECT_EQ(server->connections(), 4U);
}

TEST_F(Insiders, N16_a_websocket_that_makes_room_is_gone_at_once) {
  struct Closed final : WebSocketEvents {
    void on_open() override { ++opened; }
    void on_text(std::string_view) override {}
    void on_binary(std::string_view) override {}
    void on_drained() override {}
    void on_closed(std::uint16_t, const std::string&) override { ++closed; }
    int opened = 0;
    int closed = 0;
  } events;
  listen_unix({.insiders_max = 2});
  std::vector<std::shared_ptr<WebSocket>> sockets;
  handler.answer = [&](const HttpRequest&, const auto& exchange) {
    sockets.push_back(exchange->upgrade({}, events));
  };
  std::vector<RawClient> greedy;
  for (int i = 1; i <= 2; ++i) {
    greedy.push_back(enter("a"));
    greedy.back().send(get("/",
                           "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                           "Sec-WebSocket-Version: 13\r\n"
                           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"));
    ASSERT_TRUE(until([&] { return events.opened == i; }));
  }
  auto newcomer = enter("b");
  EXPECT_EQ(events.closed, 1);
  EXPECT_TRUE(greedy[0].until_ended());
  EXPECT_EQ(server->connections(), 2U);
}

TEST_F(Insiders, N16_insiders_and_tokens_leave_places_for_the_owner) {
  handler.admit = [](const HttpRequest&) { return HttpAdmission{.is_known = true}; };
  listen_unix({.connections_max = 8, .unix_reserved = 2, .insiders_max = 100});
  std::vector<RawClient> inside;
  for (int i = 0; i < 2; ++i) inside.push_back(enter_busy("a"));
  EXPECT_TRUE(enter("a").until_ended()) << "a quarter of all is theirs";
  std::vector<RawClient> known;
  for (int i = 0; i < 4; ++i) {
    known.push_back(connect());
    ASSERT_TRUE(is_served(known.back()));
  }
  EXPECT_EQ(connect().status_at_end(), 0);
  auto owner = enter("");
  EXPECT_TRUE(is_served(owner));
  auto also = enter("");
  EXPECT_TRUE(is_served(also));
}

TEST_F(Insiders, N16_one_credential_does_not_take_the_places_of_another) {
  handler.admit = [](const HttpRequest& head) {
    const auto token = head.header("X-Token");
    return HttpAdmission{.is_known = token.has_value(), .credential = std::string(*token)};
  };
  listen_unix({.per_credential_max = 2});
  const auto show = [&](RawClient& client, const std::string& path) {
    client.send(get(path, "X-Token: one\r\n"));
  };
  auto busy = connect();
  show(busy, "/later");
  ASSERT_TRUE(until([&] { return open.size() == 1; }));
  auto idle = connect();
  show(idle, "/a");
  ASSERT_TRUE(idle.until_received("for /a"));
  auto newcomer = connect();
  show(newcomer, "/later");
  ASSERT_TRUE(until([&] { return open.size() == 2; }));
  EXPECT_TRUE(idle.until_ended());
  auto refused = connect();
  show(refused, "/b");
  EXPECT_EQ(refused.status_at_end(), 429);
  EXPECT_TRUE(refused.received.contains("limit_reached")) << refused.received;
  auto other = connect();
  other.send(get("/c", "X-Token: two\r\n"));
  EXPECT_TRUE(other.until_received("for /c"));
}

TEST_F(Server, N16_a_handler_that_upgrades_what_wants_no_websocket_gets_a_closed_one) {
  struct Closed final : WebSocketEvents {
    void on_open() override { ADD_FAILURE(); }
    void on_text(std::string_view) override {}
    void on_binary(std::string_view) override {}
    void on_drained() override {}
    void on_closed(std::uint16_t, const std::string&) override { ++closed; }
    int closed = 0;
  } events;
  std::shared_ptr<WebSocket> socket;
  handler.answer = [&](const HttpRequest&, const auto& exchange) {
    socket = exchange->upgrade({}, events);
    ASSERT_NE(socket, nullptr);
    socket->send_text(std::make_shared<const std::string>("nobody reads this"));
  };
  listen();
  auto client = connect();
  client.send(get("/ws"));
  EXPECT_TRUE(client.until_received("HTTP/1.1 426 "));
  EXPECT_TRUE(client.received.contains("Upgrade: websocket\r\n"));
  EXPECT_TRUE(until([&] { return events.closed == 1; }));
}

TEST_F(Server, one_connection_too_many_is_closed_at_once) {
  handler.admit = [](const HttpRequest&) { return HttpAdmission{.is_known = true}; };
  listen({.connections_max = 2, .unix_reserved = 0});
  auto one = connect();
  auto two = connect();
  for (RawClient* each : {&one, &two}) {
    each->send(get("/"));
    ASSERT_TRUE(each->until_received("GET / "));
  }
  auto three = connect();
  three.send(get("/"));
  EXPECT_EQ(three.status_at_end(), 0);
  one.send(get("/one"));
  EXPECT_TRUE(one.until_received("GET /one"));
  two.close();
  ASSERT_TRUE(until([&] { return server->connections() == 1; }));
  auto four = connect();
  four.send(get("/four"));
  EXPECT_TRUE(four.until_received("GET /four"));
}

TEST_F(Server, stop_accepting_ends_what_is_idle_and_lets_the_rest_finish) {
  listen();
  std::shared_ptr<HttpExchange> open;
  handler.answer = [&](const HttpRequest&, auto exchange) { open = std::move(exchange); };
  auto idle = connect();
  auto busy = connect();
  busy.send(get("/"));
  ASSERT_TRUE(until([&] { return open != nullptr && server->connections() == 2; }));
  server->stop_accepting();
  EXPECT_EQ(idle.status_at_end(), 0);
  EXPECT_FALSE(busy.receive());
  open->respond({.body = "done"});
  EXPECT_EQ(busy.status_at_end(), 200);
  EXPECT_TRUE(busy.received.ends_with("done"));
  Socket late = connect_tcp_socket(*numeric_address("127.0.0.1", port)).value();
  RawClient refused(*io, std::move(late));
  EXPECT_EQ(refused.status_at_end(), 0);
}

TEST_F(Server, an_exchange_that_is_dropped_is_500) {
  listen();
  handler.answer = [](const HttpRequest&, const auto&) {};
  auto client = connect();
  client.send(get("/"));
  EXPECT_TRUE(client.until_received("HTTP/1.1 500 "));
  EXPECT_TRUE(client.received.contains(R"("code":"internal")"));
}

TEST_F(Server, an_answer_after_the_client_or_the_server_is_gone_does_nothing) {
  listen();
  std::vector<std::shared_ptr<HttpExchange>> open;
  handler.answer = [&](const HttpRequest&, auto exchange) { open.push_back(std::move(exchange)); };
  auto client = connect();
  client.send(get("/"));
  ASSERT_TRUE(until([&] { return open.size() == 1; }));
  EXPECT_FALSE(open[0]->is_gone());
  client.close();
  ASSERT_TRUE(until([&] { return open[0]->is_gone(); }));
  open[0]->respond({});
  ASSERT_TRUE(until([&] { return server->connections() == 0; }));

  auto other = connect();
  other.send(get("/"));
  ASSERT_TRUE(until([&] { return open.size() == 2; }));
  server.reset();
  EXPECT_TRUE(open[1]->is_gone());
  StreamRecorder events;
  const auto stream = open[1]->stream({}, events);
  stream->write(std::make_shared<const std::string>("x"));
  stream->finish();
  EXPECT_TRUE(other.until_ended());
  EXPECT_EQ(events.closed, 0);
}

TEST_F(Server, the_handler_may_destroy_the_server) {
  listen();
  handler.answer = [&](const HttpRequest&, auto exchange) {
    server.reset();
    exchange->respond({});
  };
  auto client = connect();
  client.send(get("/") + get("/"));
  EXPECT_EQ(client.status_at_end(), 0);
}

TEST_F(Server, a_client_may_end_its_half_and_still_be_answered) {
  listen();
  std::shared_ptr<HttpExchange> open;
  handler.answer = [&](const HttpRequest&, auto exchange) { open = std::move(exchange); };
  auto client = connect();
  client.send(get("/"));
  client.end_sending();
  ASSERT_TRUE(until([&] { return open != nullptr && open->is_gone(); }));
  open->respond({.body = "late"});
  EXPECT_EQ(client.status_at_end(), 200);
}

TEST_F(Server, headers_of_an_answer_cannot_be_split) {
  listen();
  handler.answer = [](const HttpRequest&, auto exchange) {
    exchange->respond({.headers = {{"X-Name", "a\r\nSet-Cookie: b"}, {"Content-Length", "99"}}});
  };
  auto client = connect();
  client.send(get("/"));
  ASSERT_TRUE(client.until_received("\r\n\r\n"));
  EXPECT_FALSE(client.received.contains("\r\nSet-Cookie"));
  EXPECT_FALSE(client.received.contains("99"));
}

}  // namespace
}  // namespace perdure
