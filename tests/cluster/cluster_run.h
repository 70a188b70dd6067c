// Several daemons on one database and one folder of executions, clients that move between them, and
// the checks of their results. Callers that break something name the daemon.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "crash_client.h"
#include "daemon_process.h"
#include "store/postgres/link/pg_link.h"

namespace perdure {

class ClusterRun {
 public:
  struct Setup {
    std::string store;  // a database
    std::size_t nodes = 3;
    int clients = 8;
    std::uint64_t seed = 1;
    std::int64_t lease_secs = 2;
    // whether they can reach each other's agents
    enum class Homes { one, apart } homes = Homes::one;
  };
  explicit ClusterRun(const Setup& setup);
  ~ClusterRun();
  ClusterRun(const ClusterRun&) = delete;
  ClusterRun& operator=(const ClusterRun&) = delete;

  std::size_t size() const { return nodes_.size(); }
  DaemonProcess& node(std::size_t number) { return *nodes_[number]; }
  static std::string name(std::size_t number) { return "n" + std::to_string(number + 1); }
  std::string executions() const { return folder_ + "/executions"; }
  const std::string& store() const { return store_; }
  Result<> start_all();
  // Whether the store of the first daemon, which runs, can be shared.
  bool is_shared();

  void start_clients();
  // Needs a running daemon.
  void stop_clients();

  // How many sessions this daemon owns. Reads the database: querying a daemon might make it check
  // ownership and take them over.
  std::size_t owned_by(std::size_t number);
  // Which sessions these are, for error messages.
  std::string leases_of(std::size_t number);

  // Call with the clients stopped and all daemons running: brings everything to rest and compares
  // it.
  std::vector<std::string> findings();
  // Stops everything: no process may be left, and the chains must be intact.
  std::vector<std::string> end();

  CrashClient::Counts counts() const;
  std::size_t sessions() const { return session_ids().size(); }
  std::uint64_t records() const { return records_; }

 private:
  PgRows ask(const PgStatement& statement, std::size_t number);
  std::vector<std::string> session_ids() const;
  void catch_up(std::vector<std::string>& found);
  void judge_all(std::vector<std::string>& found);
  void look_for_strangers(std::vector<std::string>& found);

  std::string store_;
  std::unique_ptr<PgLink> database_;
  std::string folder_;  // executions, and the agents' home
  std::vector<std::unique_ptr<DaemonProcess>> nodes_;
  std::vector<std::unique_ptr<CrashClient>> clients_;
  std::uint64_t records_ = 0;
};

}  // namespace perdure
