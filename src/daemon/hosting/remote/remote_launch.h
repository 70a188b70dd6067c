// The start of an agentctl on another host, in the form of the program that would start it here:
// its input is a bootstrap, its output one line. It is repeated until there is an answer: an
// agentctl that already runs refuses the second start by its lock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/hosting/remote/remote_place.h"

namespace perdure {

class RemoteLaunch final : public Process {
 public:
  // Both must outlive it. Destroying it cancels the start, but may leave an agentctl.
  RemoteLaunch(RemotePlace& place, ProcessEvents& events);
  ~RemoteLaunch() override;

  std::int64_t pid() const override { return 0; }
  void write(std::string_view) override {}  // the place has the same bootstrap
  std::size_t unwritten_bytes() const override { return 0; }
  // Begins.
  void close_input() override;
  void pause_output() override {}
  void resume_output() override {}
  void signal(int) override {}
  void resize(TerminalSize) override {}

 private:
  void ask();
  void ask_later();
  void answered(Result<std::string> answer);
  void finish(const std::string& line);
  void give_up(Error error);

  RemotePlace& place_;
  ProcessEvents& events_;
  std::int64_t began_ms_ = 0;
  std::int64_t backoff_ms_ = 0;
  bool was_sent_ = false;
  Loop::TimerId timer_ = 0;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

}  // namespace perdure
