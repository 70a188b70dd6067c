// See guarded_daemon.h. Nothing here waits for a fixed time, only for conditions.
#include "guarded_daemon.h"

#include <charconv>
#include <memory>

namespace perdure {
namespace {

std::unique_ptr<GuardedDaemon> shared_daemon;

std::uint16_t port_in(const std::string& output) {
  constexpr std::string_view before = "http://127.0.0.1:";
  const std::size_t at = output.rfind(before);
  std::uint16_t port = 0;
  if (at == std::string::npos) return port;
  std::from_chars(output.data() + at + before.size(), output.data() + output.size(), port);
  return port;
}

}  // namespace

std::string GuardedDaemon::start() {
  if (const Result<> started = process.start(); !started) return started.error().message();
  until([this] { return (port = port_in(process.output())) != 0; });
  return port == 0 ? "it does not say its port: " + process.output() : "";
}

std::string GuardedDaemon::text_of(const RawRequest& request) const {
  std::string text = request.method + " " + request.target + " HTTP/1.1\r\n";
  const std::string host = request.host.value_or(authority());
  if (!host.empty()) text += "Host: " + host + "\r\n";
  bool is_upgrade = false;
  for (const auto& [name, value] : request.headers) {
    text += name;
    text += ": " + value + "\r\n";
    is_upgrade = is_upgrade || name == "Upgrade";
  }
  if (!is_upgrade) text += "Connection: close\r\n";
  if (!request.body.empty() || request.method != "GET") {
    text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  return text + "\r\n" + request.body;
}

RawConnection GuardedDaemon::connect() const {
  static unsigned count = 0;
  return RawConnection::to_port(port, static_cast<std::uint8_t>(2 + count++ % 250));
}

RawAnswer GuardedDaemon::tcp(const RawRequest& request) const {
  RawConnection connection = connect();
  connection.send(text_of(request));
  return connection.read_answer();
}

RawAnswer GuardedDaemon::unix_socket(const RawRequest& request) const {
  RawConnection connection = RawConnection::to_socket(socket());
  connection.send(text_of(request));
  return connection.read_answer();
}

RawAnswer GuardedDaemon::with_token(const std::string& token, RawRequest request) const {
  request.headers.emplace_back("Authorization", "Bearer " + token);
  if (!request.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  return tcp(request);
}

std::string GuardedDaemon::make_token(const std::string& body) const {
  return client().post("/api/tokens", body).at("text");
}

std::string GuardedDaemon::make_launch_token() const {
  return client().post("/api/launch").at("token");
}

Headers GuardedDaemon::page_headers(const PageLogin& login) const {
  static int count = 0;
  Headers headers = {{"Origin", origin()},
                     {"Sec-Fetch-Site", "same-origin"},
                     {"X-Perdure-Client", "1"},
                     {"Content-Type", "application/json"},
                     {"Idempotency-Key", "page-" + std::to_string(++count)}};
  if (!login.cookie.empty()) headers.emplace_back("Cookie", login.cookie);
  if (!login.key.empty()) headers.emplace_back("X-Perdure-Key", login.key);
  return headers;
}

PageLogin GuardedDaemon::log_in() const {
  const RawAnswer answer = tcp({.method = "POST",
                                .target = "/api/login",
                                .headers = page_headers({}),
                                .body = R"({"token":")" + make_launch_token() + R"("})"});
  const std::string cookie = answer.header("set-cookie");
  return {.cookie = cookie.substr(0, cookie.find(';')), .key = json_at(answer.body, "key")};
}

void SecuritySuite::SetUpTestSuite() {
  shared_daemon = std::make_unique<GuardedDaemon>();
  ASSERT_EQ(shared_daemon->start(), "");
}

void SecuritySuite::TearDownTestSuite() { shared_daemon.reset(); }

GuardedDaemon& SecuritySuite::daemon() { return *shared_daemon; }

}  // namespace perdure
