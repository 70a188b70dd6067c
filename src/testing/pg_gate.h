// A gate on TCP between a client and a PostgreSQL server, which cuts, holds or swallows what goes
// through it at the commit that it was armed for. Bytes pass otherwise as they are.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace perdure {

class PgGate {
 public:
  // What happens to the next group of appends that comes by.
  enum class Strike {
    none,
    before,   // cut, and nothing of it reaches the server
    middle,   // cut when half of it was sent
    after,    // the server does it, and its answer is cut off
    silence,  // the server does it; its answer does not come, and nothing is closed
    freeze,   // nothing of it reaches the server, and nothing is closed
    ghost,    // cut; what was sent stays on its way until release()
  };
  enum class Door { open, shut };  // shut: new connections are closed at once, and old ones are

  explicit PgGate(std::string server_socket);
  ~PgGate();
  PgGate(const PgGate&) = delete;
  PgGate& operator=(const PgGate&) = delete;

  int port() const { return port_; }
  void arm(Strike strike);
  // The door shuts with the strike.
  void arm_and_shut(Strike strike);
  bool has_struck() const { return has_struck_; }
  void set(Door door);
  // Sends what a ghost held on to the server; what it answers.
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
