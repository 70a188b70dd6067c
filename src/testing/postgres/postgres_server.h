// A test program's own PostgreSQL server: created with initdb in a temporary folder, reached
// through a socket in it, removed with the program. Each test gets its own database.
#pragma once

#include <memory>
#include <string>

#include <sys/types.h>

#include "base/result.h"

namespace perdure {

class PostgresServer {
 public:
  // Why no server can be started here; empty if one can. Cheap.
  static std::string missing();
  // The program's own server, started on first use.
  static PostgresServer& shared();

  // fsync takes time without a benefit here: a killed server keeps its writes.
  enum class Sync { off, on };
  static Result<std::unique_ptr<PostgresServer>> start(Sync sync);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // Creates an empty database; returns its place for libpq.
  std::string new_database();
  // The same database through another port of this host.
  static std::string through_port(const std::string& place, int port);
  // The Perdure tables with rows that contain this text, as text or as bytes, one per line.
  static std::string tables_with(const std::string& place, const std::string& text);
  // The unix socket on which the server listens.
  std::string socket_path() const { return folder_ + "/.s.PGSQL.5432"; }

  // Sends SIGKILL to the postmaster, like a machine crash. start_again() waits until the server has
  // recovered.
  void kill_hard();
  Result<> start_again();
  pid_t pid() const { return pid_; }

 private:
  explicit PostgresServer(std::string folder) : folder_(std::move(folder)) {}
  Result<> initialise();
  Result<> launch();
  Result<> wait_ready();

  std::string folder_;
  Sync sync_ = Sync::off;
  pid_t pid_ = -1;
  int databases_ = 0;
};

}  // namespace perdure
