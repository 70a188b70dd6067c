// Calls between daemons over real sockets: calls are signed, answers are returned unchanged, and
// errors name a daemon that is unreachable.
#include "daemon/cluster/peers.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "core/wire/agentctl/command.h"
#include "core/wire/agentctl/reply.h"
#include "daemon/api/gate/route.h"
#include "daemon/setup/data_folder.h"
#include "env/posix/loop/loop.h"
#include "env/posix/world.h"
#include "net/server/server.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

class NotedHandler final : public HttpHandler {
 public:
  HttpAdmission on_head(const HttpRequest&) override { return {.body_bytes_max = 1UL << 20}; }
  void on_request(HttpRequest request, std::shared_ptr<HttpExchange> exchange) override {
    requests.push_back(request);
    if (is_silent) return held.push_back(std::move(exchange));
    exchange->respond(answer);
  }
  std::vector<HttpRequest> requests;
  std::vector<std::shared_ptr<HttpExchange>> held;
  HttpResponse answer;
  bool is_silent = false;
};

class PeersTest : public testing::Test {
 protected:
  PeersTest() {
    char name[] = "/tmp/perdure-peers-XXXXXX";
    root_ = mkdtemp(name);
    io_->drive(loop_->descriptor(), [this] { loop_->pump(); });
    server_ = HttpServer::create(*io_, handler_);
    EXPECT_TRUE(server_->listen_unix(root_, "b.sock"));
    nodes_ = {{.name = "a", .is_self = true},
              {.name = "b", .address = "unix:" + root_ + "/b.sock"},
              {.name = "gone", .address = "unix:" + root_ + "/gone.sock"},
              {.name = "new", .address = ""}};
    peers_ =
        std::make_unique<HttpPeers>(HttpPeers::World{*io_, *loop_, *clock_, random_,
                                                     [this]() -> Result<std::vector<StoreNode>> {
                                                       asked_nodes_ += 1;
                                                       return nodes_;
                                                     }},
                                    HttpPeers::Setting{.node = "a", .key = "the key"});
  }
  ~PeersTest() override {
    peers_.reset();
    server_.reset();
    fs::remove_all(root_);
  }

  void run_until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition() && std::chrono::steady_clock::now() < deadline) io_->run_for_ms(1);
    EXPECT_TRUE(condition());
  }
  Result<Reply> submit(const std::string& node, Request request) {
    std::optional<Result<Reply>> out;
    peers_->submit(node, session_, std::move(request),
                   [&](Result<Reply> reply) { out = std::move(reply); });
    EXPECT_FALSE(out) << "the answer comes from the loop";
    run_until([&] { return out.has_value(); });
    return out.value_or(fail(Code::internal, "no answer"));
  }
  Result<HttpResponse> call(const std::string& node) {
    std::optional<Result<HttpResponse>> out;
    peers_->call(node, {.node = "a", .method = "GET", .target = "/x"},
                 [&](Result<HttpResponse> answer) { out = std::move(answer); });
    run_until([&] { return out.has_value(); });
    return out.value_or(fail(Code::internal, "no answer"));
  }

  std::string root_;
  SessionId session_{Ulid{1, 2}};
  std::unique_ptr<EpollLoop> loop_ = EpollLoop::create().value();
  std::unique_ptr<HttpIo> io_ = HttpIo::create();
  std::unique_ptr<PosixClock> clock_ = PosixClock::create().value();
  PosixRandom random_;
  NotedHandler handler_;
  std::unique_ptr<HttpServer> server_;
  std::vector<StoreNode> nodes_;
  int asked_nodes_ = 0;
  std::unique_ptr<HttpPeers> peers_;
};

TEST_F(PeersTest, G2_a_command_arrives_signed_and_with_a_key) {
  handler_.answer = {.status = 200, .body = encode_reply({.seq = 7, .placed = "queued"})};
  const Result<Reply> reply = submit("b", {.by = "uid:1", .key = "", .body = ArchiveSession{}});
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_EQ(reply->seq, 7U);
  ASSERT_EQ(handler_.requests.size(), 1U);
  const HttpRequest& request = handler_.requests[0];
  EXPECT_EQ(request.path, peer_submit_path);
  const std::string header(request.header(peer_signature_header).value_or(""));
  const Result<PeerLetter> letter =
      check_peer_header("the key", {request.path, "b", header}, clock_->now().wall);
  ASSERT_TRUE(letter) << letter.error().message();
  EXPECT_EQ(letter->body_hash, sha256(request.body));
  EXPECT_GE(letter->nonce.size(), 32U);
  const Result<PeerSubmit> sent = decode_peer_submit(request.body);
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->session, session_);
  EXPECT_GT(sent->key.size(), 30U);
  const Result<InputBody> command = decode_command(sent->input.text);
  EXPECT_TRUE(command && get_if<ArchiveSession>(&*command));
  ASSERT_TRUE(submit("b", {.by = "uid:1", .key = "uid:1/k", .body = ArchiveSession{}}));
  EXPECT_EQ(decode_peer_submit(handler_.requests[1].body)->key, "uid:1/k");
}

