// A daemon with several clients at work, and all checks of their results: used by tests that break
// something during the run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "crash_client.h"
#include "daemon_process.h"

namespace perdure {

class CrashRun {
 public:
  struct Setup {
    int clients = 8;
    std::uint64_t seed = 1;
    std::size_t sessions_max = 2;  // of each client
    std::string store = "sqlite";  // the daemon's engine, or a database
  };
  explicit CrashRun(const Setup& setup);

  DaemonProcess& daemon() { return daemon_; }
  void start_clients();
  // Needs a running daemon: unanswered requests are completed first.
  void stop_clients();

  // Call with the clients stopped: brings all sessions to rest, lets the clients catch up, and
  // compares everything. Returns one sentence per error.
  std::vector<std::string> findings();
  // Stops the sessions and the daemon: no process may be left, and the store's file must be intact.
  std::vector<std::string> end();

  CrashClient::Counts counts() const;
  std::size_t sessions() const { return session_ids().size(); }
  std::uint64_t records() const { return records_; }  // of the last findings()

 private:
  std::vector<std::string> session_ids() const;
  void judge_all(std::vector<std::string>& found);

  std::string store_;
  DaemonProcess daemon_;
  std::vector<std::unique_ptr<CrashClient>> clients_;
  std::uint64_t records_ = 0;
};

}  // namespace perdure
