// Notifications against a real HTTP server and real commands.
#include "daemon/notify/notify.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>

#include <gtest/gtest.h>

#include "base/bytes/hash.h"
#include "env/posix/loop/loop.h"
#include "env/posix/process/processes.h"
#include "env/posix/world.h"
#include "net/server/server.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

TEST(HookUrl, is_parsed_or_refused) {
  const HookUrl url = parse_hook_url("https://hooks.example.org/a/b?c=d#e").value();
  EXPECT_TRUE(url.endpoint.tls);
  EXPECT_EQ(url.endpoint.host, "hooks.example.org");
  EXPECT_EQ(url.endpoint.port, 443);
  EXPECT_EQ(url.target, "/a/b?c=d");
  EXPECT_EQ(parse_hook_url("http://[::1]:8080")->endpoint.host, "::1");
  EXPECT_EQ(parse_hook_url("http://[::1]:8080")->endpoint.port, 8080);
  EXPECT_EQ(parse_hook_url("http://host")->target, "/");
  for (const char* const bad : {"", "ftp://x/", "http://", "http://user@host/", "http://host:0/",
                                "http://host:99999/", "http://host:x/", "http://[::1"}) {
    EXPECT_FALSE(parse_hook_url(bad).has_value()) << bad;
  }
}

// Answers each request with the next status.
class Receiver final : public HttpHandler {
 public:
  HttpAdmission on_head(const HttpRequest&) override { return {}; }
  void on_request(HttpRequest request, std::shared_ptr<HttpExchange> exchange) override {
    requests.push_back(std::move(request));
    if (keep != nullptr) return void(*keep = std::move(exchange));
    const int status = statuses.empty() ? 200 : statuses.front();
    if (!statuses.empty()) statuses.erase(statuses.begin());
    exchange->respond({.status = status});
  }
  std::vector<HttpRequest> requests;
  std::vector<int> statuses;
  std::shared_ptr<HttpExchange>* keep = nullptr;  // if set: sends no response
};

class Notify : public ::testing::Test {
 protected:
  Notify() {
    io_->drive(loop_->descriptor(), [this] { loop_->pump(); });
    port_ = server_->listen_tcp({"127.0.0.1", 0}, std::nullopt).value();
    char name[] = "/tmp/perdure-notify-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~Notify() override { fs::remove_all(folder_); }

  NotifySetting hook() {
    return {.webhook_url = "http://127.0.0.1:" + std::to_string(port_) + "/hook",
            .webhook_secret = "s3cret",
            .debounce_ms = 1};
  }
  std::unique_ptr<Notifications> make(NotifySetting setting) {
    return Notifications::create({*clock_, *loop_, *processes_, *io_}, std::move(setting)).value();
  }
  Notification about(std::string event) {
    return {.event = std::move(event), .session = SessionId(Ulid{1, 2}), .title = "t"};
  }
  bool until(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!holds() && std::chrono::steady_clock::now() < deadline) io_->run_for_ms(10);
    return holds();
  }

  std::unique_ptr<EpollLoop> loop_ = EpollLoop::create().value();
  std::unique_ptr<HttpIo> io_ = HttpIo::create();
  std::unique_ptr<PosixClock> clock_ = PosixClock::create().value();
  std::unique_ptr<PosixProcesses> processes_ = PosixProcesses::create(*loop_);
  Receiver receiver_;
  std::unique_ptr<HttpServer> server_ = HttpServer::create(*io_, receiver_);
  std::uint16_t port_ = 0;
  fs::path folder_;
};

TEST_F(Notify, a_webhook_is_signed_and_names_itself) {
  const auto notifications = make(hook());
  notifications->tell(about("finished"));
  ASSERT_TRUE(until([&] { return notifications->delivered() == 1; }));
  const HttpRequest& request = receiver_.requests.at(0);
  const std::string seconds(request.header("X-Perdure-Timestamp").value());
  EXPECT_EQ(request.header("X-Perdure-Signature").value(),
            "sha256=" + hmac_sha256("s3cret", seconds + "." + request.body).hex());
  EXPECT_NE(request.body.find(R"("event":"finished")"), std::string::npos);
  EXPECT_EQ(request.header("X-Perdure-Delivery").value(), about("finished").id());
}

