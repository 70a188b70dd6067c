// The client against our server, and against faulty peers: every end is reported once, and a
// cancelled call reports nothing.
#include "net/client.h"

#include <gtest/gtest.h>

#include "net/fixture_for_test.h"

namespace perdure {
namespace {

using namespace http_test;

class Client : public ServerTest {
 protected:
  HttpRequest request(std::string target, std::string method = "GET") {
    return {.method = std::move(method), .target = std::move(target)};
  }
  // A listener that sends these bytes to its first caller, for any request, and disconnects.
  Result<HttpResponse> call_of(const std::string& answer, const std::string& method = "GET") {
    Socket listener = listen_tcp_socket(*numeric_address("127.0.0.1", 0), "a free port").value();
    const HttpEndpoint to{.host = "127.0.0.1", .port = local_port(listener).value()};
    std::optional<Result<HttpResponse>> result;
    const auto call = http_fetch(*io, to, request("/", method), {.answer_ms = 2000},
                                 [&](auto got) { result = std::move(got); });
    std::optional<RawClient> peer;
    EXPECT_TRUE(until([&] {
      if (!peer) {
        auto accepted = accept_socket(listener.get()).value();
        if (accepted) peer.emplace(*io, std::move(*accepted));
      } else {
        peer->receive();
      }
      return peer && peer->received.contains("\r\n\r\n");
    }));
    peer->send(answer);
    peer->end_sending();
    EXPECT_TRUE(until([&] { return result.has_value(); }));
    return std::move(*result);
  }
};

struct BodyRecorder final : HttpBodyEvents {
  void on_head(const HttpResponse& head) override {
    status = head.status;
    if (then) then();
  }
  void on_bytes(std::string_view some) override {
    bytes += some;
    if (then) then();
  }
  void on_end(Result<> result) override {
    ++ends;
    error = result ? std::nullopt : std::optional(result.error());
  }
  int status = 0;
  std::string bytes;
  int ends = 0;
  std::optional<Error> error;
  std::function<void()> then;
};

TEST_F(Client, fetches_over_tcp_and_unix) {
  listen();
  ASSERT_TRUE(server->listen_unix(scratch.path(), "s"));
  HttpRequest post = request("/p?q=1", "POST");
  post.body = std::string(1UL << 20, 'b');
  const auto answer = http_call(*io, endpoint(), post);
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "POST /p " + post.body);
  const auto second =
      http_call(*io, {.unix_folder = scratch.path(), .unix_name = "s"}, request("/unix"));
  ASSERT_TRUE(second) << second.error().message();
  EXPECT_EQ(second->body, "GET /unix ");
  const auto named = http_call(*io, {.host = "localhost", .port = port}, request("/named"));
  ASSERT_TRUE(named) << named.error().message();
  const auto head = http_call(*io, endpoint(), request("/head", "HEAD"));
  ASSERT_TRUE(head) << head.error().message();
  EXPECT_EQ(head->body, "");
  EXPECT_TRUE(until([&] { return server->connections() == 0; }));
}

TEST_F(Client, nobody_there_is_unavailable) {
  listen();
  server.reset();
  const auto tcp = http_call(*io, endpoint(), request("/"));
  ASSERT_FALSE(tcp);
  EXPECT_EQ(tcp.error().code(), Code::unavailable);
  const auto name = http_call(*io, {.host = "no-such-host.invalid", .port = 1}, request("/"));
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().code(), Code::unavailable);
  const auto no_socket =
      http_call(*io, {.unix_folder = scratch.path(), .unix_name = "none"}, request("/"));
  ASSERT_FALSE(no_socket);
  EXPECT_EQ(no_socket.error().code(), Code::unavailable);
}

