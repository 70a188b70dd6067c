// A daemon is stopped, restarted or killed with everything in flight: streams, sockets, shells,
// webhooks that wait for a response or a retry, container calls, turns. It ends cleanly each time,
// and the next one serves. ./test also runs this under ASan and TSan.
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "daemon_test.h"
#include "listener.h"
#include "raw_http.h"

namespace perdure {
namespace {

constexpr std::size_t hook_calls_min = 2;  // one waits for its retry, one for its response

class Lifecycle : public DaemonTest {
 protected:
  void SetUp() override {
    hook_ = SilentListener::on_tcp(SilentListener::Does::alternate);
    daemon_ = std::make_unique<DaemonProcess>();
    const std::string engine = daemon_->folder() + "/engine.sock";
    engine_ = SilentListener::on_socket(engine, SilentListener::Does::hold);
    daemon_->setup().config =
        "[notify]\nwebhook_url = 'http://127.0.0.1:" + std::to_string(hook_->port()) +
        "/x'\ndebounce_ms = 1\n" + "[containers]\nsocket = '" + engine + "'\n";
    daemon_->write_config();
    start();
  }
  void TearDown() override {
    flying_.clear();
    client_.reset();
    if (!daemon_) return;
    if (daemon_->is_running()) EXPECT_EQ(daemon_->stop(), 0) << daemon_->output();
    EXPECT_EQ(daemon_->output().find("Sanitizer"), std::string::npos) << daemon_->output();
    EXPECT_EQ(daemon_->output().find("CHECK failed"), std::string::npos) << daemon_->output();
    EXPECT_FALSE(daemon_->had_two_agents());
  }
  void start() {
    const Result<> started = daemon_->start();
    ASSERT_TRUE(started) << started.error().message() << daemon_->output();
    client_ = std::make_unique<ApiClient>(daemon_->endpoint());
  }

  // A request whose connection stays open; the response is not read.
  void send(const std::string& method, const std::string& target, const std::string& more = "",
            const std::string& body = "") {
    flying_.push_back(RawConnection::to_socket(daemon_->home() + "/run/perdure.sock"));
    std::string text = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more;
    if (!body.empty()) {
      text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n";
    }
    flying_.back().send(text + "\r\n" + body);
  }
  // The same, but returns once the response has begun.
  void open(const std::string& target, const std::string& more, int status) {
    send("GET", target, more);
    EXPECT_EQ(flying_.back().read_answer().status, status) << target;
  }
  void open_socket(const std::string& target) {
    open(target,
         "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
         101);
  }

  // Every kind of work that a daemon can be doing; returns once all of it is under way.
  void put_in_flight() {
    const std::size_t hooks = hook_->calls();
    const std::size_t engine_calls = engine_->calls();
    const std::string talking = client_->create_session({});
    ASSERT_TRUE(client_->prompt({.session = talking, .text = "paced 100000 1"}).ok());
    for (int i = 0; i < 2; ++i) {
      const std::string asking = client_->create_session({});
      ASSERT_TRUE(client_->prompt({.session = asking, .text = "say 1; permission 1"}).ok());
      ASSERT_TRUE(until_count(asking, "run.waiting", 1));
    }
    const std::string path = "/api/sessions/" + talking;
    open(path + "/events", "Accept: text/event-stream\r\n", 200);
    open("/api/stream", "Accept: text/event-stream\r\n", 200);
    open_socket("/ws");
    open_socket("/acp");
    const ApiReply shell = client_->post(path + "/shells", R"({"command":["/usr/bin/yes"]})");
    ASSERT_TRUE(shell.ok()) << shell.body;
    open_socket(path + "/shell?shell=" + shell.at("shell") + "&offset=0");
    open_socket(path + "/shell");
    send("POST", "/api/sessions", "", R"({"agent":"test","runtime":"local_docker","image":"x"})");
    send("GET", path + "/fs/search?content=nothing");
    send("POST", path + "/prompt", "Content-Length: 99\r\n");  // its body is never sent
    ASSERT_TRUE(until_count(talking, "message.agent", 5));
    ASSERT_TRUE(until([&] { return hook_->calls() >= hooks + hook_calls_min; }));
    ASSERT_TRUE(until([&] { return engine_->calls() > engine_calls; }));
  }
  std::string boot() { return client_->get("/api/daemon").at("boot_id"); }

  std::unique_ptr<SilentListener> hook_;
  std::unique_ptr<SilentListener> engine_;
  std::vector<RawConnection> flying_;
};

TEST_F(Lifecycle, a_stop_with_everything_in_flight_is_clean) {
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    ASSERT_NO_FATAL_FAILURE(put_in_flight());
    ASSERT_EQ(daemon_->stop(), 0) << daemon_->output();
    flying_.clear();
    ASSERT_NO_FATAL_FAILURE(start());
  }
}

TEST_F(Lifecycle, D6_a_restart_with_everything_in_flight_comes_back) {
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    ASSERT_NO_FATAL_FAILURE(put_in_flight());
    const std::string before = boot();
    ASSERT_TRUE(until([&] { return client_->post("/api/restart").status == 202; }));
    ASSERT_TRUE(until([&] {
      const std::string now = boot();
      return !now.empty() && now != before;
    })) << daemon_->output();
    flying_.clear();
  }
}

TEST_F(Lifecycle, a_stop_while_a_restart_is_under_way_is_clean) {
  ASSERT_NO_FATAL_FAILURE(put_in_flight());
  // Within a second of its start a daemon rejects a restart.
  ASSERT_TRUE(until([&] { return client_->post("/api/restart").status == 202; }));
  daemon_->signal(SIGTERM);
  const int code = daemon_->until_exit();
  EXPECT_EQ(code, 0) << daemon_->output();
}

TEST_F(Lifecycle, a_kill_with_everything_in_flight_is_followed_by_a_life_that_serves) {
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    ASSERT_NO_FATAL_FAILURE(put_in_flight());
    daemon_->kill_daemon();
    flying_.clear();
    ASSERT_NO_FATAL_FAILURE(start());
  }
}

// The first signal requests an orderly end, the second an immediate one.
TEST_F(Lifecycle, a_second_signal_ends_it_at_once) {
  ASSERT_NO_FATAL_FAILURE(put_in_flight());
  daemon_->signal(SIGTERM);
  daemon_->signal(SIGINT);
  EXPECT_EQ(daemon_->until_exit(), 0) << daemon_->output();
}

}  // namespace
}  // namespace perdure