TEST_F(Notify, a_webhook_that_refuses_is_tried_again) {
  receiver_.statuses = {503};
  const auto notifications = make(hook());
  notifications->tell(about("failed"));
  ASSERT_TRUE(until([&] { return notifications->delivered() == 1; }));
  ASSERT_EQ(receiver_.requests.size(), 2U);
  EXPECT_EQ(receiver_.requests[0].body, receiver_.requests[1].body);
}

// The fixture's loop is destroyed after its io, as in the daemon: work left in the loop must not
// use the io.
TEST_F(Notify, an_end_while_a_delivery_waits_for_its_retry_leaves_nothing_behind) {
  receiver_.statuses = {503};
  auto notifications = make(hook());
  notifications->tell(about("failed"));
  ASSERT_TRUE(until([&] { return receiver_.requests.size() == 1 && server_->connections() == 0; }));
  notifications.reset();
}

TEST_F(Notify, an_end_while_a_delivery_waits_for_its_answer_leaves_nothing_behind) {
  std::shared_ptr<HttpExchange> kept;
  receiver_.keep = &kept;
  auto notifications = make(hook());
  notifications->tell(about("failed"));
  ASSERT_TRUE(until([&] { return kept != nullptr; }));
  notifications.reset();
  kept.reset();
}

TEST_F(Notify, N15_each_event_is_told_once_and_apart_from_the_others) {
  NotifySetting setting = hook();
  setting.debounce_ms = 50;
  const auto notifications = make(setting);
  for (int i = 0; i < 3; ++i) notifications->tell(about("needs_input"));
  notifications->tell(about("finished"));
  ASSERT_TRUE(until([&] { return notifications->delivered() == 2; }));
  EXPECT_EQ(receiver_.requests.size(), 2U);
}

TEST_F(Notify, only_the_events_asked_for_are_told) {
  NotifySetting setting = hook();
  setting.events = {"failed"};
  const auto notifications = make(setting);
  notifications->tell(about("finished"));
  notifications->tell(about("failed"));
  ASSERT_TRUE(until([&] { return notifications->delivered() == 1; }));
  EXPECT_NE(receiver_.requests.at(0).body.find(R"("event":"failed")"), std::string::npos);
}

TEST_F(Notify, a_command_gets_the_event_on_its_stdin) {
  const std::string out = folder_ / "out";
  const auto notifications =
      make({.command = {"/bin/sh", "-c", "cat > " + out + "; echo $PERDURE_EVENT >> " + out},
            .command_environment = {"PATH=/usr/bin:/bin"},
            .debounce_ms = 1});
  notifications->tell(about("stalled"));
  ASSERT_TRUE(until([&] { return notifications->delivered() == 1; }));
  std::ifstream file(out);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text, about("stalled").json() + "\nstalled\n");
}

TEST_F(Notify, what_an_agent_wrote_cannot_deceive_in_a_notification) {
  Notification asks = about("needs_input");
  asks.title = "p\u0430rser\u202E";
  asks.text = "rm -rf build\n&& x\u200By" + std::string(1000, 'z');
  asks.folder = "/srv/x";
  asks.permission = "perm_1";
  const std::string json = asks.json();
  EXPECT_NE(json.find("\"title\":\"p\u0430<U+0430>rser<U+202E>\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"text\":\"rm -rf build && x<U+200B>yzzz"), std::string::npos) << json;
  EXPECT_NE(json.find("zzz…\",\"agent\":\"\",\"folder\":\"/srv/x\""), std::string::npos) << json;
  EXPECT_NE(json.find(R"("perm_id":"perm_1","review":"perdure answer perm_1")"), std::string::npos);
  const std::string out = folder_ / "env";
  const auto notifications = make(
      {.command = {"/bin/sh", "-c", "printf '%s|%s' \"$PERDURE_TITLE\" \"$PERDURE_TEXT\" > " + out},
       .command_environment = {"PATH=/usr/bin:/bin"},
       .debounce_ms = 1});
  notifications->tell(asks);
  ASSERT_TRUE(until([&] { return notifications->delivered() == 1; }));
  std::ifstream file(out);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_TRUE(text.starts_with("p\u0430<U+0430>rser<U+202E>|rm -rf build && x<U+200B>y")) << text;
}

TEST_F(Notify, a_command_that_fails_is_counted_and_blocks_nothing) {
  const auto notifications = make({.command = {"/there/is/no/such/program"}, .debounce_ms = 1});
  notifications->tell(about("finished"));
  EXPECT_TRUE(until([&] { return notifications->given_up() == 1; }));
}

}  // namespace
}  // namespace perdure