TEST_F(Client, malformed_and_cut_answers_are_errors) {
  for (const char* answer :
       {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 200\n\n", "hello\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n"}) {
    const auto result = call_of(answer);
    ASSERT_FALSE(result) << answer;
    EXPECT_EQ(result.error().code(), Code::unavailable) << answer;
  }
}

TEST_F(Client, answers_end_by_length_chunks_or_the_connection) {
  EXPECT_EQ(call_of("HTTP/1.1 200 OK\r\n\r\nto the end").value().body, "to the end");
  EXPECT_EQ(call_of("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nabc").value().body, "ab");
  EXPECT_EQ(call_of("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\n"
                    "transfer-encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n")
                .value()
                .body,
            "a");
  EXPECT_EQ(call_of("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n").value().status, 204);
  EXPECT_EQ(call_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HEAD").value().body, "");
}

TEST_F(Client, a_silent_peer_and_a_long_answer_have_limits) {
  listen();
  std::vector<std::shared_ptr<HttpExchange>> open;
  handler.answer = [&](const HttpRequest&, auto exchange) { open.push_back(std::move(exchange)); };
  const auto silent = http_call(*io, endpoint(), request("/"), {.answer_ms = 30});
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().code(), Code::unavailable);
  handler.answer = [](const HttpRequest&, auto exchange) {
    exchange->respond({.body = std::string(2000, 'x')});
  };
  const auto longer = http_call(*io, endpoint(), request("/"), {.body_bytes_max = 1999});
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code(), Code::limit_reached);
  EXPECT_TRUE(http_call(*io, endpoint(), request("/"), {.body_bytes_max = 2000}));
}

TEST_F(Client, a_refusal_before_the_body_was_read_arrives) {
  listen();
  handler.admit = [](const HttpRequest&) {
    return HttpAdmission{.refuse = HttpResponse{.status = 403, .body = "no"}};
  };
  HttpRequest post = request("/", "POST");
  post.body = std::string(8UL << 20, 'b');
  const auto answer = http_call(*io, endpoint(), post);
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->status, 403);
  EXPECT_EQ(answer->body, "no");
}

TEST_F(Client, a_stream_is_told_as_it_comes_and_its_cut_is_an_error) {
  listen();
  StreamRecorder events;
  std::shared_ptr<HttpStream> stream;
  handler.answer = [&](const HttpRequest&, auto exchange) {
    stream = exchange->stream({}, events);
  };
  BodyRecorder recorder;
  const auto call = http_open(*io, endpoint(), request("/s"), {}, recorder);
  ASSERT_TRUE(until([&] { return recorder.status == 200; }));
  stream->write(std::make_shared<const std::string>("one"));
  ASSERT_TRUE(until([&] { return recorder.bytes == "one"; }));
  stream->write(std::make_shared<const std::string>("two"));
  ASSERT_TRUE(until([&] { return recorder.bytes == "onetwo"; }));
  stream.reset();
  ASSERT_TRUE(until([&] { return recorder.ends == 1; }));
  EXPECT_TRUE(recorder.error.has_value());

  BodyRecorder whole;
  const auto second = http_open(*io, endpoint(), request("/s"), {}, whole);
  ASSERT_TRUE(until([&] { return whole.status == 200; }));
  stream->finish();
  ASSERT_TRUE(until([&] { return whole.ends == 1; }));
  EXPECT_FALSE(whole.error.has_value());
}

TEST_F(Client, a_call_that_is_dropped_tells_nothing_more) {
  listen();
  StreamRecorder events;
  std::shared_ptr<HttpStream> stream;
  handler.answer = [&](const HttpRequest&, auto exchange) {
    stream = exchange->stream({}, events);
  };
  BodyRecorder recorder;
  auto call = http_open(*io, endpoint(), request("/s"), {}, recorder);
  // Within its own callback, the most difficult moment.
  recorder.then = [&] { call.reset(); };
  EXPECT_TRUE(until([&] { return events.closed == 1; }));
  EXPECT_EQ(recorder.ends, 0);
  for (int i = 0; i < 3; ++i) {
    auto early = http_open(*io, endpoint(), request("/s"), {}, recorder);
    for (int round = 0; round < i; ++round) io->run_for_ms(1);
    recorder.then = nullptr;
    early.reset();
  }
  EXPECT_TRUE(until([&] { return server->connections() == 0; }));
  EXPECT_EQ(recorder.ends, 0);
}

}  // namespace
}  // namespace perdure
