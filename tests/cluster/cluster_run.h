// Some daemons on one database and one folder of executions, clients that go from one to another,
// and the judgement of what they leave. Whoever breaks something says which daemon.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "crash_client.h"
#include "daemon_process.h"
#include "store_postgres/pg_link.h"

namespace perdure {

class ClusterRun {
 public:
  struct Setup {
    std::string store;  // a database
    std::size_t nodes = 3;
    int clients = 8;
    std::uint64_t seed = 1;
    std::int64_t lease_secs = 2;
    enum class Homes { one, apart } homes = Homes::one;  // whether they reach each other's agents
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
  // Needs a daemon that serves.
  void stop_clients();

  // How many sessions are this daemon's. The database is asked: a daemon that were asked might look
  // whose they are, and take them over for that.
  std::size_t owned_by(std::size_t number);
  // Which they are, for whoever asks why.
  std::string leases_of(std::size_t number);

  // With the clients stopped and all daemons up: everything comes to rest and is compared.
  std::vector<std::string> findings();
  // Stops all: no process may be left, and the chains must be whole.
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
