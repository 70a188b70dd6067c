// The client against a real server on a unix socket: calls, errors, repeats, a followed session
// that is cut off.
#include "client/client.h"

#include <filesystem>
#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "client/json_view.h"
#include "net/server/server.h"

namespace perdure::client {
namespace {

// Runs on its own thread until destroyed.
class Server final : public HttpHandler, HttpStreamEvents {
 public:
  using Answer = std::function<void(const HttpRequest&, std::shared_ptr<HttpExchange>)>;

  Server(const std::string& folder, Answer answer) : answer_(std::move(answer)) {
    server_ = HttpServer::create(*io_, *this);
    const auto listening = server_->listen_unix(folder, "perdure.sock");
    EXPECT_TRUE(listening.has_value()) << (listening ? "" : listening.error().message());
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) io_->run_for_ms(10);
      streams.clear();
      server_.reset();
    });
  }

  HttpAdmission on_head(const HttpRequest&) override { return {}; }
  void on_request(HttpRequest request, std::shared_ptr<HttpExchange> exchange) override {
    if (request.path == "/healthz") return exchange->respond({.status = 200});
    requests.push_back(request);
    answer_(request, std::move(exchange));
  }
  void on_drained() override {}
  void on_closed() override {}

  // Starts a response that continues until the stream is dropped.
  HttpStream& stream(HttpExchange& exchange) {
    HttpResponse head;
    head.headers.push_back({"Content-Type", "text/event-stream"});
    streams.push_back(exchange.stream(std::move(head), *this));
    return *streams.back();
  }

  std::vector<HttpRequest> requests;  // read it after destruction, or from its own thread
  std::vector<std::shared_ptr<HttpStream>> streams;

 private:
  Answer answer_;
  std::unique_ptr<HttpIo> io_ = HttpIo::create();
  std::unique_ptr<HttpServer> server_;
  std::jthread thread_;
};

class ClientOverHttp : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "perdure-client-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    std::filesystem::create_directory(folder + "/run");
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::unique_ptr<DaemonApi> connected() {
    ClientSettings settings;
    settings.data_folder = folder;
    settings.start = StartPolicy::never;
    auto api = connect_daemon(std::move(settings));
    EXPECT_TRUE(api.has_value()) << (api ? "" : api.error().message());
    return api ? std::move(*api) : nullptr;
  }

  std::string folder;
};

HttpResponse json(int status, std::string body) {
  HttpResponse response;
  response.status = status;
  response.headers.push_back({"Content-Type", "application/json"});
  response.body = std::move(body);
  return response;
}

TEST_F(ClientOverHttp, nobody_there_is_told_by_policy) {
  for (const StartPolicy policy : {StartPolicy::never, StartPolicy::inside_session}) {
    ClientSettings settings;
    settings.data_folder = folder;
    settings.start = policy;
    const auto api = connect_daemon(std::move(settings));
    ASSERT_FALSE(api.has_value());
    EXPECT_EQ(api.error().code(), Code::unavailable);
    const bool names_session = api.error().message().find("hosted session") != std::string::npos;
    EXPECT_EQ(names_session, policy == StartPolicy::inside_session);
  }
}

TEST_F(ClientOverHttp, a_call_carries_what_it_must_and_brings_the_answer) {
  HttpRequest seen;
  const Server server(folder + "/run", [&](const HttpRequest& request, const auto& exchange) {
    seen = request;
    exchange->respond(json(200, R"({"ok":true})"));
  });
  const auto api = connected();
  ASSERT_NE(api, nullptr);
  ApiRequest request;
  request.method = "POST";
  request.path = "/api/sessions/a%20b/prompt";
  request.query = {{"q", "x&y=ü"}};
  request.body = R"({"text":"hi"})";
  const auto answer = api->call(request);
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  EXPECT_EQ(answer->body, R"({"ok":true})");
  EXPECT_EQ(answer->content_type, "application/json");
  EXPECT_FALSE(answer->refusal.has_value());
  EXPECT_EQ(seen.path, "/api/sessions/a b/prompt");
  EXPECT_EQ(seen.parameter("q"), "x&y=ü");
  EXPECT_EQ(seen.body, R"({"text":"hi"})");
  EXPECT_EQ(seen.header("content-type"), "application/json");
  EXPECT_GE(seen.header("idempotency-key").value_or("").size(), 16U);
}

