// A process inside a session that sends requests: the hostile agent runs a script for each prompt.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "guarded_daemon.h"

namespace perdure {

struct InsideRequest {
  std::string method;
  std::string path;
  std::string body = {};
};

struct InsideAnswer {
  int status = 0;
  std::string body;
  std::string at(std::string_view path) const { return json_at(body, path); }
};

class InsideTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void start(const std::string& more_config = {}, DaemonSetup setup = {});
  ApiClient client() const { return daemon_->client(); }
  // A session of the hostile agent.
  std::string hostile_session(const std::string& more = {});
  // Runs a command line as that session's agent; returns its output.
  std::string run_inside(const std::string& session, const std::string& command);
  std::vector<InsideAnswer> ask_inside(const std::string& session,
                                       const std::vector<InsideRequest>& requests);
  InsideAnswer ask_one(const std::string& session, const InsideRequest& request);
  // Where tests put files that agents work on.
  std::string folder(const std::string& name) const;

  std::unique_ptr<GuardedDaemon> daemon_;
};

}  // namespace perdure