TEST_F(PeersTest, a_refusal_comes_back_with_its_code) {
  handler_.answer = error_response(Error(Code::stale_owner, "not mine"));
  EXPECT_EQ(submit("b", {.body = ArchiveSession{}}).error().code(), Code::stale_owner);
  EXPECT_EQ(call("b").error().code(), Code::stale_owner);
  handler_.answer = error_response(Error(Code::unauthenticated, "no"));
  const Result<Reply> reply = submit("b", {.body = ArchiveSession{}});
  EXPECT_EQ(reply.error().code(), Code::unavailable) << "the client has no part in that";
  EXPECT_NE(reply.error().message().find("node b"), std::string::npos);
  EXPECT_EQ(submit("b", {.body = DaemonBooted{}}).error().code(), Code::invalid_argument);
}

TEST_F(PeersTest, a_routes_own_answer_is_passed_whatever_it_is) {
  handler_.answer = error_response(Error(Code::not_found, "no such file"));
  handler_.answer.headers.push_back({peer_answer_header, "b"});
  handler_.answer.headers.push_back({"Set-Cookie", "x=y"});
  const Result<HttpResponse> answer = call("b");
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->status, 404);
  EXPECT_NE(answer->body.find("no such file"), std::string::npos);
  ASSERT_EQ(answer->headers.size(), 1U);
  EXPECT_EQ(answer->headers[0].value, "application/json");
}

TEST_F(PeersTest, a_daemon_that_cannot_be_reached_is_named) {
  for (const char* const node : {"gone", "new", "never"}) {
    const Result<Reply> reply = submit(node, {.body = ArchiveSession{}});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code(), Code::unavailable);
    EXPECT_NE(reply.error().message().find(std::string("node ") + node), std::string::npos);
  }
  EXPECT_EQ(asked_nodes_, 1) << "addresses are known for a second";
}

TEST_F(PeersTest, G8_calls_under_way_to_one_daemon_have_a_limit) {
  handler_.is_silent = true;
  std::size_t refused = 0;
  for (std::size_t i = 0; i < peer_calls_max + 3; ++i) {
    peers_->submit("b", session_, {.body = ArchiveSession{}}, [&](const Result<Reply>& reply) {
      refused += !reply && reply.error().code() == Code::unavailable;
    });
  }
  run_until([&] { return refused == 3 && handler_.held.size() == peer_calls_max; });
  EXPECT_EQ(submit("gone", {.body = ArchiveSession{}}).error().code(), Code::unavailable);
  peers_.reset();  // calls get no answer from now on
  for (const auto& exchange : handler_.held) exchange->respond({.status = 200, .body = "{}"});
  io_->run_for_ms(20);
  EXPECT_EQ(refused, 3U);
}

TEST_F(PeersTest, a_daemon_that_falls_silent_under_a_call_ends_it) {
  handler_.is_silent = true;
  std::optional<Result<Reply>> out;
  peers_->submit("b", session_, {.body = ArchiveSession{}},
                 [&](Result<Reply> reply) { out = std::move(reply); });
  run_until([&] { return handler_.held.size() == 1; });
  EXPECT_FALSE(out);
  nodes_[1].is_silent = true;
  run_until([&] { return out.has_value(); });
  ASSERT_FALSE(*out);
  EXPECT_EQ(out->error().code(), Code::unavailable);
  EXPECT_NE(out->error().message().find("node b"), std::string::npos);
  handler_.held[0]->respond({.status = 200, .body = "{}"});
  io_->run_for_ms(20);  // late answers are ignored
}

TEST(NodeAddress, a_socket_of_this_host_or_a_url) {
  EXPECT_EQ(parse_node_address("unix:/a/b/c.sock")->unix_folder, "/a/b");
  EXPECT_EQ(parse_node_address("unix:/a/b/c.sock")->unix_name, "c.sock");
  EXPECT_TRUE(parse_node_address("https://b.example:7433")->tls);
  EXPECT_TRUE(parse_node_address("http://127.0.0.1:1"));
  for (const char* const wrong : {"", "unix:", "unix:/", "unix:c.sock", "unix:/c.sock", "unix:/a/",
                                  "ftp://x", "http://b.example:7433"}) {
    EXPECT_FALSE(parse_node_address(wrong)) << wrong;
  }
}

TEST(Executions, daemons_of_one_folder_have_one_home_and_others_another) {
  char name[] = "/tmp/perdure-peers-XXXXXX";
  const std::string root = mkdtemp(name);
  const auto open = [&](const std::string& data) { return DataFolder::open(root + data).value(); };
  const auto first = open("/1");
  const auto second = open("/2");
  const auto alone = open("/3");
  EXPECT_EQ(first->spool(), root + "/1/spool");
  ASSERT_TRUE(first->share_executions(root + "/e"));
  ASSERT_TRUE(second->share_executions(root + "/e"));
  EXPECT_EQ(first->spool(), root + "/e/spool");
  EXPECT_EQ(first->run(), root + "/1/run") << "its own socket stays its own";
  EXPECT_EQ(first->identity(), second->identity());
  EXPECT_NE(first->identity(), alone->identity());
  EXPECT_EQ(first->home(), second->home());
  EXPECT_GE(first->home()->size(), 32U);
  EXPECT_NE(first->home(), alone->home());
  struct stat status{};
  ASSERT_EQ(stat((root + "/e/home").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  ASSERT_TRUE(alone->token());
  EXPECT_EQ(first->share_executions(root + "/3").error().code(), Code::invalid_argument);
  chmod((root + "/e").c_str(), 0755);
  EXPECT_EQ(open("/4")->share_executions(root + "/e").error().code(), Code::denied);
  fs::remove_all(root);
}

}  // namespace
}  // namespace perdure
