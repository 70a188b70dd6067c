// The daemon that the security tests attack: one a suite, over its TCP port and its unix socket,
// with short ways to send a request as some stranger, page or token would.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api_client.h"
#include "daemon_process.h"
#include "raw_http.h"

namespace perdure {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct RawRequest {
  std::string method = "GET";
  std::string target = "/api/sessions";
  Headers headers = {};  // Host, Content-Length and Connection: close come by themselves
  std::string body = {};
  std::optional<std::string> host = {};  // instead of the right one; an empty one: none
};

// What a page holds after a login.
struct PageLogin {
  std::string cookie;  // name=value
  std::string key;
};

class GuardedDaemon {
 public:
  explicit GuardedDaemon(DaemonSetup setup = {}) : process(std::move(setup)) {}
  // Starts it and learns its port. An empty text, or what was wrong.
  std::string start();

  std::string authority() const { return "127.0.0.1:" + std::to_string(port); }
  std::string origin() const { return "http://" + authority(); }
  std::string socket() const { return process.home() + "/run/perdure.sock"; }
  std::string text_of(const RawRequest& request) const;
  // Each from another loopback address, so that failures do not add up to a 429.
  RawAnswer tcp(const RawRequest& request) const;
  RawConnection connect() const;
  RawAnswer unix_socket(const RawRequest& request) const;
  RawAnswer with_token(const std::string& token, RawRequest request) const;
  // Over the unix socket, as the daemon's own user.
  std::string make_token(const std::string& body) const;
  std::string make_launch_token() const;
  PageLogin log_in() const;
  // What a well-behaved page sends with a change.
  Headers page_headers(const PageLogin& login) const;
  ApiClient client() const { return ApiClient(process.endpoint()); }

  DaemonProcess process;
  std::uint16_t port = 0;
};

// A suite with one daemon for all of its tests.
class SecuritySuite : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  static GuardedDaemon& daemon();
};

}  // namespace perdure
