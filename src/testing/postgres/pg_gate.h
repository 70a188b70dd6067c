// A TCP gate between a client and a PostgreSQL server. It cuts, holds or swallows the traffic at
// the commit that it was armed for, and otherwise passes bytes unchanged.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace perdure {

class PgGate {
 public:
  // The fate of the next group of appends that passes.
  enum class Strike {
    none,
    before,   // cut; nothing of it reaches the server
    middle,   // cut after half of it was sent
    after,    // the server executes it, but its answer is cut off
    silence,  // the server executes it; its answer never arrives, nothing is closed
    freeze,   // nothing of it reaches the server, and nothing is closed
    ghost,    // cut; the sent bytes stay in transit until release()
  };
  enum class Door { open, shut };  // shut: closes old and new connections at once

  explicit PgGate(std::string server_socket);
  ~PgGate();
  PgGate(const PgGate&) = delete;
  PgGate& operator=(const PgGate&) = delete;

  int port() const { return port_; }
  void arm(Strike strike);
  // The door shuts at the strike.
  void arm_and_shut(Strike strike);
  bool has_struck() const { return has_struck_; }
  void set(Door door);
  // Sends a ghost's held bytes to the server; returns its answer.
  std::string release();

 private:
  struct Pair {
    int client = -1;
    int server = -1;
    std::string held;
    std::string answer;
    bool cuts_answer = false;
    bool is_silent = false;
    bool is_frozen = false;
  };

  void run();
  void accept_one();
  void from_client(Pair& pair);
  void from_server(Pair& pair);
  void strike(Pair& pair, const std::string& bytes);
  static void close_pair(Pair& pair);

  const std::string server_socket_;
  int listener_ = -1;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<Pair> pairs_;
  Strike armed_ = Strike::none;
  bool shuts_ = false;
  Door door_ = Door::open;
  std::atomic<bool> has_struck_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace perdure
