// The daemon that the security tests attack: one per suite, over its TCP port and its unix socket,
// with helpers that send requests as a stranger, a page or a token.
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
  Headers headers = {};  // Host, Content-Length and Connection: close are added automatically
  std::string body = {};
  std::optional<std::string> host = {};  // instead of the right one; empty: no Host header
};

// A page's credentials after a login.
struct PageLogin {
  std::string cookie;  // name=value
  std::string key;
};

class GuardedDaemon {
 public:
  explicit GuardedDaemon(DaemonSetup setup = {}) : process(std::move(setup)) {}
  // Starts it and determines its port. Returns an empty text, or the error.
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
  // The headers of a well-behaved page's change.
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
