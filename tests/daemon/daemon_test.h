// A test with its own daemon and a client; the base of most tests of a whole daemon.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "api_client.h"
#include "daemon_process.h"

namespace perdure {

class DaemonTest : public ::testing::Test {
 protected:
  void begin(DaemonSetup setup = {}) {
    daemon_ = std::make_unique<DaemonProcess>(std::move(setup));
    const Result<> started = daemon_->start();
    ASSERT_TRUE(started) << started.error().message();
    client_ = std::make_unique<ApiClient>(daemon_->endpoint());
  }
  bool until_count(const std::string& session, std::string_view kind, std::size_t count) {
    return until([&] { return client_->count(session, kind) >= count; });
  }
  std::string field(const std::string& session, const std::string& path) {
    return client_->get("/api/sessions/" + session).at("session." + path);
  }

  std::unique_ptr<DaemonProcess> daemon_;
  std::unique_ptr<ApiClient> client_;
};

}  // namespace perdure
