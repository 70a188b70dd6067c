// Answers of unknown length: chunks in order, slow readers cut alone, peers that disconnect.
#include <gtest/gtest.h>

#include "net/fixture_for_test.h"

namespace perdure {
namespace {

using namespace http_test;

std::shared_ptr<const std::string> bytes_of(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

class Streams : public ServerTest {
 protected:
  struct Open {
    std::shared_ptr<HttpStream> stream;
    StreamRecorder events;
  };

  void SetUp() override {
    handler.answer = [this](const HttpRequest&, auto exchange) {
      open.push_back(std::make_unique<Open>());
      open.back()->stream = exchange->stream({.headers = {{"Content-Type", "text/event-stream"}}},
                                             open.back()->events);
    };
  }
  // A client with a stream; returns the stream's number.
  std::size_t begin(RawClient& client) {
    const std::size_t before = open.size();
    client.send(get("/stream"));
    EXPECT_TRUE(until([&] { return open.size() == before + 1; }));
    return before;
  }

  std::vector<std::unique_ptr<Open>> open;
};

TEST_F(Streams, chunks_arrive_in_order_and_the_connection_is_used_again) {
  listen();
  auto client = connect();
  Open& it = *open.at(begin(client));
  // The head counts as well: on_drained is called after it was sent.
  ASSERT_TRUE(until([&] { return it.events.drained == 1; }));
  it.stream->write(bytes_of("data: one\n\n"));
  EXPECT_EQ(it.stream->unsent_bytes(), 16U);
  it.stream->write(bytes_of(""));
  it.stream->write(bytes_of("data: two\n\n"));
  ASSERT_TRUE(client.until_received("b\r\ndata: one\n\n\r\nb\r\ndata: two\n\n\r\n"));
  ASSERT_TRUE(until([&] { return it.events.drained == 2; }));
  EXPECT_EQ(it.stream->unsent_bytes(), 0U);
  EXPECT_TRUE(client.received.contains("Transfer-Encoding: chunked\r\n"));
  it.stream->finish();
  EXPECT_TRUE(client.until_received("0\r\n\r\n"));
  it.stream.reset();
  client.received.clear();
  handler.answer = nullptr;
  client.send(get("/again"));
  EXPECT_TRUE(client.until_received("GET /again"));
  EXPECT_EQ(it.events.closed, 0);
}

TEST_F(Streams, http_1_0_reads_to_the_end_of_the_connection) {
  listen();
  auto client = connect();
  client.send("GET / HTTP/1.0\r\n\r\n");
  ASSERT_TRUE(until([&] { return open.size() == 1; }));
  open[0]->stream->write(bytes_of("plain"));
  open[0]->stream->finish();
  EXPECT_EQ(client.status_at_end(), 200);
  EXPECT_TRUE(client.received.ends_with("\r\n\r\nplain"));
}

TEST_F(Streams, an_idle_stream_notices_that_the_peer_is_gone) {
  listen();
  auto client = connect();
  Open& it = *open.at(begin(client));
  ASSERT_TRUE(client.until_received("event-stream"));
  client.close();
  EXPECT_TRUE(until([&] { return it.events.closed == 1; }));
  EXPECT_EQ(server->connections(), 0U);
  it.stream->write(bytes_of("nobody"));
  EXPECT_EQ(it.stream->unsent_bytes(), 0U);
}

TEST_F(Streams, dropping_the_stream_closes_the_connection) {
  listen();
  auto client = connect();
  Open& it = *open.at(begin(client));
  ASSERT_TRUE(client.until_received("event-stream"));
  it.stream.reset();
  EXPECT_TRUE(client.until_ended());
  EXPECT_FALSE(client.received.contains("0\r\n\r\n"));
  EXPECT_EQ(it.events.closed, 0);
}

TEST_F(Streams, STREAM4_a_slow_reader_is_cut_at_its_limit_and_others_go_on) {
  listen({.stream_unsent_bytes_max = 1UL << 20});
  auto slow = connect();
  auto quick = connect();
  Open& cut = *open.at(begin(slow));
  Open& fine = *open.at(begin(quick));
  const auto part = bytes_of(std::string(64UL << 10, 'x'));
  std::size_t written = 0;
  std::size_t most = 0;
  ASSERT_TRUE(until([&] {
    cut.stream->write(part);
    fine.stream->write(part);
    written += part->size();
    most = std::max(most, cut.stream->unsent_bytes());
    quick.receive();
    return cut.events.closed == 1;
  }));
  EXPECT_LE(most, 1UL << 20);
  EXPECT_GT(most, 900UL << 10);
  EXPECT_EQ(fine.events.closed, 0);
  EXPECT_TRUE(until([&] {
    quick.receive();
    return quick.received.size() > written && fine.stream->unsent_bytes() == 0;
  }));
}

TEST_F(Streams, STREAM4_a_reader_that_takes_nothing_is_cut_in_time) {
  listen({.write_ms = 50});
  auto client = connect();
  Open& it = *open.at(begin(client));
  // More than the kernel's buffers hold, in one write: allowed, since nothing else is unsent.
  ASSERT_TRUE(until([&] { return it.stream->unsent_bytes() == 0; }));
  it.stream->write(bytes_of(std::string(32UL << 20, 'x')));
  EXPECT_TRUE(until([&] { return it.events.closed == 1; }));
}

TEST_F(Streams, a_reader_that_keeps_taking_is_not_cut) {
  listen({.write_ms = 200});
  auto client = connect();
  Open& it = *open.at(begin(client));
  ASSERT_TRUE(until([&] { return it.stream->unsent_bytes() == 0; }));
  constexpr std::size_t size = 32UL << 20;
  it.stream->write(bytes_of(std::string(size, 'x')));
  ASSERT_TRUE(until([&] {
    client.receive();
    return client.received.size() > size;
  }));
  EXPECT_TRUE(until([&] { return it.events.drained > 0; }));
  EXPECT_EQ(it.events.closed, 0);
}

TEST_F(Streams, two_hundred_share_the_same_bytes) {
  listen({.strangers_max = 200, .strangers_per_source_max = 200});
  std::vector<RawClient> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(connect());
    begin(clients.back());
  }
  ASSERT_EQ(server->connections(), 200U);
  auto shared = bytes_of("data: to everybody\n\n");
  for (const auto& each : open) each->stream->write(shared);
  EXPECT_EQ(shared.use_count(), 201);
  for (RawClient& client : clients) {
    ASSERT_TRUE(client.until_received("data: to everybody\n\n"));
  }
  ASSERT_TRUE(until([&] { return shared.use_count() == 1; }));
  for (RawClient& client : clients) client.close();
  EXPECT_TRUE(until([&] { return server->connections() == 0; }));
  for (const auto& each : open) EXPECT_EQ(each->events.closed, 1);
}

TEST_F(Streams, what_a_client_sends_meanwhile_is_bounded_and_kept_for_later) {
  listen({.head_bytes_max = 1000});
  auto client = connect();
  Open& it = *open.at(begin(client));
  handler.answer = nullptr;
  client.send(get("/later"));
  it.stream->write(bytes_of("x"));
  ASSERT_TRUE(client.until_received("1\r\nx\r\n"));
  it.stream->finish();
  EXPECT_TRUE(client.until_received("GET /later"));
}

TEST_F(Streams, head_of_a_stream_has_no_body_and_an_end) {
  listen();
  auto client = connect();
  client.send("HEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.status_at_end(), 200);
  ASSERT_EQ(open.size(), 1U);
  EXPECT_TRUE(until([&] { return open[0]->events.closed == 1; }));
}

TEST_F(Streams, destroying_the_server_closes_streams_without_a_word) {
  listen();
  auto client = connect();
  Open& it = *open.at(begin(client));
  server.reset();
  EXPECT_TRUE(client.until_ended());
  it.stream->write(bytes_of("x"));
  it.stream.reset();
  EXPECT_EQ(it.events.closed, 0);
}

}  // namespace
}  // namespace perdure
