// The API as tests use it: blocking calls over one HttpIo, so one client per thread. Never retries:
// a test that retries uses its own key.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "net/client.h"

namespace perdure {

struct ApiCall {
  std::string method = "GET";
  std::string path;
  std::string body = {};
  std::string key = {};     // Idempotency-Key
  std::string accept = {};  // Accept
};

struct ApiReply {
  int status = 0;  // 0: no response
  std::string body;
  bool ok() const { return status >= 200 && status < 300; }
  // The value at a path of members, "session.id"; texts without quotes, others raw. Empty if
  // missing.
  std::string at(std::string_view path) const;
};

class ApiClient {
 public:
  explicit ApiClient(HttpEndpoint to) : to_(std::move(to)), io_(HttpIo::create()) {}

  ApiReply call(const ApiCall& call);
  ApiReply get(const std::string& path) { return call({.path = path}); }
  ApiReply post(const std::string& path, const std::string& body = "{}") {
    return call({.method = "POST", .path = path, .body = body});
  }

  // Shortcuts; they return an empty text on an error.
  struct NewSession {
    std::string agent = "test";
    std::string more = {};  // further members, such as R"("survive":false)"
    std::string key = {};
  };
  std::string create_session(const NewSession& wanted);
  struct Prompted {
    std::string session;
    std::string text;
    std::string key = {};
  };
  ApiReply prompt(const Prompted& prompt);
  // All records as served, in order.
  std::vector<std::string> records(const std::string& session);
  // How many records of this kind there are.
  std::size_t count(const std::string& session, std::string_view kind);

  // Opens a shell in the session and waits until the command has ended: `text` is its output.
  // Returns the error if no shell opens.
  struct ShellCommand {
    std::string session;
    std::string command;
  };
  ApiReply run_in_shell(const ShellCommand& wanted);

  // Later calls and streams go to another daemon.
  void turn_to(HttpEndpoint to) { to_ = std::move(to); }
  void use_token(std::string token) { token_ = std::move(token); }
  HttpIo& io() { return *io_; }
  const HttpEndpoint& endpoint() const { return to_; }
  std::int64_t answer_ms = 60'000;

 private:
  HttpEndpoint to_;
  std::unique_ptr<HttpIo> io_;
  std::string token_;
};

// A member of an object, as by ApiReply::at.
std::string json_at(std::string_view json, std::string_view path);
// The raw elements of an array.
std::vector<std::string> json_list(std::string_view json, std::string_view path);

}  // namespace perdure
