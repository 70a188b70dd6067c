// A PostgreSQL server of a test program's own: made with initdb in a temporary folder, reached by a
// socket in it, gone with the program. Tests get a database each.
#pragma once

#include <memory>
#include <string>

#include <sys/types.h>

#include "base/result.h"

namespace perdure {

class PostgresServer {
 public:
  // Why no server can be started here; empty when one can. Cheap.
  static std::string missing();
  // The program's own server, started by the first who asks.
  static PostgresServer& shared();

  // fsync costs time and shows nothing here: a killed server keeps what it wrote.
  enum class Sync { off, on };
  static Result<std::unique_ptr<PostgresServer>> start(Sync sync);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // A new, empty database, as a place for libpq.
  std::string new_database();
  // The same database by way of another port on this host.
  static std::string through_port(const std::string& place, int port);
  // The tables of Perdure with rows that hold this text, as text or as bytes, one per line.
  static std::string tables_with(const std::string& place, const std::string& text);
  // Where the server listens: a unix socket.
  std::string socket_path() const { return folder_ + "/.s.PGSQL.5432"; }

  // SIGKILL to the postmaster, as a crash of the machine would end it. start_again() waits until
  // the server has recovered.
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