TEST_F(ClientOverHttp, a_refusal_is_an_answer) {
  const Server server(folder + "/run", [&](const HttpRequest&, const auto& exchange) {
    exchange->respond(json(404, R"({"error":{"code":"not_found","message":"no such session"}})"));
  });
  const auto api = connected();
  ASSERT_NE(api, nullptr);
  ApiRequest request;
  request.path = "/api/sessions/x";
  const auto answer = api->call(request);
  ASSERT_TRUE(answer.has_value());
  ASSERT_TRUE(answer->refusal.has_value());
  EXPECT_EQ(answer->refusal->error().code(), Code::not_found);
  EXPECT_EQ(answer->refusal->message, "no such session");
}

// To cut the connection before the response, the server drops a stream.
TEST_F(ClientOverHttp, N10_a_call_without_an_answer_is_made_again_under_its_key) {
  std::vector<std::string> keys;
  Server* here = nullptr;
  Server server(folder + "/run", [&](const HttpRequest& request, const auto& exchange) {
    keys.emplace_back(request.header("idempotency-key").value_or(""));
    if (keys.size() < 3) {
      here->stream(*exchange);
      here->streams.clear();
      return;
    }
    exchange->respond(json(200, "{}"));
  });
  here = &server;
  const auto api = connected();
  ASSERT_NE(api, nullptr);
  ApiRequest request;
  request.method = "POST";
  request.path = "/api/sessions";
  request.body = "{}";
  const auto answer = api->call(request);
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0], keys[1]);
  EXPECT_EQ(keys[0], keys[2]);
}

struct Seen final : FollowEvents {
  std::vector<std::uint64_t> records;
  std::vector<Connection> connections;
  std::size_t states = 0;
  std::optional<Refusal> refusal;
  void on_state(std::string_view) override { ++states; }
  void on_record(std::uint64_t seq, std::string_view) override { records.push_back(seq); }
  void on_reset() override {}
  void on_connection(Connection connection) override { connections.push_back(connection); }
  void on_refused(const Refusal& why) override { refusal = why; }
};

TEST_F(ClientOverHttp, N1_a_followed_session_goes_on_behind_a_cut) {
  Server* here = nullptr;
  Server server(folder + "/run", [&](const HttpRequest& request, const auto& exchange) {
    const std::uint64_t after = std::stoull(std::string(request.parameter("after").value_or("0")));
    HttpStream& stream = here->stream(*exchange);
    std::string bytes = "event: state\ndata: {\"log_id\":\"L\"}\n\n";
    for (std::uint64_t seq = after + 1; seq <= std::min<std::uint64_t>(after + 4, 10); ++seq) {
      bytes += "id: " + std::to_string(seq) + "\nevent: record\ndata: {}\n\n";
    }
    bytes += "id: 99\nevent: record\ndata: {";  // cut in the middle of a record
    stream.write(std::make_shared<const std::string>(bytes));
    stream.finish();
  });
  here = &server;
  const auto api = connected();
  ASSERT_NE(api, nullptr);
  Seen seen;
  const auto following = api->follow({.session = "s", .after = 0, .log_id = {}}, seen);
  const std::int64_t deadline = api->now_ms() + 20'000;
  while (seen.records.size() < 10 && api->now_ms() < deadline) api->step(100);
  EXPECT_EQ(seen.records, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_GE(seen.states, 3U);
  EXPECT_EQ(following->cursor(), 10U);
}

TEST_F(ClientOverHttp, a_session_that_is_not_there_cannot_be_followed) {
  const Server server(folder + "/run", [&](const HttpRequest&, const auto& exchange) {
    exchange->respond(json(404, R"({"error":{"code":"not_found","message":"gone"}})"));
  });
  const auto api = connected();
  ASSERT_NE(api, nullptr);
  Seen seen;
  const auto following = api->follow({.session = "s", .after = 0, .log_id = {}}, seen);
  const std::int64_t deadline = api->now_ms() + 20'000;
  while (!seen.refusal && api->now_ms() < deadline) api->step(100);
  ASSERT_TRUE(seen.refusal.has_value());
  EXPECT_EQ(seen.refusal->message, "gone");
}

}  // namespace
}  // namespace perdure::client
